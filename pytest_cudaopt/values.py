"""Where the contents of input arrays come from: generators, and callables the user writes."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pytest_cudaopt import expressions
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.expressions import Expression

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Shape = tuple[int, ...]
Number = float | Expression
# Else "1/k" would silently be 0, and the array the same everywhere.
_DIVIDES = "Expressions are integers: 1/2 is 0. For fractions write a callable (rng, sizes, drawn) -> array"
# (rng, sizes, drawn) -> array; `drawn` holds the arrays of the parameters before this one.
ValueCallable = Callable[..., Any]


@dataclass(frozen=True)
class Drawing:
    """What a value source may look at: generator, sizes, earlier arrays, wanted shape and dtype."""

    rng: np.random.Generator
    sizes: Mapping[str, int]
    drawn: Mapping[str, NDArray[Any]]
    shape: Shape
    dtype: DType


class WrongArray(DeclarationError):
    """What a callable of `values=` returned does not have the shape or dtype of its parameter."""


@runtime_checkable
class ValueSource(Protocol):
    """Draws one array of the wanted shape and dtype."""

    def draw(self, drawing: Drawing) -> NDArray[Any]: ...


@dataclass(frozen=True)
class Uniform:
    """Floats spread evenly over [low, high); the ends may depend on sizes."""

    low: Number
    high: Number

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return _expressions(self.low, self.high)

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        what = f"uniform({self.low}, {self.high})"
        low, high = (_value(what, end, drawing) for end in (self.low, self.high))
        where = _where(self.expressions, drawing)
        _require_ordered(what, low, high, where)
        if self.expressions and low == high:
            raise DeclarationError(
                what, expected="low < high", got=f"both {low:g}{where}", next_step=_DIVIDES
            )
        return _stored(drawing, drawing.rng.uniform(low, high, drawing.shape))


@dataclass(frozen=True)
class Normal:
    """Normally distributed floats; mean and deviation may depend on sizes."""

    mean: Number
    deviation: Number

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return _expressions(self.mean, self.deviation)

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        what = f"normal({self.mean}, {self.deviation})"
        mean, deviation = (_value(what, number, drawing) for number in (self.mean, self.deviation))
        where = _where(self.expressions, drawing)
        _require_deviation(what, deviation, where)
        if isinstance(self.deviation, Expression) and deviation == 0:
            raise DeclarationError(what, expected="a deviation > 0", got=f"0{where}", next_step=_DIVIDES)
        return _stored(drawing, drawing.rng.normal(mean, deviation, drawing.shape))


@dataclass(frozen=True)
class Integers:
    """Integers spread evenly over low..high, both ends included; the ends may depend on sizes."""

    low: Expression
    high: Expression

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """What depends on sizes."""
        return (self.low, self.high)

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        low, high = self.low.evaluate(drawing.sizes), self.high.evaluate(drawing.sizes)
        if low > high:
            raise DeclarationError(
                f"integers({self.low}, {self.high})",
                expected="low <= high",
                got=f"{low} > {high} for sizes {dict(drawing.sizes)}",
            )
        if not drawing.dtype.is_float:
            return self._draw_stored(low, high, drawing)
        return _stored(drawing, drawing.rng.integers(low, high, drawing.shape, endpoint=True))

    def _draw_stored(self, low: int, high: int, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        stored = drawing.dtype.numpy
        limits = (0, 1) if stored.kind == "b" else (np.iinfo(stored).min, np.iinfo(stored).max)
        if low < limits[0] or high > limits[1]:
            raise DeclarationError(
                f"integers({self.low}, {self.high})",
                expected=f"values a {drawing.dtype} can hold, {limits[0]}..{limits[1]}",
                got=f"{low}..{high} for sizes {dict(drawing.sizes)}",
            )
        # Drawn in a type that holds both ends: int64 is too small for the upper half of u64.
        wide = np.uint64 if low >= 0 else np.int64
        return drawing.rng.integers(low, high, drawing.shape, dtype=wide, endpoint=True).astype(stored)


@dataclass(frozen=True)
class FromCallable:
    """Whatever a user's `(rng, sizes, drawn) -> array` returns, checked for shape and dtype."""

    function: ValueCallable

    def draw(self, drawing: Drawing) -> NDArray[Any]:
        import numpy as np

        name = getattr(self.function, "__name__", "values")
        try:
            array = np.asarray(self.function(drawing.rng, dict(drawing.sizes), dict(drawing.drawn)))
        except Exception as error:
            # A user's callable may raise anything; its own frames say where.
            frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[1:])
            raise DeclarationError(
                f"values= callable {name}",
                expected="no exception",
                got=f"{type(error).__name__}: {error}\n{''.join(frames)}".rstrip(),
            ) from error
        if array.shape != drawing.shape:
            raise WrongArray(
                f"values= callable {name}",
                expected=f"an array of shape {drawing.shape}",
                got=f"shape {array.shape}",
            )
        wanted = drawing.dtype.numpy
        if array.dtype != wanted and not _converts(array, drawing.dtype):
            raise WrongArray(
                f"values= callable {name}",
                expected=f"dtype {drawing.dtype} or one that converts to it without changing kind",
                got=f"dtype {array.dtype}",
                next_step=f"End it with .astype(...) to {wanted}",
            )
        return _stored(drawing, array)


def uniform(low: float | str = -1.0, high: float | str = 1.0) -> Uniform:
    """Draw floats evenly from [low, high); either may be an (integer) expression over sizes."""
    first, last = _number("uniform(low=)", low), _number("uniform(high=)", high)
    if not isinstance(first, Expression) and not isinstance(last, Expression):
        _require_ordered(f"uniform({low}, {high})", first, last)
    return Uniform(first, last)


def normal(mean: float | str = 0.0, deviation: float | str = 1.0) -> Normal:
    """Draw normally distributed floats; either may be an (integer) expression over sizes."""
    source = Normal(_number("normal(mean=)", mean), _number("normal(deviation=)", deviation))
    if not isinstance(source.deviation, Expression):
        _require_deviation(f"normal({mean}, {deviation})", source.deviation)
    return source


def integers(low: int | str, high: int | str) -> Integers:
    """Draw integers from low to high, both included; either may be an expression over sizes."""
    return Integers(expressions.parse(low), expressions.parse(high))


def default_source(dtype: DType) -> ValueSource:
    """Return what a parameter without `values=` is filled with."""
    if dtype.is_float:
        return Normal(0.0, 1.0)
    if dtype.kind == "bool":
        return integers(0, 1)
    # Small enough that sums of thousands stay inside 32 bits, wide enough to cover 8-bit types.
    low = -100 if dtype.kind == "int" else 0
    return integers(low, 100)


def as_source(values: ValueSource | ValueCallable) -> ValueSource:
    """Accept a generator or a callable; raise DeclarationError for anything else."""
    if isinstance(values, ValueSource):
        return values
    if callable(values):
        return FromCallable(values)
    raise DeclarationError(
        "values=",
        expected="a generator such as uniform(0, 1) or a callable (rng, sizes, drawn) -> array",
        got=repr(values),
    )


def _number(what: str, number: object) -> Number:
    """Return a finite number as it is, and text as an expression."""
    if isinstance(number, str | Expression):
        return expressions.parse(number)
    try:
        value = float(number) if isinstance(number, Real) and not isinstance(number, bool) else math.nan
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise DeclarationError(what, expected="a finite number, or text over sizes", got=repr(number))
    return value


def _expressions(*numbers: Number) -> tuple[Expression, ...]:
    return tuple(number for number in numbers if isinstance(number, Expression))


def _value(what: str, number: Number, drawing: Drawing) -> float:
    if not isinstance(number, Expression):
        return number
    try:
        return float(number.evaluate(drawing.sizes))
    except OverflowError:
        got = f"a number beyond all floats{_where((number,), drawing)}"
        raise DeclarationError(what, expected="finite numbers", got=got) from None


def _where(used: tuple[Expression, ...], drawing: Drawing) -> str:
    return f" for sizes {dict(drawing.sizes)}" if used else ""


def _require_ordered(what: str, low: float, high: float, where: str = "") -> None:
    if low > high:
        raise DeclarationError(what, expected="low <= high", got=f"{low:g} > {high:g}{where}")
    if not math.isfinite(high - low):
        raise DeclarationError(what, expected="ends whose distance is a float64", got=f"{high - low}{where}")


def _require_deviation(what: str, deviation: float, where: str = "") -> None:
    if deviation < 0:
        raise DeclarationError(what, expected="a deviation >= 0", got=f"{deviation:g}{where}")


def _stored(drawing: Drawing, values: Any) -> NDArray[Any]:
    # Loaded at the first draw, since it loads NumPy.
    from pytest_cudaopt.rounding import stored

    return stored(drawing.dtype, values)


def _converts(array: NDArray[Any], dtype: DType) -> bool:
    kinds = {"float": "fiu", "int": "iu", "uint": "iu", "bool": "b"}[dtype.kind]
    return array.dtype.kind in kinds or (array.dtype.kind == "V" and dtype.is_float)
