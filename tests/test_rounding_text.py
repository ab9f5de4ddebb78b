"""Rounding errors as a person reads them."""

from __future__ import annotations

from pytest_cudaopt.rounding_error import Distance, ErrorSplit, RoundingLoss
from pytest_cudaopt.rounding_text import rounding_lines
from pytest_cudaopt.sanitized import Sanitized


def split(output: str, rounding: float, logic: float, undecided: int = 0) -> ErrorSplit:
    return ErrorSplit(output, 2.0, Distance(rounding), Distance(logic), 10, 10 - undecided, 0, undecided)


def loss(mean_growth: float, line: int | None) -> RoundingLoss:
    return RoundingLoss(mean_growth, 0.9, 0.25, 0.5, file="sum.cu", line=line)


def test_each_output_has_its_largest_errors_over_all_cases() -> None:
    small = Sanitized(("forward",), errors=(split("y", 2e-7, 4e-16), split("z", 0.0, 0.0)))
    large = Sanitized(("forward",), errors=(split("y", 1e-7, 4e-3, undecided=3),))
    assert rounding_lines([small, large]) == (
        "y: rounding error 1e-07, logic error 0.002 of its largest value; 3 elements undecided",
        "z: rounding error 0, logic error 0 of its largest value",
    )


def test_the_line_that_loses_most_digits_is_named() -> None:
    found = [Sanitized(("forward",), loss=loss(0.1, 7)), Sanitized(("forward",), loss=loss(0.5, 9))]
    assert rounding_lines(found) == ("most digits are lost at sum.cu:9: 0.25 where float64 has 0.5",)
    assert rounding_lines([Sanitized(loss=loss(0.1, None))])[0].startswith("most digits are lost: 0.25")


def test_where_nothing_was_followed_nothing_is_said() -> None:
    assert rounding_lines([Sanitized(("forward",))]) == ()
