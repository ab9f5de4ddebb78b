"""The request that measures one case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from judged_kernels import axpy, full_plan

from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget, Latency, LatencyKind
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.protocol import Request

LAUNCH = LaunchConfiguration((2, 1, 1), (64, 1, 1))
LATENCY = Latency(LatencyKind.MEASURED, 2.0, (1.0, 2.0, 3.0))


def measured(
    folder: Path, sim: Device, step: StepAnswer | None, fault: Finding | None = None
) -> tuple[Latency | Finding, Request]:
    """Measure with a harness that answers `step` or `fault`; return the result and the request."""
    asked: list[Request] = []

    def ask(request: Request) -> Answer:
        asked.append(request)
        status = AnswerStatus.OK if fault is None else AnswerStatus.FAULT
        return Answer(request.id, request.nonce, status, "sim", (step,) if step else (), fault)

    kernel = axpy(folder)
    compiled = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(compiled, Compiled)
    prepared = prepare(kernel, kernel.cases[2], sim)
    harness: Any = SimpleNamespace(ask=ask)
    device = replace(sim, harness=harness, _lock=-1)
    plan = full_plan(kernel, warmup=3, samples=7)
    return measure(prepared, compiled, LAUNCH, device, plan), asked[0]


def test_the_request_loads_and_measures_as_often_as_the_plan_says(tmp_path: Path, sim: Device) -> None:
    latency, request = measured(tmp_path, sim, StepAnswer("measure", latency=LATENCY))
    assert latency == LATENCY
    assert [step.DO for step in request.steps] == ["load", "measure"]
    step: Any = request.steps[1]
    assert (step.warmup, step.samples, step.grid) == (3, 7, (2, 1, 1))
    assert len(request.buffers) == 2


def test_a_fault_is_handed_on(tmp_path: Path, sim: Device) -> None:
    fault = Finding(FindingKind.TRAP, "a trap")
    assert measured(tmp_path, sim, None, fault)[0] is fault


@pytest.mark.parametrize("step", [None, StepAnswer("measure")])
def test_an_answer_without_a_latency_is_refused(step: StepAnswer | None, tmp_path: Path, sim: Device) -> None:
    with pytest.raises(HarnessError):
        measured(tmp_path, sim, step)
