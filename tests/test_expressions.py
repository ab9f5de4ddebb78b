"""The expression grammar of shapes, launch rules and work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_cudaopt.errors import ExpressionError
from pytest_cudaopt.expressions import Expression, parse

VALUES = {"n": 1000, "m": 7, "BLOCK": 256, "zero": 0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("n", 1000),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("n / m", 142),
        ("n // m", 142),
        ("n % m", 6),
        ("-n / m", -143),
        ("-n + 1", -999),
        ("--n", 1000),
        ("-2 * -3", 6),
        ("n*4/BLOCK", 15),
        ("cdiv(n, BLOCK)", 4),
        ("cdiv(0, BLOCK)", 0),
        ("align_up(n, 16)", 1008),
        ("align_up(n, 8)", 1000),
        ("min(n, m, 3)", 3),
        ("max(n)", 1000),
        ("next_pow2(n)", 1024),
        ("next_pow2(1024)", 1024),
        ("next_pow2(0)", 1),
        ("where(n > m, 1, 2)", 1),
        ("where(n < m, 1, 2)", 2),
        ("n >= 1000", 1),
        ("n != 1000", 0),
        ("n == 1000 and m == 7", 1),
        ("n == 1 or m == 7", 1),
        ("not n", 0),
        ("not not n", 1),
        ("not n == 1", 1),
        ("1 or 0 and 0", 1),
        ("min(n, where(m, BLOCK, 0)) + 1", 257),
    ],
)
def test_a_text_has_the_value(text: str, value: int) -> None:
    assert parse(text).evaluate(VALUES) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("zero > 0 and 8 / zero > 2", 0), ("zero == 0 or 8 / zero > 2", 1), ("where(zero, 8 / zero, 5)", 5)],
)
def test_what_is_not_chosen_is_not_evaluated(text: str, value: int) -> None:
    assert parse(text).evaluate(VALUES) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected a number, a name or '(', got the end"),
        ("n +", "expected a number, a name or '(', got the end"),
        ("(n", "expected ')', got the end"),
        ("n)", "expected the end or an operator, got ')'"),
        ("n m", "expected the end or an operator, got 'm'"),
        ("n < m < 3", "expected one comparison"),
        ("sqrt(n)", "expected a function among align_up, cdiv"),
        ("cdiv(n)", "expected 2 arguments of cdiv, got 1"),
        ("where(1, 2, 3, 4)", "expected 3 arguments of where, got 4"),
        ("n ** 2", "expected a number, a name or '(', got '*'"),
        ("n.x", "expected integers, names, operators and parentheses, got '.'"),
        ("'a'", "got '''"),
        ("1.5", "got '.'"),
        ("(" * 100 + "1" + ")" * 100, "an expression less deeply nested"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert complaint in str(caught.value)


def test_a_missing_name_is_named_with_the_known_ones() -> None:
    with pytest.raises(ExpressionError, match=r"expected names among: m, n, got 'rows'"):
        parse("rows + 1").evaluate({"n": 1, "m": 2})


def test_a_division_by_zero_names_the_values() -> None:
    with pytest.raises(ExpressionError, match=r"a division by zero \(n=1000, zero=0\)"):
        parse("n % zero").evaluate(VALUES)


@pytest.mark.parametrize("value", [True, 1.5, None, b"n"])
def test_only_text_and_integers_are_parsed(value: object) -> None:
    with pytest.raises(ExpressionError, match="expected text or an integer"):
        parse(value)  # type: ignore[arg-type]


def test_an_integer_and_an_expression_pass_through() -> None:
    assert parse(-3).constant == -3
    assert parse(parse("n")) is parse("n")


def test_names_and_constant_tell_what_is_needed() -> None:
    assert parse("cdiv(n, BLOCK) + 1").names == {"n", "BLOCK"}
    assert parse("cdiv(n, BLOCK)").constant is None
    assert parse("2 * 64").constant == 128
    assert str(parse("  2 * 64 ")) == "2 * 64"


# Python agrees with the grammar on precedence, floor division and remainder.
_LEAVES = st.integers(0, 50).map(str) | st.sampled_from(["n", "m"])
_TEXTS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None)
@given(_TEXTS)
def test_arithmetic_agrees_with_python(text: str) -> None:
    expression: Expression = parse(text)
    try:
        expected = eval(text, {"n": 11, "m": 3})  # noqa: S307 - made of digits and operators above
    except ZeroDivisionError:
        with pytest.raises(ExpressionError):
            expression.evaluate({"n": 11, "m": 3})
    else:
        assert expression.evaluate({"n": 11, "m": 3}) == expected


@pytest.mark.parametrize(
    ("text", "operator", "operands"),
    [
        ("n % 8 == 0", "==", ["(n % 8)", "0"]),
        ("a and not b", "and", ["a", "(not b)"]),
        ("cdiv(n, -k)", "cdiv", ["n", "(-k)"]),
        ("a - (b - c)", "-", ["a", "(b - c)"]),
    ],
)
def test_the_outermost_operation_is_told_with_operands_that_parse_again(text, operator, operands):
    found = parse(text).operation

    assert found is not None
    assert (found[0], [str(operand) for operand in found[1]]) == (operator, operands)
    assert [parse(operand.text).evaluate(dict.fromkeys("abckn", 3)) for operand in found[1]] == [
        operand.evaluate(dict.fromkeys("abckn", 3)) for operand in found[1]
    ]


@pytest.mark.parametrize("text", ["7", "n"])
def test_a_number_or_name_is_no_operation(text):
    assert parse(text).operation is None


def test_a_number_that_python_would_not_read_is_refused() -> None:
    assert parse("9" * 100).evaluate({}) == int("9" * 100)
    with pytest.raises(ExpressionError, match="at most 1000 digits, got one of 5000"):
        parse("9" * 5000)
