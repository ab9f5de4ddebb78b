"""What a model is reminded of stays short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up_runs import evaluation

from pytest_cudaopt.optimize.attempt import Attempt, Decision, Known, Proposal, Verdict
from pytest_cudaopt.optimize.memory import looked, summary


def attempt(number: int, decision: Decision, why: str = "why", speedup: float | None = None) -> Attempt:
    return Attempt(number, Proposal(None, why), evaluation({}), Verdict(decision, "because"), speedup)


START = attempt(0, Decision.START)


def test_a_run_that_begins_remembers_nothing() -> None:
    assert summary([START]) == "Nothing was tried yet."


def test_an_attempt_is_a_line() -> None:
    tried = [attempt(1, Decision.NEW_BEST, "wide loads", 1.5), attempt(2, Decision.NOT_ACCEPTED)]
    assert summary([START, *tried]).splitlines() == [
        "1. new_best; 1.50x the start's speed; wide loads -> because",
        "2. not_accepted; why -> because",
    ]


def test_of_many_attempts_the_kept_and_the_latest_are_told() -> None:
    tried = [attempt(n, Decision.NEW_BEST if n == 3 else Decision.NOT_FASTER) for n in range(1, 41)]
    lines = summary([START, *tried]).splitlines()
    assert lines[0] == "28 more: 28 not_faster"
    assert [int(line.partition(".")[0]) for line in lines[1:]] == [3, *range(30, 41)]


@pytest.mark.parametrize("count", [5, 50, 500])
def test_it_stays_short_however_many_there_are(count: int) -> None:
    tried = [attempt(n, Decision.NEW_BEST, "long " * 999) for n in range(1, count + 1)]
    assert len(summary([START, *tried])) < 4000


def test_the_setting_an_attempt_was_judged_with_is_told() -> None:
    one = replace(attempt(1, Decision.NOT_FASTER), known=Known("digest", (("BM", 64), ("BN", 96))))
    assert summary([START, one]) == "1. not_faster; with BM=64 BN=96; why -> because"


def test_what_tools_answered_last_is_told_again() -> None:
    def having_looked(number: int, count: int) -> Attempt:
        looks = tuple(f"counters: {number}.{at} {'long ' * 99}" for at in range(count))
        return Attempt(
            number, Proposal(None, "", looked=looks), evaluation({}), Verdict(Decision.NOT_FASTER, "")
        )

    assert looked([START]) == ""
    lines = looked([START, *(having_looked(number, 8) for number in range(1, 100))]).splitlines()
    assert len(lines) == 10
    assert all(len(line) <= 240 for line in lines)
    assert lines[0].startswith("before 98: counters: 98.6 long")
    assert lines[-1].startswith("before 99: counters: 99.7 long")
