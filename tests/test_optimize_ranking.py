"""When a candidate is better: the rules, one per row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up_runs import evaluation

from pytest_cudaopt.evaluation import Status
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.optimize.attempt import Decision, Verdict
from pytest_cudaopt.optimize.ranking import judge_challenger, judge_start

START = {"a": 100.0, "b": 100.0}


@pytest.mark.parametrize(
    ("challenger", "incumbent", "expected"),
    [
        ({"a": 90.0, "b": 100.0}, START, Decision.NEW_BEST),
        ({"a": 100.0, "b": 100.0}, START, Decision.NOT_FASTER),
        ({"a": 110.0, "b": 95.0}, START, Decision.NOT_FASTER),
        # Faster by far at one case does not pay for being slower at the other.
        ({"a": 10.0, "b": 102.1}, START, Decision.CASE_SLOWER),
        ({"a": 10.0, "b": 101.9}, START, Decision.NEW_BEST),
        # Compared with the incumbent, not only with the start.
        ({"a": 10.0, "b": 60.0}, {"a": 50.0, "b": 50.0}, Decision.CASE_SLOWER),
        # Two steps of 1.9 % would add up: the start guards too.
        ({"a": 10.0, "b": 103.8}, {"a": 50.0, "b": 101.9}, Decision.CASE_SLOWER),
        ({"a": 10.0}, START, Decision.NOT_FASTER),
        ({}, START, Decision.NOT_FASTER),
    ],
)
def test_a_challenger_must_be_faster_overall_and_slower_nowhere(
    challenger: dict[str, float], incumbent: dict[str, float], expected: Decision
) -> None:
    verdict = judge_challenger(
        evaluation(challenger), evaluation(incumbent), evaluation(START), allow_slower=0.02
    )
    assert verdict.decision is expected


def test_the_allowance_can_be_changed() -> None:
    loser = evaluation({"a": 10.0, "b": 109.0})
    start = evaluation(START)
    assert judge_challenger(loser, start, start, allow_slower=0.1).decision is Decision.NEW_BEST


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ACCEPTED])
def test_a_challenger_that_is_not_accepted_never_wins(status: Status) -> None:
    fast = evaluation({"a": 1.0, "b": 1.0}, status=status, reason="y[3] is wrong")
    start = evaluation(START)
    verdict = judge_challenger(fast, start, start, allow_slower=0.02)
    assert verdict.decision is Decision.NOT_ACCEPTED
    assert verdict.reason == "y[3] is wrong"


def test_a_case_that_got_slower_is_named_with_its_ratio() -> None:
    start = evaluation(START)
    reason = judge_challenger(evaluation({"a": 10.0, "b": 150.0}), start, start, allow_slower=0.02).reason
    assert "1.500x" in reason
    assert " b " in reason


def test_a_start_that_is_not_accepted_is_not_optimised() -> None:
    wrong = evaluation({}, status=Status.WRONG_RESULT, reason="y[3] is wrong")
    assert judge_start(wrong).decision is Decision.NOT_ACCEPTED
    assert judge_start(evaluation(START)).decision is Decision.START


@pytest.mark.parametrize(
    ("challenger", "reason"),
    [
        ({"a": 25.0, "b": 100.0}, "0.500x the latency of attempt 3, the best before it (b 1.000x, a 0.250x)"),
        (
            {"a": 400.0, "b": 100.0},
            "2.000x the latency of attempt 3, the best before it (a 4.000x, b 1.000x)",
        ),
        (
            {"a": 10.0, "b": 110.0},
            "faster overall, but 1.100x the latency of attempt 3, the best before it at b (1.02x is allowed)",
        ),
    ],
)
def test_a_verdict_names_the_attempt_it_is_relative_to(challenger: dict[str, float], reason: str) -> None:
    start = evaluation(START)
    verdict = judge_challenger(evaluation(challenger), start, start, allow_slower=0.02, incumbent_number=3)
    assert verdict.reason == reason


def test_of_many_cases_the_slowest_and_the_fastest_are_named() -> None:
    start = evaluation({f"n{number}": 100.0 for number in range(99)})
    challenger = evaluation({f"n{number}": 1.0 + number for number in range(99)})
    reason = judge_challenger(challenger, start, start, allow_slower=0.02).reason
    assert reason.endswith("(n98 0.990x, n97 0.980x, n96 0.970x, n0 0.010x, 95 cases between)")


def beside_best(*sides: tuple[float, float] | None) -> Verdict:
    """Judge what is faster by its own times, and has these bounds of its ratio beside the best."""
    start = evaluation(START)
    faster = evaluation({"a": 90.0, "b": 90.0})
    beside = [
        Gated("best", GateVerdict.UNSURE, "not compared")
        if bounds is None
        else Gated("best", GateVerdict.FASTER, f"up to {bounds[1]}", lower=bounds[0], upper=bounds[1])
        for bounds in sides
    ]
    outcomes = (replace(one, gated=(side,)) for one, side in zip(faster.outcomes, beside, strict=True))
    faster = replace(faster, outcomes=tuple(outcomes))
    return judge_challenger(faster, start, start, allow_slower=0.02)


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        (((0.88, 0.92), (0.88, 0.92)), Decision.NEW_BEST),
        # Faster by the times of its own launches, and not beside the best.
        (((0.99, 1.01), (0.99, 1.01)), Decision.NOT_FASTER),
        (((0.80, 0.90), (0.98, 1.02)), Decision.NEW_BEST),
        (((0.50, 0.60), (1.021, 1.03)), Decision.CASE_SLOWER),
        (((0.88, 0.92), None), Decision.NEW_BEST),
        ((None, None), Decision.NOT_FASTER),
    ],
)
def test_what_was_timed_beside_the_best_must_be_faster_there(
    sides: tuple[tuple[float, float] | None, ...], expected: Decision
) -> None:
    assert beside_best(*sides).decision is expected


@pytest.mark.parametrize(
    ("sides", "reason"),
    [
        (((0.97, 0.99), (0.99, 1.015)), "up to 1.015"),
        (((0.99, 1.015), (0.97, 0.99)), "up to 1.015"),
        ((None, (1.01, 1.02)), "up to 1.02"),
        ((None, None), "not compared"),
    ],
)
def test_the_case_that_is_least_sure_says_why_nothing_is_confirmed(
    sides: tuple[tuple[float, float] | None, ...], reason: str
) -> None:
    found = beside_best(*sides).reason
    assert found == f"not confirmed beside attempt 0, the best before it: {reason}"
