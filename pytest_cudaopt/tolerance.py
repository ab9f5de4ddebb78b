"""How a declaration says what an output is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pytest_cudaopt import float_expressions
from pytest_cudaopt.dtypes import DType, TypeName
from pytest_cudaopt.errors import DeclarationError, ExpressionError
from pytest_cudaopt.float_expressions import FloatExpression

Bound = str | float


class Unwritten(StrEnum):
    """What an element of an Out means that the reference leaves unwritten."""

    ERROR = "error"
    KEPT = "kept"
    ANY = "any"


@dataclass(frozen=True)
class Tolerance:
    """Accept `|got - expected| <= atol + rtol * |expected|`, or `ulp` units in the last place if more.

    None leaves a part to whoever is asked next: an output's own, the kernel's, the dtype's default.
    """

    rtol: FloatExpression | None = None
    atol: FloatExpression | None = None
    ulp: float | None = None

    @classmethod
    def of(cls, rtol: Bound | None, atol: Bound | None, ulp: float | None = None) -> Tolerance:
        """Parse the parts; raise DeclarationError for one that no sizes can make a bound."""
        if ulp is not None and (
            isinstance(ulp, bool) or not isinstance(ulp, int | float) or not 0 <= ulp < float("inf")
        ):
            raise DeclarationError("ulp=", expected="a finite number >= 0", got=repr(ulp))
        return cls(_bound("rtol", rtol), _bound("atol", atol), ulp)

    @property
    def is_given(self) -> bool:
        """Whether any part is."""
        return (self.rtol, self.atol, self.ulp) != (None, None, None)


@dataclass(frozen=True)
class Judging:
    """How a marker says what its output is judged by."""

    tolerance: Tolerance = Tolerance()
    unwritten: Unwritten = Unwritten.ERROR


STRICT = Judging()


def require_judgeable(
    dtype: object, exact: bool, tolerance: Tolerance, unwritten: str, is_written_whole: bool
) -> Judging:
    """Return how an output is judged; raise DeclarationError for rules that contradict each other."""
    if exact and tolerance.is_given:
        raise DeclarationError("exact=True", expected="no tolerance beside it", got="rtol=, atol= or ulp=")
    if isinstance(dtype, DType) and not isinstance(dtype, TypeName):
        require_fitting(dtype, tolerance)
    if unwritten not in tuple(Unwritten):
        raise DeclarationError(
            "unwritten=",
            expected=f"one of {', '.join(Unwritten)}",
            got=repr(unwritten),
            next_step="'kept': the kernel must leave them as they were; 'any': they are not compared",
        )
    if unwritten != Unwritten.ERROR and not is_written_whole:
        raise DeclarationError(
            "unwritten=", expected="an Out: elements of an InOut keep their values anyway", got="an InOut"
        )
    return Judging(tolerance, Unwritten(unwritten))


def require_fitting(dtype: DType, tolerance: Tolerance) -> None:
    """Raise DeclarationError for a tolerance that outputs of `dtype` cannot have."""
    if tolerance.ulp is not None and not dtype.is_float:
        raise DeclarationError(
            "ulp=",
            expected="an output of floats",
            got=f"one of {dtype}",
            next_step="Write atol=1 to allow integers to be off by one",
        )
    if dtype.kind == "bool" and tolerance.is_given:
        raise DeclarationError("rtol=, atol=", expected="an output of numbers", got=f"one of {dtype}")


def _bound(name: str, bound: Bound | None) -> FloatExpression | None:
    if bound is None:
        return None
    try:
        parsed = float_expressions.parse(bound)
        if not parsed.names:
            bound_at(parsed, {})
    except ExpressionError as error:
        if not isinstance(bound, str):
            raise DeclarationError(f"{name}=", expected="a finite number >= 0", got=repr(bound)) from error
        raise DeclarationError(f"{name}=: {error.what}", expected=error.expected, got=error.got) from error
    return parsed


def bound_at(bound: FloatExpression, sizes: Mapping[str, int]) -> float:
    """Return the value for these sizes; raise ExpressionError where there is none, or a negative one."""
    value = bound.evaluate(sizes)
    if value < 0:
        given = ", ".join(f"{name}={sizes[name]}" for name in sorted(bound.names))
        raise ExpressionError(
            f"expression '{bound}'",
            expected="a number >= 0",
            got=f"{value:g} ({given})" if given else f"{value:g}",
        )
    return value
