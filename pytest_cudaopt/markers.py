"""Markers for a kernel's parameters, as they stand in the declared function's defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Never

from pytest_cudaopt import expressions
from pytest_cudaopt.dtypes import DType, TypeName
from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.parameters import ORACLES, Marker, Role
from pytest_cudaopt.tolerance import STRICT, Bound, Judging, Tolerance, require_judgeable
from pytest_cudaopt.values import ValueCallable, ValueSource, as_source, default_source


def In(
    dtype: DType | str,
    *shape: str | int,
    values: ValueSource | ValueCallable | None = None,
    oracle: str = "float64",
    strides: tuple[str | int, ...] | None = None,
    optional: bool = False,
    **unknown: Never,
) -> Marker:
    """Mark an array the kernel only reads; `shape` holds sizes, numbers or expressions.

    A text as `dtype`, here and in every marker, names one of the kernel's `types=`. The reference gets floats
    as float64; with `oracle="stored"` in the stored dtype. `strides` are the elements from one neighbour to
    the next in each dimension (default: C order, without gaps); one of 0 repeats the same elements.
    `optional`: a case may pass a null pointer by `NAME=None`.
    """
    _require_no_unknown(In, unknown)
    return _array(Role.IN, dtype, shape, values=values, oracle=oracle, strides=strides, optional=optional)


def Out(
    dtype: DType | str,
    *shape: str | int,
    exact: bool = False,
    rtol: Bound | None = None,
    atol: Bound | None = None,
    ulp: float | None = None,
    unwritten: str = "error",
    oracle: str = "float64",
    strides: tuple[str | int, ...] | None = None,
    optional: bool = False,
    **unknown: Never,
) -> Marker:
    """Mark an array the kernel writes completely; `exact` compares bit for bit.

    `rtol`, `atol` and `ulp` (units in the last place of the stored dtype) win over the kernel's and the
    dtype's tolerance; the widest of them counts. What the reference leaves `unwritten` is an "error" of its,
    must be "kept" as it was, or may be "any". `strides` and `optional` are those of `In`; what lies between
    the elements must stay as it was.
    """
    _require_no_unknown(Out, unknown)
    tolerance = Tolerance.of(rtol, atol, ulp)
    judging = require_judgeable(dtype, exact, tolerance, unwritten, is_written_whole=True)
    return _array(
        Role.OUT,
        dtype,
        shape,
        exact=exact,
        judging=judging,
        oracle=oracle,
        strides=strides,
        optional=optional,
    )


def InOut(
    dtype: DType | str,
    *shape: str | int,
    values: ValueSource | ValueCallable | None = None,
    exact: bool = False,
    rtol: Bound | None = None,
    atol: Bound | None = None,
    ulp: float | None = None,
    unwritten: str = "error",
    oracle: str = "float64",
    strides: tuple[str | int, ...] | None = None,
    optional: bool = False,
    **unknown: Never,
) -> Marker:
    """Mark an array the kernel reads and updates; judged as an Out is."""
    _require_no_unknown(InOut, unknown)
    tolerance = Tolerance.of(rtol, atol, ulp)
    judging = require_judgeable(dtype, exact, tolerance, unwritten, is_written_whole=False)
    return _array(
        Role.INOUT,
        dtype,
        shape,
        values=values,
        exact=exact,
        judging=judging,
        oracle=oracle,
        strides=strides,
        optional=optional,
    )


def Scratch(dtype: DType | str, *shape: str | int, **unknown: Never) -> Marker:
    """Mark an array the kernel may use as it likes; it starts poisoned and is never compared."""
    _require_no_unknown(Scratch, unknown)
    return _array(Role.SCRATCH, dtype, shape)


def Constant(
    dtype: DType | str,
    *shape: str | int,
    symbol: str | None = None,
    values: ValueSource | ValueCallable | None = None,
    **unknown: Never,
) -> Marker:
    """Mark a `__constant__` or `__device__` variable of the source, which is written before each launch.

    `symbol` is its name in C++, such as `ns::taps`; by default that of the parameter. It is no parameter of
    the kernel, and has exactly the elements of `shape`.
    """
    _require_no_unknown(Constant, unknown)
    if symbol is not None and not (isinstance(symbol, str) and symbol.strip()):
        raise DeclarationError("Constant(symbol=)", expected="the variable's name", got=repr(symbol))
    return replace(_array(Role.IN, dtype, shape, values=values), symbol=symbol or "")


def Scalar(
    dtype: DType | str,
    value: float | str | None = None,
    *,
    values: ValueSource | ValueCallable | None = None,
    derive: str | None = None,
    **unknown: Never,
) -> Marker:
    """Mark a scalar: a fixed number, an expression over sizes, drawn `values`, or else a size.

    `derive="cols + pad"` says the same as the text alone.
    """
    _require_no_unknown(Scalar, unknown)
    dtype = _dtype("Scalar", dtype)
    if derive is not None:
        if value is not None:
            raise DeclarationError("Scalar", expected="value or derive=", got="both")
        value = str(derive)
    if value is not None and values is not None:
        raise DeclarationError("Scalar", expected="value or values=", got="both")
    if value is None and values is None and (isinstance(dtype, TypeName) or dtype.is_float):
        raise DeclarationError(
            f"Scalar({dtype})",
            expected="a value or values=, since a float cannot be a size",
            got="neither",
            next_step=f"Write Scalar({dtype}, 1.0) or Scalar({dtype}, values=uniform(0, 1))",
        )
    return Marker(
        Role.SCALAR,
        dtype,
        value=expressions.parse(value) if isinstance(value, str) else value,
        values=None if values is None else as_source(values),
    )


def _require_no_unknown(marker: Callable[..., Marker], unknown: Mapping[str, object]) -> None:
    """Raise DeclarationError for a keyword that `marker` does not have."""
    taken = inspect.signature(marker).parameters.values()
    keywords = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
    for name in unknown:
        raise DeclarationError(
            f"{marker.__name__}({name}=)",
            expected=f"one of {', '.join(keywords)}" if keywords else "no keyword",
            got=f"'{name}'",
            next_step=did_you_mean(name, keywords),
        )


def _array(
    role: Role,
    dtype: DType | str,
    shape: tuple[str | int, ...],
    *,
    values: ValueSource | ValueCallable | None = None,
    exact: bool = False,
    judging: Judging = STRICT,
    oracle: str = "float64",
    strides: tuple[str | int, ...] | None = None,
    optional: bool = False,
) -> Marker:
    dtype = _dtype(role.value.capitalize(), dtype)
    if not shape:
        raise DeclarationError(
            f"{role.value.capitalize()}({dtype})",
            expected="at least one extent, such as 'n' or 1",
            got="no shape",
        )
    if oracle not in ORACLES:
        raise DeclarationError(
            "oracle=",
            expected=f"one of {', '.join(ORACLES)}",
            got=repr(oracle),
            next_step="'stored' hands the reference the array in its stored dtype",
        )
    source: ValueSource | None = None
    if role in (Role.IN, Role.INOUT):
        source = _source(dtype, values)
    extents = tuple(expressions.parse(extent) for extent in shape)
    steps = None if strides is None else _strides(f"{role.value.capitalize()}({dtype})", strides, extents)
    return Marker(
        role,
        dtype,
        extents,
        values=source,
        exact=exact,
        judging=judging,
        oracle=oracle,
        strides=steps,
        optional=optional,
    )


def _strides(what: str, strides: object, shape: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return one expression per dimension of `shape`."""
    if not isinstance(strides, tuple | list) or len(strides) != len(shape):
        raise DeclarationError(
            f"{what} strides=",
            expected=f"{len(shape)} of them, as many as dimensions",
            got=repr(strides),
            next_step="Give the elements from one neighbour to the next in each dimension: strides=('ld', 1)",
        )
    return tuple(expressions.parse(stride) for stride in strides)


def _source(dtype: DType, values: ValueSource | ValueCallable | None) -> ValueSource | None:
    """Return where contents come from; None if that depends on a dtype the case chooses."""
    if values is not None:
        return as_source(values)
    return None if isinstance(dtype, TypeName) else default_source(dtype)


def _dtype(what: str, dtype: DType | str) -> DType:
    if isinstance(dtype, str):
        return TypeName(dtype)
    if not isinstance(dtype, DType):
        raise DeclarationError(
            what,
            expected="a dtype of this package such as f32, or the name of one in types=",
            got=repr(dtype),
        )
    return dtype
