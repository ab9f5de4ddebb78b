"""The gate on silicon: a kernel that is slower on purpose, and one that is only another file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timed_kernels import Arm, arm, chain

from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.gate_measured import gate_measured
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds
from pytest_cudaopt.prepare import prepare

pytestmark = pytest.mark.gpu

STEPS = 1000


def gated(earlier: Arm, current: Arm, device: Device) -> Gated:
    prepared = prepare(chain, chain.measured_cases[0], device)
    found = gate_measured(prepared, earlier, current, device, Budget(), Thresholds(), "baseline")
    assert isinstance(found, Gated), found
    return found


def chain_of(steps: int, device: Device) -> Arm:
    return arm(chain, prepare(chain, chain.measured_cases[0], device), device, STEPS=steps)


@pytest.mark.parametrize(
    ("earlier", "current", "verdict"),
    [(1000, 1300, GateVerdict.SLOWER), (1300, 1000, GateVerdict.FASTER)],
)
def test_more_steps_are_slower_and_fewer_are_faster(
    earlier: int, current: int, verdict: GateVerdict, cuda: Device
) -> None:
    found = gated(chain_of(earlier, cuda), chain_of(current, cuda), cuda)
    assert found.verdict is verdict, found.reason
    assert found.epochs >= 2


def test_the_same_kernel_in_another_module_is_measured_and_does_not_fail(cuda: Device) -> None:
    first, launch = chain_of(STEPS, cuda)
    start = chain.start()
    beside = replace(start, source=f'{start.source}\nextern "C" __global__ void beside() {{}}\n')
    second = compile_candidate(chain, beside, cuda, Budget())
    assert isinstance(second, Compiled), second
    found = gated((first, launch), (second, launch), cuda)
    assert not found.fails, found.reason
    assert found.blocks >= 10


def test_the_same_kernel_written_otherwise_is_not_measured(cuda: Device) -> None:
    first, launch = chain_of(STEPS, cuda)
    start = chain.start()
    other = replace(start, file="moved.cu", source=start.source.replace("float value", "float\n  value"))
    second = compile_candidate(chain, other, cuda, Budget())
    assert isinstance(second, Compiled), second
    found = gated((first, launch), (second, launch), cuda)
    assert (found.verdict, found.blocks) == (GateVerdict.SAME, 0)
