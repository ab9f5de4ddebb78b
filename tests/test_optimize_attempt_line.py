"""What a terminal shows of each attempt."""

from __future__ import annotations

import pytest
from made_up_runs import evaluation

from pytest_cudaopt.optimize.attempt import Attempt, Decision, Known, Proposal, Verdict
from pytest_cudaopt.optimize.attempt_line import text
from pytest_cudaopt.optimize.conversation import Usage

ITEM = "  test_scale.py::scale[optimize]"
IDEA = "Neighbouring threads read neighbouring elements,\nso that a warp needs fewer sectors than now."


def attempt(why: str, answer: str, usage: Usage) -> Attempt:
    proposal = Proposal(None, why, answer=answer, usage=usage)
    known = Known("d" * 64, (("BLOCK", 128),))
    return Attempt(3, proposal, evaluation({}), Verdict(Decision.NEW_BEST, ""), 1.25, known)


def test_the_tuners_line_is_what_it_tried_and_what_came_of_it() -> None:
    line = text(ITEM, attempt("near the best so far", "", Usage()), 7)
    assert line == f"{ITEM} attempt 3/7 BLOCK=128: 1.25x new best"


def test_a_models_line_says_tokens_and_as_much_of_the_idea_as_fits() -> None:
    line = text(ITEM, attempt(IDEA, "{}", Usage(1000, 10, 234)), 7)
    assert line.startswith(f"{ITEM} attempt 3/7 BLOCK=128: 1.25x new best, 1234 tokens: Neighbouring ")
    assert line.endswith("...")
    assert len(line) == 110
    assert text(ITEM, attempt("Short.", "{}", Usage(1)), 7).endswith("new best, 1 tokens: Short.")


@pytest.mark.parametrize("width", [40, 60, 90, 120])
def test_an_idea_that_does_not_fit_is_left_out(width: int) -> None:
    item = "x" * width
    line = text(item, attempt(IDEA, "{}", Usage(1)), 7)
    assert len(line) <= max(110, len(f"{item} attempt 3/7 BLOCK=128: 1.25x new best, 1 tokens"))
