"""Which launch is held against the reference, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_up_runs import declare_twice
from numpy.typing import NDArray

from pytest_cudaopt.agreement import WRONG_AGAIN, compare_launches

EXPECTED = np.array([1.0, 2.0, 4.0])
RIGHT = EXPECTED.astype(np.float32)
CLOSE = (EXPECTED * (1 + 1e-6)).astype(np.float32)
WRONG = np.array([1.0, 2.0, 5.0], np.float32)
WORSE = np.array([0.0, 0.0, 0.0], np.float32)


@pytest.mark.parametrize(
    ("first", "again", "mismatched", "note"),
    [
        (RIGHT, None, 0, ""),
        (RIGHT, CLOSE, 0, ""),
        (WRONG, None, 1, ""),
        (WRONG, WORSE, 1, ""),
        (RIGHT, WORSE, 3, WRONG_AGAIN),
    ],
    ids=["the-same", "close", "wrong", "wrong-twice", "wrong-again"],
)
def test_the_first_launch_that_is_wrong_decides(
    tmp_path: Path,
    first: NDArray[np.float32],
    again: NDArray[np.float32] | None,
    mismatched: int,
    note: str,
) -> None:
    kernel = declare_twice(tmp_path)
    repeated = None if again is None else {"y": again}
    agreement = compare_launches(kernel, kernel.cases[0], {"y": EXPECTED}, {"y": first}, repeated)
    (comparison,) = agreement.comparisons
    assert (agreement.holds, comparison.mismatched, agreement.note) == (mismatched == 0, mismatched, note)


def test_elements_that_nobody_wrote_are_told_from_wrong_ones(tmp_path: Path) -> None:
    kernel = declare_twice(tmp_path)
    poison = np.frombuffer(bytes.fromhex("f97ff97f"), np.float32)
    for first, note in (
        (np.concatenate([RIGHT[:1], poison, poison]), "2 of 3 elements of 'y' were never written"),
        (np.array([1.0, np.nan, 4.0], np.float32), ""),
    ):
        assert compare_launches(kernel, kernel.cases[0], {"y": EXPECTED}, {"y": first}, None).note == note
