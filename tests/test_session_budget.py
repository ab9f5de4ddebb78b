"""`--cudaopt-budget`: checks first, nothing begun once it is spent, and the cut is told."""

from __future__ import annotations

import pytest

from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.session_budget import SessionBudget, lowest_first

# A clock that is read twice per item, at its beginning and its end: each takes 4 s.
SLOW_CLOCK = """\
from itertools import count
import pytest
from pytest_cudaopt.session import KernelSession

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    KernelSession.of(config).budget.clock = count(0, 4).__next__
"""


@pytest.fixture
def two(project, monkeypatch):
    """Two kernels, an ordinary test between them, and a clock by which every item takes 4 s.

    Nothing is judged but in processes of their own: it is of no interest here.
    """
    monkeypatch.setattr("pytest_cudaopt.items.run", lambda work, session, announce: Finished(work.row))
    project.write("conftest.py", SLOW_CLOCK)
    project.write("test_k_plain.py", "def test_plain(): pass\n")
    for name in ("scale.cu", "test_scale.py"):
        text = (project.path / name).read_text()
        project.write(name.replace("scale", "again"), text.replace("scale", "again"))
    return project


def order(result):
    lines = [line.split(" ")[0] for line in result.outlines if "::" in line and line.endswith("%]")]
    return [line.partition("::")[2] for line in lines]


def test_the_checks_of_all_kernels_come_first_if_there_is_a_budget(two):
    without = order(two.run("-v"))
    within = order(two.run("-v", "--cudaopt-budget=5m"))

    assert without[:6] == [
        "again[check-n51]",
        "again[check-n4096]",
        "again[fuzz]",
        "again[contract]",
        "again[sanitize]",
        "again[latency-n4096]",
    ]
    assert without[6] == within[6] == "test_plain"
    assert sorted(within) == sorted(without)
    assert within[:6] == [
        "again[check-n51]",
        "again[check-n4096]",
        "scale[check-n51]",
        "scale[check-n4096]",
        "again[fuzz]",
        "again[contract]",
    ]


def test_what_has_not_begun_when_it_is_spent_is_skipped_and_told(two):
    result = two.run("--cudaopt-budget=17s", "-rs")

    result.assert_outcomes(passed=6, skipped=7)
    result.stdout.fnmatch_lines(
        [
            "  n4096 *not run",
            "  fuzz *passed",
            "  contract *not run",
            "budget of 17 s spent: 7 items not run: again?latency-n4096?, again?contract?, *",
            "SKIPPED*test_again.py:3: the budget of 17 s is spent",
        ]
    )


def test_a_budget_that_suffices_cuts_nothing(two):
    result = two.run("--cudaopt-budget=48s")

    result.assert_outcomes(passed=13)
    assert "not run" not in result.stdout.str()


def test_ordinary_tests_are_neither_counted_nor_skipped(two):
    two.edit("conftest.py", "count(0, 4)", "count(0, 1000)")

    two.run("--cudaopt-budget=1000s").assert_outcomes(passed=2, skipped=11)


def test_each_worker_has_its_own_and_all_cuts_are_told_at_once(two):
    result = two.run_alone("--cudaopt-budget=8s", "-n", "2", "--dist=loadfile")

    result.assert_outcomes(passed=5, skipped=8)
    result.stdout.fnmatch_lines(["budget of 8 s spent: 8 items not run: *"])


def test_fixtures_of_what_is_not_run_are_not_set_up(two):
    two.write("conftest.py", SLOW_CLOCK + "@pytest.fixture(autouse=True)\ndef slow(): print('set', 'up')\n")
    result = two.run("--cudaopt-budget=4s", "-s", "-k", "again")

    result.assert_outcomes(passed=1, skipped=5, deselected=7)
    assert result.stdout.str().count("set up") == 1


def test_time_counts_only_while_something_is_going_on():
    now = [0.0]
    budget = SessionBudget(10.0, lambda: now[0])
    for spent_s, is_spent in ((6.0, False), (3.9, False), (0.2, True)):
        with budget.spending():
            now[0] += spent_s
        now[0] += 100.0
        assert budget.is_spent is is_spent
    assert not SessionBudget(None, lambda: now[0]).is_spent


def test_time_counts_though_an_item_raises():
    now = iter((0.0, 20.0))
    budget = SessionBudget(10.0, lambda: next(now))
    with pytest.raises(KeyboardInterrupt), budget.spending():
        raise KeyboardInterrupt
    assert budget.is_spent


@pytest.mark.parametrize(
    ("items", "ordered"),
    [
        (["b2", "x", "a1", "b1"], ["a1", "x", "b2", "b1"]),
        (["x", "y"], ["x", "y"]),
        ([], []),
    ],
)
def test_only_what_has_a_rank_is_moved(items, ordered):
    assert lowest_first(items, lambda item: {"a": 0, "b": 1}.get(item[0])) == ordered
