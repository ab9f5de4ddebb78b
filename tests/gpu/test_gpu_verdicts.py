"""The same kernels on both devices: silicon and the simulator come to the same verdict."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fault_kernels import PATIENT
from silicon_kernels import Wrong, right_kernels, wrong_kernels

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Evaluation, LatencyKind, Plan, Stage
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.pipeline import evaluate

EXAMPLES = Path(__file__).parents[2] / "example_kernels"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.cu"))


def check(kernel: Kernel, device: Device, *more: Stage) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, *more), kernel.cases, budget=PATIENT)
    return evaluate(kernel, kernel.start(), plan, device)


def unmeasured(kernel: Kernel, device: Device) -> Evaluation:
    """Check the cases that are small enough to be simulated on one thread."""
    cases = tuple(case for case in kernel.cases if not case.measure)
    plan = Plan((Stage.COMPILE, Stage.CHECK), cases, budget=PATIENT)
    return evaluate(kernel, kernel.start(), plan, device)


def kind(evaluation: Evaluation) -> object:
    return None if evaluation.finding is None else evaluation.finding.kind


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_right_on_silicon_and_measured(name: str, cuda: Device) -> None:
    kernel = load_kernel(f"{EXAMPLES / f'test_{name}.py'}::{name}")
    evaluation = check(kernel, cuda, Stage.MEASURE)
    assert evaluation.accepted, evaluation.reason
    assert evaluation.device == cuda.description
    assert len(evaluation.latencies) == len(kernel.measured_cases)
    assert {latency.kind for latency in evaluation.latencies.values()} == {LatencyKind.MEASURED}


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", right_kernels(), ids=lambda kernel: kernel.name)
def test_a_right_kernel_is_right_on_silicon_and_measured(kernel: Kernel, cuda: Device) -> None:
    evaluation = check(kernel, cuda, Stage.MEASURE)
    assert evaluation.accepted, evaluation.reason
    assert len(evaluation.latencies) == 1


@pytest.mark.parametrize("kernel", right_kernels(), ids=lambda kernel: kernel.name)
def test_a_right_kernel_is_right_on_the_simulator(kernel: Kernel, sim: Device) -> None:
    evaluation = unmeasured(kernel, sim)
    assert evaluation.accepted, evaluation.reason


@pytest.mark.gpu
@pytest.mark.parametrize("wrong", wrong_kernels(), ids=lambda wrong: wrong.name)
def test_a_bug_is_found_on_silicon(wrong: Wrong, cuda: Device) -> None:
    evaluation = check(wrong.kernel, cuda)
    assert (evaluation.status, kind(evaluation)) == (wrong.status, wrong.kind), evaluation.reason


@pytest.mark.parametrize("wrong", wrong_kernels(), ids=lambda wrong: wrong.name)
def test_a_bug_is_found_on_the_simulator(wrong: Wrong, sim: Device) -> None:
    evaluation = check(wrong.kernel, sim)
    assert (evaluation.status, kind(evaluation)) == (wrong.status, wrong.kind), evaluation.reason


@pytest.mark.gpu
def test_auto_takes_the_first_gpu() -> None:
    # A worker of pytest-xdist would take the one of its number.
    environ = {name: text for name, text in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
    with open_device("auto", environ=environ) as device:
        assert device.selector == "cuda:0"
        assert "cuda:0" in device.note
        assert device.limits.architecture.startswith("sm_")


@pytest.mark.gpu
@pytest.mark.parametrize("selector", ["sim", "cuda:0"])
def test_pytest_gives_the_examples_the_same_verdicts_on_both_devices(
    selector: str, pytester: pytest.Pytester
) -> None:
    plain = ("-p", "no:cacheprovider", f"--rootdir={EXAMPLES}")
    result = pytester.runpytest_subprocess(*plain, f"--cudaopt-device={selector}", str(EXAMPLES))
    outcomes = result.parseoutcomes()
    assert result.ret == 0
    assert set(outcomes) <= {"passed", "warnings", "warning"}, result.stdout.str()
