"""The request that times arms side by side: what they share, what is their own, what comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from judged_kernels import axpy
from pretend_gpu import pretend

from pytest_cudaopt import Constant, In, InOut, Out, Scratch, Struct, case, f32, i32, kernel
from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.evaluation import Budget, Sampling, SamplingMode
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.protocol import (
    BufferArgument,
    BufferMember,
    Interleave,
    Request,
    ScalarArgument,
    ScalarMember,
    StructArgument,
    SymbolWrite,
)

LAUNCHES = (LaunchConfiguration((2, 1, 1), (64, 1, 1)), LaunchConfiguration((1, 1, 1), (128, 1, 1)))
TIMED = StepAnswer(
    "interleave",
    mode=SamplingMode.BATCH,
    arms=(Sampling(2.0, (1.0, 2.0, 3.0, 4.0)), Sampling(3.0, (5.0, 6.0, 7.0, 8.0))),
    launches=200,
    sm_clock_mhz=(1980.0, 1975.0),
)


def timed(
    kernel: Kernel, sim: Device, step: StepAnswer = TIMED, fault: Finding | None = None
) -> tuple[Interleaved | Finding, Request]:
    """Interleave two launches with a harness that answers `step` or `fault`."""
    asked: list[Request] = []

    def ask(request: Request) -> Answer:
        asked.append(request)
        status = AnswerStatus.OK if fault is None else AnswerStatus.FAULT
        return Answer(request.id, request.nonce, status, "cuda:0", (step,), fault)

    compiled = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(compiled, Compiled)
    gpu, _ = pretend(sim)
    harness: Any = SimpleNamespace(ask=ask)
    gpu = replace(gpu, harness=harness, _lock=-1)
    arms = [(compiled, launch) for launch in LAUNCHES]
    prepared = prepare(kernel, kernel.cases[0], sim)
    return interleave(prepared, arms, gpu, Budget(timeout_s=9), blocks=2, launches=2), asked[0]


def test_arms_share_inputs_and_own_what_they_write(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    _, request = timed(kernel, sim)
    assert [buffer.name for buffer in request.buffers] == ["x", "y@0", "y@1"]
    assert [buffer.guard_bytes for buffer in request.buffers] == [0, 0, 0]
    assert [module.name for module in request.modules] == ["arm0", "arm1"]
    assert [step.DO for step in request.steps] == ["load", "load", "interleave"]
    step = request.steps[-1]
    assert isinstance(step, Interleave)
    assert (step.blocks, step.launches, request.timeout_s) == (2, 2, 9)
    for number, arm in enumerate(step.arms):
        assert (arm.module, arm.entry) == (f"arm{number}", "axpy")
        assert (arm.grid, arm.block) == (LAUNCHES[number].grid, LAUNCHES[number].block)
        assert arm.arguments == (
            BufferArgument("x"),
            BufferArgument(f"y@{number}"),
            ScalarArgument("i32", "64000000"),
            ScalarArgument("f32", "0000003f"),
        )


def test_inouts_and_scratch_are_each_arms_own_with_the_same_contents(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "grow.cu").write_text(
        "// @launch grid=(1) block=(32)\n"
        'extern "C" __global__ void grow(float* total, float* tmp, float* y, int n) {}\n'
    )

    @kernel(str(tmp_path / "grow.cu"), cases=[case(n=4)])
    def grow(total=InOut(f32, "n"), tmp=Scratch(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = total

    _, request = timed(grow, sim)
    assert [b.name for b in request.buffers] == ["total@0", "total@1", "tmp@0", "tmp@1", "y@0", "y@1"]
    first, second = request.buffers[:2]
    assert first.initial_file is not None
    assert first.initial_file == second.initial_file


def test_members_of_structs_are_each_arms_own_and_variables_are_written_for_each(
    tmp_path: Path, sim: Device
) -> None:
    (tmp_path / "weigh.cu").write_text(
        "// @launch grid=(1) block=(32)\n"
        "struct Params { const float* x; float* y; int n; };\n__constant__ float w;\n"
        'extern "C" __global__ void weigh(Params p) {}\n'
    )

    @kernel(str(tmp_path / "weigh.cu"), cases=[case(n=4)])
    def weigh(p=Struct("Params", x=In(f32, "n"), y=Out(f32, "n"), n=i32), w=Constant(f32, 1), *, x, y, n):
        y[...] = w * x

    _, request = timed(weigh, sim)
    assert [buffer.name for buffer in request.buffers] == ["x", "y@0", "y@1", "w"]
    step = request.steps[-1]
    assert isinstance(step, Interleave)
    for number, arm in enumerate(step.arms):
        members = (BufferMember("x", 0), BufferMember(f"y@{number}", 8), ScalarMember("i32", "04000000", 16))
        assert arm.arguments == (StructArgument(members, 24),)
        assert arm.symbols == (SymbolWrite("w", "w"),)


def test_samples_come_back_by_arm_and_block(tmp_path: Path, sim: Device) -> None:
    found, _ = timed(axpy(tmp_path), sim)
    assert isinstance(found, Interleaved)
    assert (found.mode, found.blocks, found.sm_clock_mhz) == (SamplingMode.BATCH, 2, (1980.0, 1975.0))
    assert [arm.launches for arm in found.arms] == [200, 200]
    assert found.block_samples_ns(0) == ((1.0, 2.0), (3.0, 4.0))
    assert found.block_samples_ns(1) == ((5.0, 6.0), (7.0, 8.0))


def test_a_fault_of_an_arm_is_handed_on(tmp_path: Path, sim: Device) -> None:
    fault = Finding(FindingKind.TRAP, "a trap")
    assert timed(axpy(tmp_path), sim, fault=fault)[0] is fault


@pytest.mark.parametrize(
    "step",
    [
        replace(TIMED, arms=TIMED.arms[:1]),
        replace(TIMED, arms=(TIMED.arms[0], Sampling(3.0, (5.0,)))),
        replace(TIMED, mode=None),
    ],
    ids=["an-arm-missing", "samples-missing", "no-mode"],
)
def test_an_answer_that_is_not_of_these_arms_is_refused(
    step: StepAnswer, tmp_path: Path, sim: Device
) -> None:
    with pytest.raises(HarnessError, match="expected a mode and 4 samples of each of 2 arms"):
        timed(axpy(tmp_path), sim, step)


def test_modelled_times_are_not_interleaved(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    with pytest.raises(EnvironmentFault, match="expected a GPU"):
        interleave(prepare(kernel, kernel.cases[0], sim), [], sim, Budget())
