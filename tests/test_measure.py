"""The request that measures one case, on either kind of device, and what comes back of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from judged_kernels import axpy, full_plan
from pretend_gpu import LATENCY as ON_GPU
from pretend_gpu import PretendedHarness, pretend

from pytest_cudaopt import contents
from pytest_cudaopt import measure as measure_module
from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget, Latency, LatencyKind
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gpu_state import GpuState
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import Measured, TimedOutputs, measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Measure, Request

LAUNCH = LaunchConfiguration((16, 1, 1), (64, 1, 1))
LATENCY = Latency(LatencyKind.MODELLED, 2.0, bound="dram")


def parts(kernel: Kernel, sim: Device) -> tuple[PreparedCase, Compiled]:
    compiled = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(compiled, Compiled)
    return prepare(kernel, kernel.cases[2], sim), compiled


def modelled(
    folder: Path, sim: Device, step: StepAnswer | None, fault: Finding | None = None
) -> tuple[Measured | Finding, Request]:
    """Measure with a harness that answers `step` or `fault`; return the result and the request."""
    asked: list[Request] = []

    def ask(request: Request) -> Answer:
        asked.append(request)
        status = AnswerStatus.OK if fault is None else AnswerStatus.FAULT
        return Answer(request.id, request.nonce, status, "sim", (step,) if step else (), fault)

    kernel = axpy(folder)
    prepared, compiled = parts(kernel, sim)
    harness: Any = SimpleNamespace(ask=ask)
    device = replace(sim, harness=harness, _lock=-1)
    plan = full_plan(kernel, warmup=3, samples=7, relative_error=0.01)
    return measure(prepared, compiled, LAUNCH, device, plan), asked[0]


def timed(kernel: Kernel, sim: Device, **behaviour: Any) -> tuple[Measured | Finding, PretendedHarness]:
    gpu, harness = pretend(sim, **behaviour)
    prepared, compiled = parts(kernel, sim)
    return measure(prepared, compiled, LAUNCH, gpu, full_plan(kernel, warmup=3, samples=7)), harness


def outputs_of(measured: Measured | Finding) -> TimedOutputs:
    assert isinstance(measured, Measured)
    assert measured.timed is not None
    return measured.timed


def test_the_request_loads_and_measures_as_often_as_the_plan_says(tmp_path: Path, sim: Device) -> None:
    measured, request = modelled(tmp_path, sim, StepAnswer("measure", latency=LATENCY))
    assert measured == Measured(LATENCY)
    assert [step.DO for step in request.steps] == ["load", "measure"]
    step: Any = request.steps[1]
    assert (step.warmup, step.samples, step.relative_error, step.mode) == (3, 7, 0.01, "auto")
    assert step.grid == (16, 1, 1)
    assert (step.contents, step.held_out, step.capture) == ((), None, ())
    assert len(request.buffers) == 2


def test_a_fault_is_handed_on(tmp_path: Path, sim: Device) -> None:
    fault = Finding(FindingKind.TRAP, "a trap")
    assert modelled(tmp_path, sim, None, fault)[0] is fault


@pytest.mark.parametrize("step", [None, StepAnswer("measure")])
def test_an_answer_without_a_latency_is_refused(step: StepAnswer | None, tmp_path: Path, sim: Device) -> None:
    with pytest.raises(HarnessError):
        modelled(tmp_path, sim, step)


def test_a_gpu_times_three_contents_and_captures_what_was_held_out(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    measured, harness = timed(kernel, sim)
    drawn = prepare(kernel, kernel.cases[2], sim).contents
    (step,) = harness.steps_of(Measure)
    assert step.contents == ({"x": str(drawn.other["x"])},)
    assert step.held_out == {"x": str(drawn.held_out["x"])}
    (capture,) = step.capture
    assert capture.buffer == "y"
    assert harness.asked[0].nonce in capture.file
    assert not Path(capture.file).exists()
    assert [buffer.guard_bytes for buffer in harness.asked[0].buffers] == [0, 0]
    assert isinstance(measured, Measured)
    assert measured.latency == ON_GPU


def test_the_captured_outputs_are_those_of_the_held_out_inputs(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    found = outputs_of(timed(kernel, sim)[0])
    assert found.unseen
    np.testing.assert_allclose(found.outputs["y"], found.expected.arrays["y"], rtol=1e-5)


def test_remembered_outputs_are_not_those_of_the_held_out_inputs(tmp_path: Path, sim: Device) -> None:
    found = outputs_of(timed(axpy(tmp_path), sim, remembers=True)[0])
    assert not np.allclose(found.outputs["y"], found.expected.arrays["y"], rtol=1e-5)


def test_where_nothing_can_be_held_out_a_launch_is_captured_all_the_same(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "HELD_OUT_BYTES", 0)
    kernel = axpy(tmp_path)
    measured, harness = timed(kernel, sim)
    (step,) = harness.steps_of(Measure)
    assert (step.contents, step.held_out, len(step.capture)) == ((), {}, 1)
    found = outputs_of(measured)
    assert not found.unseen
    np.testing.assert_allclose(found.outputs["y"], found.expected.arrays["y"], rtol=1e-5)
    assert isinstance(measured, Measured)
    assert measured.latency.notes == (
        "a note of the harness",
        "timed on one set of inputs: another would take 0.0 GB",
    )


def test_doubts_about_the_gpu_become_notes(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def made_up(*evidence: Any) -> tuple[str, ...]:
        asked.append(evidence)
        return ("too hot",)

    monkeypatch.setattr(Device, "gpu_state", lambda self: GpuState(temperature_c=90))
    monkeypatch.setattr(measure_module, "doubts", made_up)
    measured, _ = timed(axpy(tmp_path), sim)
    assert asked == [(GpuState(temperature_c=90), (1980.0,), 1980.0)]
    assert isinstance(measured, Measured)
    assert measured.latency.notes == ("a note of the harness", "too hot")


def test_a_fault_while_timing_is_handed_on(tmp_path: Path, sim: Device) -> None:
    found, harness = timed(axpy(tmp_path, ("i < n", "i <= n")), sim)
    assert isinstance(found, Finding)
    assert found.kind is FindingKind.ILLEGAL_ADDRESS
    assert len(harness.asked) == 1


def test_a_latency_of_which_no_launch_was_captured_is_refused(tmp_path: Path, sim: Device) -> None:
    def forget(answer: Answer) -> Answer:
        latency = replace(ON_GPU, captured=None)
        return replace(answer, steps=(StepAnswer("load"), StepAnswer("measure", latency=latency)))

    with pytest.raises(HarnessError, match="expected the outputs of one timed launch, got none captured"):
        timed(axpy(tmp_path), sim, change=forget)


def test_a_captured_output_that_does_not_come_is_the_harnesses_fault(tmp_path: Path, sim: Device) -> None:
    def lose(answer: Answer) -> Answer:
        for file in sim.scratch.glob(f"{answer.nonce}*"):
            file.unlink()
        return answer

    with pytest.raises(HarnessError, match="output 'y': expected a file"):
        timed(axpy(tmp_path), sim, change=lose)
