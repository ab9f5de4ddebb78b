"""Bytes that `sim` counts for `work(bytes="touched")`: how many, how often, and where it cannot say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from altered_answers import altered, is_watched
from judged_kernels import axpy
from pretend_gpu import LATENCY, PretendedHarness, pretend

from pytest_cudaopt import case, touched, work
from pytest_cudaopt.answers import Answer
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Evaluation, Plan, Sampling, Stage, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import Request

STAGES = (Stage.COMPILE, Stage.CHECK, Stage.MEASURE)
CASES = [case(n=1000, measure=True)]
# 1000 floats read and written: 125 sectors each.
BOTH_ARRAYS = 2 * 125 * 32


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    # `sim` comes first, which sets the cache that tests share.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def judge(folder: Path, device: Device, *edits: tuple[str, str], **declared: Any) -> Evaluation:
    judged = axpy(folder, *edits, **{"cases": CASES, "work": work(bytes="touched"), **declared})
    return evaluate(judged, judged.start(), Plan(STAGES, judged.cases), device)


def only(evaluation: Evaluation) -> CaseOutcome:
    (outcome,) = evaluation.outcomes
    return outcome


def counts(asked: list[Request]) -> list[Request]:
    return [request for request in asked if "/touched/" in request.id]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), BOTH_ARRAYS),
        # What nobody needs is not touched.
        ((("a * x[i]", "a * x[i / 8 * 8]"), ("y[i]", "y[i]")), BOTH_ARRAYS),
        ((("a * x[i]", "a * x[0]"),), 126 * 32),
        # Twice the same is touched once.
        ((("a * x[i]", "(a - 1) * x[i] + x[n - 1 - i]"),), BOTH_ARRAYS),
    ],
    ids=["both", "every sector", "one element", "again"],
)
def test_every_sector_counts_once(
    edits: tuple[tuple[str, str], ...], expected: int, tmp_path: Path, sim: Device
) -> None:
    judged = axpy(tmp_path, *edits, cases=CASES, work=work(bytes="touched"))
    plan = Plan((Stage.COMPILE, Stage.MEASURE), judged.cases)
    assert only(evaluate(judged, judged.start(), plan, sim)).touched_bytes == expected


def test_only_measured_cases_of_kernels_that_ask_are_counted(tmp_path: Path, sim: Device) -> None:
    device, harness = altered(sim, lambda answer: answer)
    judge(tmp_path, device, cases=[case(n=100), *CASES])
    assert [request.id for request in counts(harness.asked)] == ["axpy/touched/case(n=1000, measure=True)"]
    harness.asked.clear()
    judge(tmp_path, device, work=work(bytes="8 * n"))
    assert counts(harness.asked) == []


def test_the_same_launch_is_counted_once(tmp_path: Path, sim: Device) -> None:
    device, harness = altered(sim, lambda answer: answer)
    first, second = (judge(tmp_path, device) for _ in range(2))
    assert only(first).touched_bytes == only(second).touched_bytes == BOTH_ARRAYS
    assert len(counts(harness.asked)) == 1


@pytest.mark.parametrize(
    ("edits", "declared"),
    [
        ((("1.0f", "1.0f + 0.0f * x[0]"),), {}),
        ((), {"cases": [case(n=1000, measure=True, seed=5)]}),
        ((), {"launch": "grid=(cdiv(n, 32)) block=(32)"}),
    ],
    ids=["program", "inputs", "launch"],
)
def test_another_launch_is_counted_anew(
    edits: Any, declared: dict[str, Any], tmp_path: Path, sim: Device
) -> None:
    device, harness = altered(sim, lambda answer: answer)
    judge(tmp_path, device)
    if "launch" in declared:
        edits = (("// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)\n// @tune BLOCK = 64, 128, 2048\n", ""),)
    judge(tmp_path, device, *edits, **declared)
    assert len(counts(harness.asked)) == 2


def test_a_broken_cache_is_no_answer(tmp_path: Path, sim: Device) -> None:
    judge(tmp_path, sim)
    (kept,) = (tmp_path / "cache/pytest-cudaopt/touched").iterdir()
    kept.write_text('"many"')
    assert only(judge(tmp_path, sim)).touched_bytes == BOTH_ARRAYS


UNKNOWN = Finding(FindingKind.UNSUPPORTED_INSTRUCTION, "sim cannot execute 'wgmma'")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda answer: replace(answer, fault=UNKNOWN), "sim cannot execute 'wgmma'"),
        (
            lambda answer: replace(answer, steps=tuple(replace(s, touched_bytes=None) for s in answer.steps)),
            "sim did not say",
        ),
    ],
    ids=["cannot", "silent"],
)
def test_where_sim_cannot_count_there_is_a_note_and_no_bound(
    change: Any, why: str, tmp_path: Path, sim: Device
) -> None:
    device, _ = altered(sim, change)
    evaluation = judge(tmp_path, device)
    assert evaluation.accepted
    outcome = only(evaluation)
    assert outcome.touched_bytes is None
    assert outcome.latency is not None
    assert outcome.latency.notes == (f'work(bytes="touched") could not be counted: {why}',)
    assert not (tmp_path / "cache/pytest-cudaopt/touched").exists()


def test_large_cases_are_not_counted(tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touched, "MOST_BYTES", 7999)
    outcome = only(judge(tmp_path, sim))
    assert outcome.touched_bytes is None
    assert outcome.latency is not None
    assert "more than sim executes for it" in outcome.latency.notes[0]


def timed(median_ns: float) -> Any:
    """Return what makes every measured latency that of `median_ns`."""
    latency = replace(LATENCY, median_ns=median_ns, cold=Sampling(median_ns, (median_ns,) * 3))

    def change(answer: Answer) -> Answer:
        steps = tuple(replace(s, latency=latency) if s.latency is not None else s for s in answer.steps)
        return replace(answer, steps=steps)

    return change


def test_on_a_gpu_a_time_that_beats_the_counted_bytes_is_implausible(tmp_path: Path, sim: Device) -> None:
    gpu, harness = pretend(sim, change=timed(0.2))
    evaluation = judge(tmp_path, gpu)
    assert evaluation.status is Status.FINDING
    outcome = only(evaluation)
    assert (outcome.status, outcome.touched_bytes) == (CaseStatus.FINDING, BOTH_ARRAYS)
    assert outcome.finding is not None
    assert outcome.finding.kind is FindingKind.IMPLAUSIBLE
    assert f"of the {BOTH_ARRAYS} counted bytes at 4.81 TB/s of DRAM" in outcome.finding.message
    (asked,) = counts(harness.asked)
    assert asked.device == "sim"


def test_on_a_gpu_an_honest_time_is_plausible(tmp_path: Path, sim: Device) -> None:
    gpu, _ = pretend(sim, change=timed(2_000.0))
    outcome = only(judge(tmp_path, gpu))
    assert (outcome.status, outcome.touched_bytes) == (CaseStatus.PASSED, BOTH_ARRAYS)


def test_on_a_gpu_whose_kernel_sim_cannot_execute_no_time_is_implausible(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = PretendedHarness.ask

    def asked(self: PretendedHarness, request: Request) -> Answer:
        answer = ask(self, request)
        return replace(answer, fault=UNKNOWN) if is_watched(request) else answer

    monkeypatch.setattr(PretendedHarness, "ask", asked)
    gpu, _ = pretend(sim, change=timed(0.2))
    outcome = only(judge(tmp_path, gpu))
    assert outcome.status is CaseStatus.PASSED
    assert outcome.latency is not None
    assert outcome.latency.notes[-1].startswith('work(bytes="touched") could not be counted: ')


def test_the_table_shows_what_is_touched(project: Any) -> None:
    project.edit("test_scale.py", "import In", "import work, In")
    project.edit("test_scale.py", "cases=", 'work=work(bytes="touched"), cases=')
    result = project.run("-k", "latency")

    result.stdout.fnmatch_lines(["  n4096  passed  * modelled (*), touches 32.8 kB"])
