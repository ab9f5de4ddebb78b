"""What a `__global__` function takes: declared parameters without constants, members of a struct as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_cudaopt.parameters import Parameter, Role

_POINTER_BYTES = 8
_MARKERS = {
    Role.IN: "In",
    Role.OUT: "Out",
    Role.INOUT: "InOut",
    Role.SCRATCH: "Scratch",
    Role.SCALAR: "Scalar",
}


@dataclass(frozen=True)
class Member:
    """A member of a struct and the byte it begins at."""

    parameter: Parameter
    offset: int


@dataclass(frozen=True)
class StructLayout:
    """A struct as C++ lays it out: each member aligned to its own size, and the whole to the largest."""

    type_name: str
    members: tuple[Member, ...]
    bytes: int


Formal = Parameter | StructLayout


def formals(parameters: Sequence[Parameter]) -> tuple[Formal, ...]:
    """Return the function's parameters in order."""
    taken = [parameter for parameter in parameters if parameter.symbol is None]
    found: list[Formal] = []
    for struct, group in groupby(taken, key=lambda parameter: parameter.struct):
        members = list(group)
        found += members if struct is None else [_layout(struct.type_name, members)]
    return tuple(found)


def cuda_types(parameters: Sequence[Parameter]) -> tuple[tuple[str, ...], ...]:
    """Return the C++ types that each of the function's parameters may have."""
    return tuple(
        (formal.type_name,) if isinstance(formal, StructLayout) else formal.cuda_types
        for formal in formals(parameters)
    )


def declared_as(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Return how each of the function's parameters is declared, such as `x=In(f32, ...)`."""
    return tuple(
        f"a struct {formal.type_name}" if isinstance(formal, StructLayout) else _as_written(formal)
        for formal in formals(parameters)
    )


def _as_written(parameter: Parameter) -> str:
    if parameter.is_size:
        return f"{parameter.name}={parameter.dtype}"
    return f"{parameter.name}={_MARKERS[parameter.role]}({parameter.dtype}, ...)"


def struct_layouts(parameters: Sequence[Parameter]) -> tuple[StructLayout, ...]:
    """Return the structs among the function's parameters."""
    return tuple(formal for formal in formals(parameters) if isinstance(formal, StructLayout))


def constants(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters that are variables of the module."""
    return tuple(parameter for parameter in parameters if parameter.symbol is not None)


def _layout(type_name: str, parameters: Sequence[Parameter]) -> StructLayout:
    members, end, widest = [], 0, 1
    for parameter in parameters:
        size = _POINTER_BYTES if parameter.is_array else parameter.dtype.itemsize
        offset = _aligned(end, size)
        members.append(Member(parameter, offset))
        end, widest = offset + size, max(widest, size)
    return StructLayout(type_name, tuple(members), _aligned(end, widest))


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
