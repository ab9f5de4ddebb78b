"""Structs that a kernel takes by value: how they are declared, and how the reference takes their members."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.parameters import Marker, Parameter, Role, StructOf


@dataclass(frozen=True)
class StructMarker:
    """A struct parameter without its name: what `Struct("Params", q=In(f16, "n"))` returns."""

    type_name: str
    members: tuple[tuple[str, Marker], ...]

    def parameters(self, name: str) -> list[Parameter]:
        """Return the members as parameters of the struct declared as `name`."""
        struct = StructOf(self.type_name, name)
        return [Parameter.named(member, marker, struct) for member, marker in self.members]


def Struct(type_name: str, /, **members: Marker | DType) -> StructMarker:
    """Mark a struct that the kernel takes by value; `members` are all of its members, in order.

    `type_name` is its type in C++, such as `ns::Params`. Arrays are pointers in it. The compiler checks that
    the members lie where they are declared to.
    """
    if not (isinstance(type_name, str) and type_name.strip()):
        raise DeclarationError("Struct", expected="the C++ name of the struct", got=repr(type_name))
    if not members:
        raise DeclarationError(
            f"Struct({type_name!r})",
            expected="at least one member",
            got="none",
            next_step=f"Write Struct({type_name!r}, x=In(f32, 'n'), n=i32)",
        )
    marked = tuple((name, _marker(type_name, name, member)) for name, member in members.items())
    return StructMarker(type_name.strip(), marked)


def _marker(type_name: str, name: str, member: object) -> Marker:
    if isinstance(member, DType) and not member.is_float:
        return Marker(Role.SCALAR, member)
    if not isinstance(member, Marker) or member.symbol is not None:
        raise DeclarationError(
            f"Struct({type_name!r}), member '{name}'",
            expected="In, Out, InOut, Scratch, Scalar or an integer dtype",
            got=f"a Constant ('{name}' is a variable of its own)"
            if isinstance(member, Marker)
            else repr(member),
        )
    return member


def member_names(parameters: Iterable[inspect.Parameter]) -> frozenset[str]:
    """Return the names of all members of the structs among a function's parameters."""
    structs = [one.default for one in parameters if isinstance(one.default, StructMarker)]
    return frozenset(name for struct in structs for name, _ in struct.members)


def is_for_members(parameter: inspect.Parameter, members: frozenset[str]) -> bool:
    """Whether a function takes members of structs by this parameter: `*, q` or `**members`."""
    if not members:
        return False
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return True
    return parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name in members


def require_members_taken(function: Callable[..., Any], parameters: Iterable[Parameter]) -> None:
    """Raise DeclarationError unless `function`, as the reference, takes each member by its own name."""
    takes = inspect.signature(function).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return
    members = [parameter for parameter in parameters if parameter.struct is not None]
    missing = [parameter.name for parameter in members if parameter.name not in takes]
    if missing:
        names = ", ".join(parameter.name for parameter in members)
        raise DeclarationError(
            f"struct '{members[0].struct.name if members[0].struct else ''}'",
            expected=f"a reference that takes its members: *, {names}",
            got=f"none called '{missing[0]}'",
            next_step=f"Add them behind the other parameters: def {function.__name__}(..., *, {names})",
        )
