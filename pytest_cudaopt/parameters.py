"""Markers for a kernel's parameters, as they stand in the declared function's defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pytest_cudaopt import expressions
from pytest_cudaopt.dtypes import DType, TypeName
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.tolerance import STRICT, Bound, Judging, Tolerance, require_judgeable
from pytest_cudaopt.values import ValueCallable, ValueSource, as_source, default_source

if TYPE_CHECKING:
    import numpy as np

STORED = "stored"
ORACLES = ("float64", STORED)


class Role(StrEnum):
    """What a kernel does with a parameter."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    SCRATCH = "scratch"
    SCALAR = "scalar"


@dataclass(frozen=True)
class Marker:
    """A parameter without its name: what `In(f32, "rows", "cols")` returns.

    `shape` is in elements and empty for scalars. `value` is a scalar's fixed number or its expression
    over sizes; a scalar with neither `value` nor `values` is a size of its own name.
    """

    role: Role
    dtype: DType
    shape: tuple[Expression, ...] = ()
    values: ValueSource | None = None
    value: float | Expression | None = None
    exact: bool = False
    judging: Judging = STRICT
    oracle: str = "float64"
    strides: tuple[Expression, ...] | None = None
    optional: bool = False
    symbol: str | None = None


@dataclass(frozen=True)
class StructOf:
    """The struct that a parameter is a member of: its C++ type, and the name it is declared by."""

    type_name: str
    name: str


@dataclass(frozen=True)
class Parameter:
    """A declared parameter of a kernel, or a member of a struct among them.

    `dtype` is a TypeName where each case chooses it. `strides` are in elements, one per dimension; None is C
    order. `symbol` names the module's variable that a constant is; the kernel takes no argument for it.
    """

    name: str
    role: Role
    dtype: DType
    shape: tuple[Expression, ...]
    values: ValueSource | None
    value: float | Expression | None
    exact: bool
    judging: Judging = STRICT
    oracle: str = "float64"
    strides: tuple[Expression, ...] | None = None
    optional: bool = False
    symbol: str | None = None
    struct: StructOf | None = None

    @classmethod
    def named(cls, name: str, marker: Marker, struct: StructOf | None = None) -> Parameter:
        """Give `marker` its name, within `struct` if it is a member of one."""
        return cls(
            name=name,
            role=marker.role,
            dtype=marker.dtype,
            shape=marker.shape,
            values=marker.values,
            value=marker.value,
            exact=marker.exact,
            judging=marker.judging,
            oracle=marker.oracle,
            strides=marker.strides,
            optional=marker.optional,
            symbol=name if marker.symbol == "" else marker.symbol,
            struct=struct,
        )

    def at(self, types: Mapping[str, DType]) -> Parameter:
        """Return the parameter with the dtype that `types` holds for its type, if it has one."""
        if not isinstance(self.dtype, TypeName):
            return self
        dtype = types[self.dtype.name]
        values = self.values
        if values is None and self.has_contents:
            values = default_source(dtype)
        return replace(self, dtype=dtype, values=values)

    @property
    def is_array(self) -> bool:
        return self.role is not Role.SCALAR

    @property
    def is_size(self) -> bool:
        """True for a scalar whose value is the size of the same name."""
        return self.role is Role.SCALAR and self.value is None and self.values is None

    @property
    def is_output(self) -> bool:
        return self.role in (Role.OUT, Role.INOUT)

    @property
    def has_contents(self) -> bool:
        """True if the array holds defined values before the launch."""
        return self.role in (Role.IN, Role.INOUT)

    @property
    def oracle_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype in which the reference gets and gives the array."""
        return self.dtype.numpy if self.oracle == STORED else self.dtype.oracle

    @property
    def cuda_types(self) -> tuple[str, ...]:
        """The C++ types the kernel's parameter may have, the usual one first."""
        if not self.is_array:
            return self.dtype.cuda
        pointers = tuple(f"{spelling}*" for spelling in self.dtype.cuda)
        if self.role is Role.IN:
            return tuple(f"const {pointer}" for pointer in pointers) + pointers
        return pointers


def In(
    dtype: DType | str,
    *shape: str | int,
    values: ValueSource | ValueCallable | None = None,
    oracle: str = "float64",
    strides: tuple[str | int, ...] | None = None,
    optional: bool = False,
) -> Marker:
    """Mark an array the kernel only reads; `shape` holds sizes, numbers or expressions.

    A text as `dtype`, here and in every marker, names one of the kernel's `types=`. The reference gets floats
    as float64; with `oracle="stored"` in the stored dtype. `strides` are the elements from one neighbour to
    the next in each dimension (default: C order, without gaps); one of 0 repeats the same elements.
    `optional`: a case may pass a null pointer by `NAME=None`.
    """
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
) -> Marker:
    """Mark an array the kernel writes completely; `exact` compares bit for bit.

    `rtol`, `atol` and `ulp` (units in the last place of the stored dtype) win over the kernel's and the
    dtype's tolerance; the widest of them counts. What the reference leaves `unwritten` is an "error" of its,
    must be "kept" as it was, or may be "any". `strides` and `optional` are those of `In`; what lies between
    the elements must stay as it was.
    """
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
) -> Marker:
    """Mark an array the kernel reads and updates; judged as an Out is."""
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


def Scratch(dtype: DType | str, *shape: str | int) -> Marker:
    """Mark an array the kernel may use as it likes; it starts poisoned and is never compared."""
    return _array(Role.SCRATCH, dtype, shape)


def Constant(
    dtype: DType,
    *shape: str | int,
    symbol: str | None = None,
    values: ValueSource | ValueCallable | None = None,
) -> Marker:
    """Mark a `__constant__` or `__device__` variable of the source, which is written before each launch.

    `symbol` is its name in C++, such as `ns::taps`; by default that of the parameter. It is no parameter of
    the kernel, and has exactly the elements of `shape`.
    """
    if symbol is not None and not (isinstance(symbol, str) and symbol.strip()):
        raise DeclarationError("Constant(symbol=)", expected="the variable's name", got=repr(symbol))
    return replace(_array(Role.IN, dtype, shape, values=values), symbol=symbol or "")


def Scalar(
    dtype: DType | str,
    value: float | str | None = None,
    *,
    values: ValueSource | ValueCallable | None = None,
    derive: str | None = None,
) -> Marker:
    """Mark a scalar: a fixed number, an expression over sizes, drawn `values`, or else a size.

    `derive="cols + pad"` says the same as the text alone.
    """
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
