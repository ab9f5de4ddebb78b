"""Evaluations: derived numbers and spellings."""

from __future__ import annotations

import math

import pytest

from pytest_cudaopt.cases import case
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Comparison,
    Diagnostic,
    Evaluation,
    Latency,
    LatencyKind,
    Plan,
    Sampling,
    SamplingMode,
    Stage,
    Status,
)

COLD = Sampling(6.0, (5.0, 6.0, 7.0))
BATCH = Sampling(2.0, (1.0, 2.0, 3.0), launches=100)


def measured(id: str, median_ns: float | None, weight: float = 1.0) -> CaseOutcome:
    latency = None if median_ns is None else Latency(LatencyKind.MODELLED, median_ns)
    return CaseOutcome(case(n=1, weight=weight), id, CaseStatus.PASSED, latency=latency)


@pytest.mark.parametrize(
    ("outcomes", "mean_ns"),
    [
        ([measured("a", 100.0), measured("b", 400.0)], 200.0),
        ([measured("a", 100.0, weight=3), measured("b", 1600.0)], 200.0),
        ([measured("a", 100.0), measured("b", None)], 100.0),
    ],
)
def test_the_geometric_mean_is_weighted_and_skips_unmeasured(
    outcomes: list[CaseOutcome], mean_ns: float
) -> None:
    evaluation = Evaluation("k", "0", "sim", Status.ACCEPTED, outcomes=tuple(outcomes))
    assert evaluation.geometric_mean_ns is not None
    assert math.isclose(evaluation.geometric_mean_ns, mean_ns)


def test_nothing_measured_has_no_mean() -> None:
    evaluation = Evaluation("k", "0", "sim", Status.ACCEPTED, outcomes=(measured("a", None),))
    assert evaluation.geometric_mean_ns is None
    assert evaluation.latencies == {}


@pytest.mark.parametrize("status", Status)
def test_only_accepted_is_accepted(status: Status) -> None:
    assert Evaluation("k", "0", "sim", status).accepted is (status is Status.ACCEPTED)


def test_statuses_are_spelled_as_the_command_promises() -> None:
    assert [status.value for status in Status] == [
        "accepted",
        "compile_error",
        "wrong_result",
        "finding",
        "lost_property",
        "fault",
        "not_judged",
    ]


def test_a_plan_measures_the_cases_that_ask_for_it() -> None:
    cases = (case(n=1), case(n=2, measure=True))
    assert Plan((Stage.MEASURE,), cases).measured == cases[1:]


@pytest.mark.parametrize(
    ("column", "text"), [(7, "a.cu:3:7: error: no"), (0, "a.cu:3: error: no")], ids=["column", "none"]
)
def test_a_diagnostic_reads_like_a_compilers(column: int, text: str) -> None:
    assert str(Diagnostic("a.cu", 3, column, "error", "no")) == text


@pytest.mark.parametrize(("mismatched", "matches"), [(0, True), (1, False)])
def test_a_comparison_matches_without_mismatches(mismatched: int, matches: bool) -> None:
    assert Comparison("y", 4, mismatched, 0.0, 0.0).matches is matches


@pytest.mark.parametrize(("mode", "chosen"), [(SamplingMode.COLD, COLD), (SamplingMode.BATCH, BATCH)])
def test_a_latencys_samples_are_those_of_its_mode(mode: SamplingMode, chosen: Sampling) -> None:
    latency = Latency(LatencyKind.MEASURED, chosen.median_ns, mode, cold=COLD, batch=BATCH)
    assert latency.samples_ns == chosen.samples_ns


def test_a_modelled_latency_has_no_samples() -> None:
    assert Latency(LatencyKind.MODELLED, 1.0).samples_ns == ()


@pytest.mark.parametrize(
    ("samples", "share"), [((5.0,), 0.0), ((1.0, 2.0, 3.0, 4.0, 5.0), 2 / 3), ((3.0, 3.0, 3.0), 0.0)]
)
def test_the_spread_is_the_interquartile_range_over_the_median(
    samples: tuple[float, ...], share: float
) -> None:
    assert Sampling(3.0, samples).relative_iqr == pytest.approx(share)
