"""A kernel's parameters as declared: what it does with them, and how they lie in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.dtypes import DType, TypeName
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.tolerance import STRICT, Judging
from pytest_cudaopt.values import ValueSource, default_source

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
