"""What the judge and the items make of measured times, with a made-up GPU behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from judged_kernels import AXPY, axpy, full_plan
from measured_latencies import H200, MEASURED_PEAKS, cold_latency

from pytest_cudaopt import case, case_judge, items, pipeline, work
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import CaseStatus, Latency, Plan, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.item_work import Work
from pytest_cudaopt.measure import Measured
from pytest_cudaopt.peaks import remember_peaks
from pytest_cudaopt.settings import resolve
from pytest_cudaopt.table import RowStage

MEASURED = case(n=1 << 16, measure=True)
# 512 KiB, which take 8 us or longer at 67 GB/s and less.
HONEST_NS, LYING_NS = 8_000.0, 20.0
Answering = Callable[[float], list[Plan]]


@pytest.fixture
def gpu(sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """`sim`, with the data of an H200: it checks, and times as `answering` says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return replace(sim, limits=replace(sim.limits, gpu=H200.gpu))


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Let every measurement answer a time and one doubt; return the plans it was asked with."""

    def answer(ns: float) -> list[Plan]:
        plans: list[Plan] = []

        def measure(
            prepared: object, compiled: object, launch: object, device: object, plan: Plan
        ) -> Measured:
            plans.append(plan)
            return Measured(_latency(ns))

        monkeypatch.setattr(case_judge, "measure", measure)
        return plans

    return answer


def _latency(ns: float) -> Latency:
    return cold_latency(ns, notes=("the clock moved",))


def declare(folder: Path, **declared: Any) -> Kernel:
    return axpy(folder, cases=(case(n=100), MEASURED), **declared)


def test_a_candidate_faster_than_physics_is_a_finding(
    tmp_path: Path, gpu: Device, answering: Answering
) -> None:
    kernel = declare(tmp_path, work=work(bytes="8 * n"))
    other = kernel.candidate(AXPY.replace("i < n", "n > i"), tmp_path / "other.cu")
    answering(LYING_NS)
    judged = pipeline.evaluate(kernel, other, full_plan(kernel), gpu)

    assert judged.status is Status.FINDING
    assert judged.finding is not None
    assert judged.finding.kind is FindingKind.IMPLAUSIBLE
    assert judged.outcomes[-1].status is CaseStatus.FINDING
    assert judged.latencies == {}
    answering(HONEST_NS)
    assert pipeline.evaluate(kernel, other, full_plan(kernel), gpu).accepted


def test_a_wrong_declaration_is_blamed_on_the_declaration(
    tmp_path: Path, gpu: Device, answering: Answering
) -> None:
    kernel = declare(tmp_path, work=work(bytes="8000 * n"))
    answering(HONEST_NS)
    with pytest.raises(DeclarationError, match="work= of kernel 'axpy'"):
        pipeline.evaluate(kernel, kernel.start(), full_plan(kernel), gpu)


def session(gpu: Device, root: Path, **command_line: str) -> Any:
    return SimpleNamespace(
        settings=resolve(command_line, {}, {}),
        root=root,
        device=lambda: gpu,
        failed_checks=set(),
        against=None,
    )


def latency_item(kernel: Kernel) -> Work:
    return Work(kernel, "test_axpy.py::axpy", RowStage.LATENCY, 1, "n65536", MEASURED)


def test_a_latency_item_shows_what_is_achieved_of_the_measured_peaks_and_its_doubts(
    tmp_path: Path, gpu: Device, answering: Answering
) -> None:
    kernel = declare(tmp_path, work=work(bytes="8 * n"))
    answering(HONEST_NS)
    finished = items.run(latency_item(kernel), session(gpu, tmp_path), print)
    assert finished.failure is None
    assert finished.row.latency_text == "8.00 us cold, IQR 1.00 %, 65.5 GB/s"
    assert finished.row.doubts == ("the clock moved",)

    remember_peaks(gpu, MEASURED_PEAKS)
    finished = items.run(latency_item(kernel), session(gpu, tmp_path), print)
    assert finished.row.latency_text == "8.00 us cold, IQR 1.00 %, 65.5 GB/s = 1.55 % of copy peak"


def test_an_item_with_a_wrong_declaration_fails_as_one(
    tmp_path: Path, gpu: Device, answering: Answering
) -> None:
    kernel = declare(tmp_path, work=work(bytes="8000 * n"))
    answering(HONEST_NS)
    failure = items.run(latency_item(kernel), session(gpu, tmp_path), print).failure

    assert failure is not None
    assert failure.text.startswith("DECLARATION: work= of kernel 'axpy' at case(n=65536, measure=True)")
    assert "8.000 us (cold) is less than the " in failure.text


def test_an_item_measures_as_its_settings_say(tmp_path: Path, gpu: Device, answering: Answering) -> None:
    plans = answering(HONEST_NS)
    asked = session(gpu, tmp_path, samples="7", warmup="3", relative_error="0.5")
    items.run(latency_item(declare(tmp_path)), asked, print)

    (plan,) = plans
    assert (plan.samples, plan.warmup, plan.relative_error) == (7, 3, pytest.approx(0.005))
