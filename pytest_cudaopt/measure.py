"""Measure a compiled candidate at one case, for its latency: measured on a GPU, modelled on `sim`.

On a GPU timed launches get inputs the checked launch never saw, and the outputs of one of them come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.contents import Contents, remove
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Latency, Plan
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gpu_state import doubts
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.outputs import output_files, read_outputs
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Capture, Load, Measure, Request
from pytest_cudaopt.stray import stray_write

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TimedOutputs:
    """What one timed launch, chosen at random, wrote, and what it should have; read-only.

    `unseen` says that its inputs were those of no launch before it; `inputs` is the case that draws them,
    where one does.
    """

    outputs: Mapping[str, NDArray[Any]]
    expected: Expectation
    unseen: bool
    inputs: Case | None = None


@dataclass(frozen=True)
class Measured:
    """A latency, and outputs to hold it to; None of `sim`, which times nothing."""

    latency: Latency
    timed: TimedOutputs | None = None


def measure(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    plan: Plan,
    *,
    by_line: bool = False,
) -> Measured | Finding:
    """Return the latency of one non-empty launch, or the fault that kept it from being measured.

    With `by_line` a modelled one has the counters of each source line. Raises ReferenceFault on a GPU, where
    a timed launch is held against the reference.
    """
    if device.is_gpu:
        return _measure_on_gpu(prepared, compiled, launch, device, plan)
    request = base_request(prepared, compiled, "measure", device, plan.budget)
    step = replace(_step(prepared, compiled, launch, plan), by_line=by_line)
    answer = device.ask(replace(request, steps=(Load(compiled.module.name), step)))
    return answer.fault or Measured(_latency(answer))


def _measure_on_gpu(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, device: Device, plan: Plan
) -> Measured | Finding:
    # Before the clock runs: drawing and the reference take long.
    contents = prepared.contents
    expected = prepared.expected if contents.expected is None else contents.expected
    # Guards are for checking; they would decide where buffers begin.
    request = base_request(prepared, compiled, "measure", device, plan.budget, guard_bytes=0)
    files = output_files(prepared, device, request)
    step = _with_contents(_step(prepared, compiled, launch, plan), contents, files)
    request = replace(request, steps=(Load(compiled.module.name), step))
    try:
        answer, notes = _ask_watched(request, device)
        if answer.fault is not None:
            return answer.fault
        latency = _captured(_latency(answer))
        if (stray := stray_write(prepared, files)) is not None:
            return stray
        outputs = read_outputs(files, prepared)
    finally:
        remove(files.values())
    notes = (*latency.notes, *notes, *([contents.note] if contents.note else []))
    unseen = contents.expected is not None
    timed = TimedOutputs(outputs, expected, unseen, contents.held_out_case)
    return Measured(replace(latency, notes=notes), timed)


def _step(prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, plan: Plan) -> Measure:
    step = launch_step(prepared, compiled, launch)
    return Measure.of(step, warmup=plan.warmup, samples=plan.samples, relative_error=plan.relative_error)


def _with_contents(step: Measure, contents: Contents, files: Mapping[str, Path]) -> Measure:
    return replace(
        step,
        contents=(_named(contents.other),) if contents.other else (),
        # Also where nothing is held out: one timed launch is captured in any case.
        held_out=_named(contents.held_out),
        capture=tuple(Capture(name, str(file)) for name, file in files.items()),
    )


def _named(files: Mapping[str, Path]) -> dict[str, str]:
    return {buffer: str(file) for buffer, file in files.items()}


def _ask_watched(request: Request, device: Device) -> tuple[Answer, tuple[str, ...]]:
    """Ask, and say what speaks against the numbers that come back."""
    answer = device.ask(request)
    # Once, and still warm: asking takes milliseconds, and the clocks of each block tell the rest.
    state = device.gpu_state()
    if answer.fault is not None:
        return answer, ()
    gpu = device.limits.gpu
    most_mhz = None if gpu is None else gpu.sm_clock_mhz
    return answer, doubts(state, _latency(answer).sm_clock_mhz, most_mhz)


def _captured(latency: Latency) -> Latency:
    """Return `latency`; raise HarnessError for one of launches that nobody can hold to anything."""
    if latency.captured is None:
        raise HarnessError("latency", expected="the outputs of one timed launch", got="none captured")
    return latency


def _latency(answer: Answer) -> Latency:
    latency = answer.step("measure").latency
    if latency is None:
        raise HarnessError(f"answer '{answer.id}'", expected="a latency", got="none")
    return latency
