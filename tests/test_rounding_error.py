"""Splitting an output's error in rounding and logic, and the rule for a logic error."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.rounding_error import (
    Shadow,
    ShadowState,
    allowed_gap,
    is_logic_error,
    split_error,
)

EXACT = np.full(4, ShadowState.EXACT, np.uint8)
EXPECTED = np.array([1.0, -2.0, 4.0, 0.5])


def split(got, shadow, states=EXACT, compared=None):
    return split_error("y", np.asarray(got), Shadow(np.asarray(shadow), states), EXPECTED, compared)


def test_what_rounding_did_is_no_logic_error():
    rounded = (EXPECTED * (1 + 3e-7)).astype(np.float32)
    parts = split(rounded, EXPECTED)
    assert parts.logic.largest == 0
    assert parts.rounding.index == (2,)
    assert parts.relative_rounding == pytest.approx(3e-7, rel=0.2)


def test_what_the_kernel_means_otherwise_is_no_rounding():
    parts = split(EXPECTED + 1e-6, EXPECTED + 1e-6)
    assert parts.rounding.largest == 0
    assert parts.relative_logic == pytest.approx(2.5e-7)
    assert parts.scale == 4.0


def test_undecided_elements_and_those_without_shadow_are_exempt():
    states = np.array([ShadowState.UNDECIDED, ShadowState.NONE, ShadowState.RESEEDED, ShadowState.EXACT])
    parts = split(EXPECTED, EXPECTED + np.array([9, 9, 0.25, 0]), states.astype(np.uint8))
    assert (parts.judged, parts.reseeded, parts.undecided) == (2, 1, 1)
    assert (parts.logic.largest, parts.logic.index) == (0.25, (2,))


def test_elements_that_are_not_compared_are_exempt():
    parts = split(EXPECTED, EXPECTED + np.array([1, 0, 0, 0]), compared=np.array([False, True, True, True]))
    assert parts.logic.largest == 0


def test_what_is_not_finite_is_left_to_the_comparison():
    parts = split([np.inf, -2, 4, 0.5], [1e39, -2, 4, 0.5])
    assert (parts.judged, parts.rounding.largest) == (3, 0)


def test_nothing_judged_has_no_distance():
    parts = split(EXPECTED, EXPECTED, np.zeros(4, np.uint8))
    assert (parts.judged, parts.logic.index, parts.relative_logic) == (0, None, 0.0)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="one shape"):
        split_error("y", np.zeros(3), Shadow(np.zeros(4), EXACT), EXPECTED)


@pytest.mark.parametrize(
    ("start_gap", "gap", "is_error"),
    [
        (0.0, 3e-9, False),  # within 1e-9 of the output's scale of 4
        (0.0, 5e-9, True),
        (1e-7, 1.5e-6, False),  # another polynomial: within 16 times the start's own
        (1e-7, 1.7e-6, True),
    ],
)
def test_a_logic_error_is_a_gap_beyond_the_starting_kernels_own(start_gap, gap, is_error):
    start = split(EXPECTED, EXPECTED + np.array([0, 0, start_gap, 0]))
    candidate = split(EXPECTED, EXPECTED + np.array([0, 0, gap, 0]))
    assert is_logic_error(candidate, start) is is_error
    assert (candidate.logic.largest > allowed_gap(start, 4.0)) is is_error


def answer(rounding):
    step = {"do": "launch", "rounding": rounding}
    return Answer.from_json({"protocol": 1, "id": "a", "nonce": "n", "status": "ok", "steps": [step]})


def test_what_a_launch_lost_is_read_from_the_answer():
    loss = {"mean_growth": 0.5, "growth": 1, "value": "inf", "shadow": "1e39", "file": "k.cu", "line": 3}
    read = answer(loss | {"block": [0, 1, 2], "thread": [3, 0, 0]}).steps[0].rounding
    assert read is not None
    assert (read.value, read.shadow, read.line, read.block) == (float("inf"), 1e39, 3, (0, 1, 2))


@pytest.mark.parametrize("rounding", [{"growth": 1}, "much", {"mean_growth": "x"}])
def test_a_loss_that_does_not_fit_is_refused(rounding):
    with pytest.raises(HarnessError, match=r"steps\[0\].rounding"):
        answer(rounding)
