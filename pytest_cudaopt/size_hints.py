"""What a condition says of one size while the others are known: bounds, steps, single values.

Conditions are looked at by their outermost operator and by what their sides give at a few values, so that
`n % 8 == 0`, `heads % kv_heads == 0`, `a <= b` and `m * n == 1000` need no special spelling.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.size_space import Sizes, Space, base_names

LONGEST_PERIOD = 512
_COMPARISONS = ("<", "<=", ">", ">=", "==")


@dataclass(frozen=True)
class Hint:
    """What a condition says of one size: values near which it turns, and the period of a remainder.

    `offset` is the one remainder that will do, if it is one only.
    """

    values: tuple[int, ...] = ()
    period: int = 1
    offset: int | None = None
    recognised: bool = True


@dataclass(frozen=True)
class Line:
    """One size going from `low` to `high`, the known ones as they are."""

    space: Space
    known: Sizes
    name: str
    low: int
    high: int

    def at(self, value: int) -> dict[str, int]:
        return self.space.with_derived({**self.known, self.name: value})

    def value(self, expression: Expression, at: int) -> int | None:
        try:
            return expression.evaluate(self.at(at))
        except CudaoptError:
            return None


def hint(condition: Expression, line: Line) -> Hint:
    """Return what `condition`, decided but for the size of `line`, says of it."""
    operator, sides = condition.operation or ("", ())
    if operator == "not":
        # `not a % b` is another way to write `a % b == 0`.
        return _remainder(sides[0], None, line) or Hint(recognised=False)
    if operator not in _COMPARISONS:
        return Hint(recognised=False)
    left, right = sides
    if operator == "==":
        for side, other in ((left, right), (right, left)):
            if line.name not in _names_at(other, line) and (found := _remainder(side, other, line)):
                return found
    return _linear(left, right, line)


def _remainder(side: Expression, rest: Expression | None, line: Line) -> Hint | None:
    """Return what `side == rest` says if `side` is a remainder; no `rest` stands for 0."""
    operator, operands = side.operation or ("", ())
    wanted = 0 if rest is None else line.value(rest, line.low)
    if operator != "%" or wanted is None:
        return None
    number, modulus = operands
    if line.name in _names_at(modulus, line):
        return _of_divisors(number, wanted, line)
    period, start = line.value(modulus, line.low), line.value(number, line.low)
    if not period or period < 0 or start is None or (slope := _slope(number, line)) is None:
        return None
    if abs(slope) == 1:
        first = line.low + slope * (wanted - start) % period
        return Hint((first,), period, first)
    # Steps that may skip remainders: look for the first that fits.
    window = range(min(period, LONGEST_PERIOD))
    fitting = [line.low + step for step in window if (start + slope * step - wanted) % period == 0]
    return Hint(tuple(fitting[:1]), period)


def _of_divisors(number: Expression, wanted: int, line: Line) -> Hint | None:
    value = line.value(number, line.low)
    if line.name in _names_at(number, line) or wanted or not value:
        return None
    return Hint(tuple(divisor for divisor in _divisors(abs(value)) if divisor >= line.low))


def _linear(left: Expression, right: Expression, line: Line) -> Hint:
    """Return where a comparison of two sides turns, if both grow evenly."""
    slopes = _slope(left, line), _slope(right, line)
    starts = line.value(left, line.low), line.value(right, line.low)
    if slopes[0] is None or slopes[1] is None or starts[0] is None or starts[1] is None:
        return Hint(recognised=False)
    slope = slopes[0] - slopes[1]
    return Hint((line.low - (starts[0] - starts[1]) // slope,) if slope else ())


def _slope(expression: Expression, line: Line) -> int | None:
    """Return by how much the value grows with the size, if always by the same amount."""
    first, second, last = (line.value(expression, at) for at in (line.low, line.low + 1, line.high))
    if first is None or second is None or last is None:
        return None
    slope = second - first
    return slope if last == first + slope * (line.high - line.low) else None


def _names_at(expression: Expression, line: Line) -> frozenset[str]:
    between: dict[str, frozenset[str]] = {}
    for name, derived in line.space.derived:
        between[name] = base_names(derived, between)
    return base_names(expression, between)


def _divisors(value: int) -> list[int]:
    if value > 1 << 32:
        return [1, value]
    small = [d for d in range(1, math.isqrt(value) + 1) if value % d == 0]
    return sorted({*small, *(value // d for d in small)})
