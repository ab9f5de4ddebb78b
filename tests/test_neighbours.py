"""What a reference leaves undetermined, and what it does not: sums that cancel, ties, signs of zeros."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.arguments import Arguments, bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.neighbours import undetermined_signs, without_undetermined
from pytest_cudaopt.reference import compute_expected

NONE = str(Path(__file__).with_name("none.cu"))


def holding(*numbers: float) -> Any:
    return lambda rng, sizes, drawn: np.array(numbers, np.float32)


def summing(*numbers: float, atol: float | None = None) -> Kernel:
    values = holding(*numbers)

    @kernel(NONE, cases=[case(n=len(numbers))], atol=atol)
    def total(x=In(f32, "n", values=values), y=Out(f32, 1), n=i32):
        y[0] = x.sum()

    return total


def judged(made: Kernel, got: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what is expected, and what is left of an output `got` that is not excused."""
    expected = compute_expected(made, bound(made))
    (output,) = expected.arguments.outputs
    outputs = {output.name: np.asarray(got, output.dtype.numpy)}
    return expected.arrays[output.name], without_undetermined(made, expected, outputs)[output.name]


def bound(made: Kernel) -> Arguments:
    return bind(made, made.cases[0])


def test_a_sum_that_cancels_may_be_off_by_what_rounding_takes_of_its_terms() -> None:
    _, left = judged(summing(1000.0, 0.001, -1000.0), [0.0010376])

    assert left[0] == np.float32(0.001)


@pytest.mark.parametrize("got", [0.011, -0.001, 1.0, np.nan])
def test_a_sum_that_cancels_may_not_be_off_by_more(got: float) -> None:
    _, left = judged(summing(1000.0, 0.001, -1000.0), [got])

    assert np.array_equal(left, np.float32([got]), equal_nan=True)


@pytest.mark.parametrize(("got", "left"), [(0.0113, 0.001), (0.0213, 0.0213)])
def test_its_tolerance_is_what_it_may_be_off_beyond_that(got: float, left: float) -> None:
    assert judged(summing(1000.0, 0.001, -1000.0, atol=0.01), [got])[1][0] == np.float32(left)


def test_a_sum_that_does_not_cancel_owes_what_its_tolerance_says() -> None:
    _, left = judged(summing(1000.0, 0.001, 1000.0), [2000.05])

    assert left[0] == np.float32(2000.05)


def largest(*numbers: float) -> Kernel:
    values = holding(*numbers)

    @kernel(NONE, cases=[case(n=len(numbers))])
    def place(x=In(f32, "n", values=values), y=Out(i32, 1), n=i32):
        y[0] = x.argmax()

    return place


def test_a_tie_of_equals_keeps_its_rule() -> None:
    wanted, left = judged(largest(1.0, 3.0, 3.0, 2.0), [2])

    assert (wanted[0], left[0]) == (1, 2)


def test_a_place_that_rounding_decides_may_be_either_but_no_third() -> None:
    made = largest(1.0, 3.0, np.nextafter(np.float32(3), np.float32(2)), 2.0)

    assert judged(made, [2])[1][0] == 1
    assert judged(made, [3])[1][0] == 3


def signs(reference: Any, x: tuple[float, ...]) -> list[bool]:
    values = holding(*x)

    @kernel(NONE, cases=[case(n=len(x))], reference=reference)
    def zeros(x=In(f32, "n", values=values), y=Out(f32, "n"), n=i32):
        """Compute what the reference says."""

    expected = compute_expected(zeros, bound(zeros))
    return list(undetermined_signs(zeros, expected, expected.arguments.outputs[0]))


def test_the_sign_of_a_zero_is_undetermined_where_zeros_are_added() -> None:
    x = (0.0, -0.0, 2.0)

    assert signs(lambda x, y, n: np.copyto(y, x), x) == [False, False, False]
    assert signs(lambda x, y, n: np.copyto(y, x * -3), x) == [False, False, False]
    assert signs(lambda x, y, n: np.copyto(y, x + x[:1]), x) == [False, True, False]
