"""Tolerances as text: what they mean, and what is no tolerance."""

from __future__ import annotations

import math

import pytest

from pytest_cudaopt.errors import ExpressionError
from pytest_cudaopt.float_expressions import parse

SIZES = {"k": 16, "n": 3, "zero": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1e-3*sqrt(k)", 4e-3),
        ("1 / n", 1 / 3),
        ("2**n - 1", 7.0),
        ("-2**2 + 5", 1.0),
        ("2**3**2", 512.0),
        ("k**-0.5", 0.25),
        ("+(n + 1) * 2", 8.0),
        ("log2(k)", 4.0),
        ("max(n, k, 1.5)", 16.0),
        ("min(n)", 3.0),
        (" k ", 16.0),
        (0.5, 0.5),
        (3, 3.0),
    ],
)
def test_values_are_floats(text: str | float, value: float) -> None:
    assert parse(text).evaluate(SIZES) == value


def test_names_are_the_sizes_it_needs() -> None:
    assert parse("1e-3*sqrt(k) + max(n, 1)").names == {"k", "n"}
    assert parse(1e-3).names == frozenset()
    assert parse(parse("k")) == parse("k")
    assert str(parse(" 2*k ")) == "2*k"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 / zero", "expression '1 / zero': got a division by zero (zero=0)"),
        ("zero**-1", "got a root, logarithm or power without a value (zero=0)"),
        ("sqrt(zero - n)", "got a root, logarithm or power without a value (n=3, zero=0)"),
        ("log2(zero)", "got a root, logarithm or power without a value"),
        ("(0 - n)**0.5", "got a root, logarithm or power without a value"),
        ("10.0**k**k", "got a number beyond all floats (k=16)"),
        ("1e308*k", "expected a finite number, got inf (k=16)"),
        # An integer beyond all floats.
        ("0x" + 298 * "f", "expected a finite number, got inf"),
        ("m + 1", "expected names among: k, n, zero, got 'm'"),
    ],
)
def test_a_value_that_is_no_number_says_for_which_sizes(text: str, complaint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text).evaluate(SIZES)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected numbers, sizes, + - * / **"),
        ("1 +", "expected numbers, sizes, + - * / **"),
        ("n; n", "expected numbers, sizes, + - * / **"),
        ("n if k else 1", "got 'n if k else 1'"),
        ("k // 2", "got 'k // 2'"),
        ("k % 2", "got 'k % 2'"),
        ("k < 2", "got 'k < 2'"),
        ("k.real", "got 'k.real'"),
        ("'k'", "got ''k''"),
        ("True", "got 'True'"),
        ("1j", "got '1j'"),
        ("__import__('os')", "expected a function among log2, max, min, sqrt, got '__import__'"),
        ("sqrt(1, 2)", "expected 1 argument of sqrt, got 2"),
        ("max()", "got 'max()'"),
        ("max(k, default=1)", "got 'max(k, default=1)'"),
        ("(lambda: 1)()", "expected numbers, sizes"),
        ("(" * 200 + "1" + ")" * 200, "expected at most 300 characters, got 401"),
        ("1" + "0" * 299, None),
        ("-" * 299 + "1", None),
        (True, "expected a number, or text over sizes, got True"),
        (None, "expected a number, or text over sizes, got None"),
    ],
)
def test_only_the_grammar_is_read(text: object, complaint: str | None) -> None:
    if complaint is None:
        assert math.isfinite(parse(text).evaluate({}))  # type: ignore[arg-type]
        return
    with pytest.raises(ExpressionError) as caught:
        parse(text)  # type: ignore[arg-type]
    assert complaint in str(caught.value)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_a_number_must_be_finite(number: float) -> None:
    with pytest.raises(ExpressionError, match="expected a finite number"):
        parse(number).evaluate({})
