"""A proposal's tunables are tried before it is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_runs import SOURCE, TableJudge, declare_twice, faster_with_larger_blocks

from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.optimize.tuning import MOST_SETTINGS, best_setting


def tuned(folder: Path, judge: TableJudge, source: str = SOURCE) -> tuple[dict[str, int], list[float | None]]:
    kernel = declare_twice(folder, source)
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), kernel.cases, samples=100)
    best, trials = best_setting(
        kernel.start(), plan, lambda candidate, how: judge(kernel, candidate, how, None), seed=0
    )
    return best.chosen, [trial.geometric_mean_ns for trial in trials]


def test_the_fastest_setting_goes_on(tmp_path: Path) -> None:
    judge = TableJudge(faster_with_larger_blocks)
    chosen, trials = tuned(tmp_path, judge)
    assert chosen == {"BLOCK": 512}
    assert len(trials) == 4
    first, *quick = (plan for _, plan in judge.asked)
    assert (first.stages, [case.by_name["n"] for case in first.cases]) == ((Stage.COMPILE, Stage.CHECK), [1])
    assert {(plan.samples, len(plan.cases)) for plan in quick} == {(20, 2)}
    # What exceeds a limit of the kernel would be refused afterwards, however fast.
    assert {plan.stages for plan in quick} == {(Stage.COMPILE, Stage.LIMITS, Stage.MEASURE)}


def test_a_setting_that_cannot_be_measured_is_not_chosen(tmp_path: Path) -> None:
    table = {64: 100.0, 128: 50.0, 256: 150.0, 512: None}
    chosen, trials = tuned(tmp_path, TableJudge(lambda chosen, case_id: table[chosen["BLOCK"]]))
    assert chosen == {"BLOCK": 128}
    assert None in trials


def test_how_fast_something_wrong_is_says_nothing(tmp_path: Path) -> None:
    judge = TableJudge(lambda chosen, case_id: None)
    assert tuned(tmp_path, judge) == ({"BLOCK": 64}, [])
    assert len(judge.asked) == 1


def test_one_setting_needs_no_trial(tmp_path: Path) -> None:
    judge = TableJudge(faster_with_larger_blocks)
    assert tuned(tmp_path, judge, SOURCE.replace("64, 128, 256, 512", "64")) == ({"BLOCK": 64}, [])
    assert judge.asked == []


@pytest.mark.parametrize("count", [MOST_SETTINGS, MOST_SETTINGS + 1, 30])
def test_no_more_settings_are_tried_than_the_bound_allows(tmp_path: Path, count: int) -> None:
    values = ", ".join(str(32 * (number + 1)) for number in range(count))
    _, trials = tuned(
        tmp_path, TableJudge(faster_with_larger_blocks), SOURCE.replace("64, 128, 256, 512", values)
    )
    assert len(trials) == MOST_SETTINGS
