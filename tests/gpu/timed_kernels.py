"""Kernels for tests of timing: one whose time is known to grow, and cheats that only timing would miss."""

from __future__ import annotations

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.paired import PairedEstimate, estimate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure

Arm = tuple[Compiled, LaunchConfiguration]


def doubles(source: str, *cases: Case) -> Kernel:
    """Declare what is in `kernels/SOURCE.cu` as a kernel that doubles."""

    @kernel(f"kernels/{source}.cu", cases=cases or (case(n=4096, measure=True),))
    def doubles(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return doubles


@kernel("kernels/chain.cu", cases=[case(n=1 << 12), case(n=1 << 16, measure=True)])
def chain(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    # x/2 + 1 has its fixed point at 2, where float32 arrives after fewer steps than any test takes.
    y[...] = 2


def arm(kernel: Kernel, prepared: PreparedCase, device: Device, **tunables: int) -> Arm:
    """Compile the kernel at `tunables` and return what `interleave` times."""
    candidate = kernel.start()
    candidate = candidate.with_tunables({**candidate.chosen, **tunables})
    compiled = compile_candidate(kernel, candidate, device, Budget())
    assert not isinstance(compiled, CompileFailure), compiled
    launch = configure(candidate, prepared, compiled, device)
    assert not isinstance(launch, Finding), launch
    return compiled, launch


def compare_steps(first: int, second: int, device: Device, blocks: int = 20) -> PairedEstimate:
    """Time `chain` with `first` and with `second` steps, interleaved; above 1 the second is slower."""
    prepared = prepare(chain, chain.measured_cases[0], device)
    arms = [arm(chain, prepared, device, STEPS=steps) for steps in (first, second)]
    timed = interleave(prepared, arms, device, Budget(), blocks=blocks)
    assert isinstance(timed, Interleaved), timed
    return estimate(timed.block_samples_ns(0), timed.block_samples_ns(1))
