"""Which launch is held against the reference, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_up_runs import declare_twice
from numpy.typing import NDArray

from pytest_cudaopt import In, Out, case, f8e4m3, f32, i32, kernel
from pytest_cudaopt.agreement import WRONG_AGAIN, compare_launches
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.reference import compute_expected

EXPECTED = np.array([1.0, 2.0, 4.0])
RIGHT = EXPECTED.astype(np.float32)
CLOSE = (EXPECTED * (1 + 1e-6)).astype(np.float32)
WRONG = np.array([1.0, 2.0, 5.0], np.float32)
WORSE = np.array([0.0, 0.0, 0.0], np.float32)


def expecting(kernel: Kernel, **marked: NDArray[np.bool_]) -> Expectation:
    return Expectation(bind(kernel, kernel.cases[0]), {"y": EXPECTED}, marked)


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
    agreement = compare_launches(kernel, expecting(kernel), {"y": first}, repeated)
    (comparison,) = agreement.comparisons
    assert (agreement.holds, comparison.mismatched, agreement.note) == (mismatched == 0, mismatched, note)


def test_elements_that_nobody_wrote_are_told_from_wrong_ones(tmp_path: Path) -> None:
    kernel = declare_twice(tmp_path)
    poison = np.frombuffer(bytes.fromhex("f97ff97f"), np.float32)
    for first, note in (
        (np.concatenate([RIGHT[:1], poison, poison]), "2 of 3 elements of 'y' were never written"),
        (np.array([1.0, np.nan, 4.0], np.float32), ""),
    ):
        assert compare_launches(kernel, expecting(kernel), {"y": first}, None).note == note


def declare_masked(unwritten: str) -> Kernel:
    @kernel("masked.cu", cases=[case(n=3)])
    def masked(x=In(f32, "n"), y=Out(f32, "n", unwritten=unwritten), n=i32):
        y[1:] = EXPECTED[1:]

    return masked


POISONED = np.concatenate([np.frombuffer(bytes.fromhex("f97ff97f"), np.float32), RIGHT[1:]])
POISONED_AGAIN = np.concatenate([np.frombuffer(bytes.fromhex("3c3c3c3c"), np.float32), RIGHT[1:]])
OVERWRITTEN = "1 of 3 elements of 'y' were overwritten, though the reference keeps them"


@pytest.mark.parametrize(
    ("unwritten", "first", "again", "mismatched", "note"),
    [
        ("kept", POISONED, POISONED_AGAIN, 0, ""),
        ("kept", RIGHT, None, 1, OVERWRITTEN),
        # As the first launch found it, which is not how the second one did.
        ("kept", POISONED, POISONED, 1, WRONG_AGAIN),
        ("kept", np.array([1.0, 2.0, 5.0], np.float32), None, 2, OVERWRITTEN),
        # Those nobody had to write are no news.
        ("kept", np.concatenate([POISONED[:1], WRONG[1:]]), None, 1, ""),
        ("any", POISONED, RIGHT, 0, ""),
        ("any", RIGHT, None, 0, ""),
        ("any", WRONG, None, 1, ""),
    ],
)
def test_what_the_reference_leaves_unwritten_is_kept_or_free(
    unwritten: str,
    first: NDArray[np.float32],
    again: NDArray[np.float32] | None,
    mismatched: int,
    note: str,
) -> None:
    declared = declare_masked(unwritten)
    expected = compute_expected(declared, bind(declared, declared.cases[0]))
    assert expected.unwritten["y"].tolist() == [True, False, False]
    repeated = None if again is None else {"y": again}
    agreement = compare_launches(declared, expected, {"y": first}, repeated)
    (comparison,) = agreement.comparisons
    assert (comparison.mismatched, agreement.note) == (mismatched, note)


def test_unwritten_is_a_fault_of_the_reference_unless_allowed() -> None:
    declared = declare_masked("error")
    with pytest.raises(ReferenceFault, match="got 1 of 3 left unwritten"):
        compute_expected(declared, bind(declared, declared.cases[0]))


def test_integers_are_not_loosened_by_what_is_for_floats() -> None:
    @kernel("two.cu", cases=[case(n=2)], rtol=0.5, atol=5)
    def two(y=Out(f32, "n"), count=Out(i32, "n"), near=Out(i32, "n", atol=1), n=i32):
        y[...], count[...], near[...] = 1, 1, 1

    expected = compute_expected(two, bind(two, two.cases[0]))
    off = np.array([1, 2])
    outputs = {"y": off.astype(np.float32), "count": off.astype(np.int32), "near": off.astype(np.int32)}
    agreement = compare_launches(two, expected, outputs, None)
    assert [comparison.mismatched for comparison in agreement.comparisons] == [0, 1, 0]


def test_a_tolerance_over_sizes_is_that_of_the_case() -> None:
    @kernel("sums.cu", cases=[case(n=1), case(n=100)], rtol=0, atol="1e-3*sqrt(n)")
    def sums(y=Out(f32, 1), n=i32):
        y[...] = 1

    for one, holds in zip(sums.cases, (False, True), strict=True):
        expected = compute_expected(sums, bind(sums, one))
        agreement = compare_launches(sums, expected, {"y": np.array([1.005], np.float32)}, None)
        assert agreement.holds is holds


def test_of_one_byte_nobody_can_tell_what_was_never_written() -> None:
    @kernel("a.cu", cases=[case(n=2)])
    def eights(y=Out(f8e4m3, "n"), n=i32):
        y[...] = 1

    expected = compute_expected(eights, bind(eights, eights.cases[0]))
    outputs = {"y": np.array([0x7F, 0x38], np.uint8).view(f8e4m3.numpy)}
    agreement = compare_launches(eights, expected, outputs, None)
    assert (agreement.holds, agreement.note) == (False, "")
