"""When a run has had enough."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from made_up_runs import evaluation

from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.limits import Limits, Spent, next_time, stop
from pytest_cudaopt.optimize.summary import StopReason

NOON = datetime.fromisoformat("2026-03-01T12:00:00+01:00")
SPENT = Spent(tokens=1000, seconds=60.0, now=NOON)
DECISIONS = {"S": Decision.START, "b": Decision.NEW_BEST, "n": Decision.NOT_FASTER, "-": Decision.NO_PROPOSAL}


def attempts(decisions: str) -> list[Attempt]:
    return [
        Attempt(number, Proposal(None, ""), evaluation({}), Verdict(DECISIONS[letter], ""))
        for number, letter in enumerate(decisions)
    ]


@pytest.mark.parametrize(
    ("bounds", "decisions", "share", "expected"),
    [
        ({}, "Snn", None, None),
        ({"iterations": 2}, "Snn", None, StopReason.ITERATIONS_USED),
        ({"iterations": 3}, "Snn", None, None),
        ({"tokens": 1000}, "S", None, StopReason.TOKENS_USED),
        ({"tokens": 1001}, "S", None, None),
        ({"seconds": 60.0}, "S", None, StopReason.SECONDS_USED),
        ({"seconds": 60.1}, "S", None, None),
        ({"until": NOON}, "S", None, StopReason.SECONDS_USED),
        ({"until": NOON + timedelta(seconds=1)}, "S", None, None),
        ({"patience": 2}, "Snn", None, StopReason.PATIENCE_LOST),
        ({"patience": 2}, "Sn-", None, StopReason.PATIENCE_LOST),
        ({"patience": 2}, "Snnb", None, None),
        ({"patience": 2}, "Snnbn", None, None),
        ({"floor_share": 0.9}, "S", 0.9, StopReason.NEAR_FLOOR),
        ({"floor_share": 0.9}, "S", 0.89, None),
        ({"floor_share": 0.9}, "S", None, None),
    ],
)
def test_a_bound_that_is_reached_ends_the_run(
    bounds: dict[str, Any], decisions: str, share: float | None, expected: StopReason | None
) -> None:
    limits = replace(Limits(iterations=99), **bounds)
    stopped = stop(limits, attempts(decisions), SPENT, share)
    assert (None if stopped is None else stopped[0]) == expected


@pytest.mark.parametrize(
    ("clock", "hours"), [("13:00", 1), ("12:00", 24), ("07:00", 19), ("7:00", 19), ("23:59", 12)]
)
def test_a_time_of_day_is_the_next_one(clock: str, hours: int) -> None:
    assert round((next_time(clock, NOON) - NOON) / timedelta(hours=1)) == hours


@pytest.mark.parametrize("clock", ["", "noon", "25:00"])
def test_what_is_no_time_of_day_is_refused(clock: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        next_time(clock, NOON)
