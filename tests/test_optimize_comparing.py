"""Like with like: a batch of launches is never compared with single cold ones."""

from __future__ import annotations

import math

import pytest
from measured_latencies import batch_latency, cold_latency

from pytest_cudaopt import case
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Evaluation, Latency, LatencyKind, Status
from pytest_cudaopt.optimize import comparing
from pytest_cudaopt.optimize.attempt import Decision
from pytest_cudaopt.optimize.ranking import judge_challenger


def measured(*latencies: Latency, weights: tuple[float, ...] = ()) -> Evaluation:
    outcomes = tuple(
        CaseOutcome(
            case(n=number, measure=True, weight=dict(enumerate(weights)).get(number, 1.0)),
            f"n{number}",
            CaseStatus.PASSED,
            latency=latency,
        )
        for number, latency in enumerate(latencies)
    )
    return Evaluation("k", "digest", "cuda:0", Status.ACCEPTED, outcomes=outcomes)


# Just above 10 us only cold launches are measured, below it batches too, whose times are much shorter.
SLOW = cold_latency(10_500.0)
FAST = batch_latency(7_000.0, cold_ns=9_800.0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (SLOW, FAST, (10_500.0, 9_800.0)),
        (FAST, SLOW, (9_800.0, 10_500.0)),
        (FAST, batch_latency(3_500.0, cold_ns=9_900.0), (7_000.0, 3_500.0)),
        (SLOW, cold_latency(21_000.0), (10_500.0, 21_000.0)),
        (Latency(LatencyKind.MODELLED, 5.0), Latency(LatencyKind.MODELLED, 3.0), (5.0, 3.0)),
    ],
)
def test_medians_of_one_mode_are_compared(
    one: Latency, other: Latency, expected: tuple[float, float]
) -> None:
    assert comparing.comparable_ns(one, other) == expected


def test_a_change_of_mode_is_no_speedup() -> None:
    start, challenger = measured(SLOW), measured(batch_latency(7_000.0, cold_ns=10_600.0))
    verdict = judge_challenger(challenger, start, start, allow_slower=0.02)
    assert verdict.decision is Decision.NOT_FASTER


def test_means_are_weighted_and_over_shared_cases_only() -> None:
    one = measured(cold_latency(100.0), cold_latency(400.0), weights=(1.0, 3.0))
    other = measured(cold_latency(200.0), cold_latency(200.0), cold_latency(1.0))
    means = comparing.mean_ns(one, other)
    assert means == pytest.approx((math.exp((math.log(100) + 3 * math.log(400)) / 4), 200.0))
    assert comparing.mean_ns(one, measured()) is None


def test_the_means_of_equal_modes_are_those_of_the_evaluations() -> None:
    one, other = measured(FAST, SLOW), measured(batch_latency(3_500.0, cold_ns=9_900.0), SLOW)
    assert comparing.mean_ns(one, other) == pytest.approx((one.geometric_mean_ns, other.geometric_mean_ns))


def test_a_warning_is_said_once() -> None:
    noisy = measured(cold_latency(1.0, notes=("a", "b")), cold_latency(1.0, notes=("b",)))
    assert comparing.warnings(noisy, measured(cold_latency(1.0, notes=("c", "a")))) == ("a", "b", "c")


def test_modes_are_listed_by_case() -> None:
    one = measured(SLOW, FAST, Latency(LatencyKind.MODELLED, 1.0))
    assert comparing.modes(one) == {"n0": "cold", "n1": "batch"}
