"""Read the parameters that a decorated function declares by its defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from pytest_cudaopt.decorated import reference_sizes
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.parameters import Marker, Parameter, Role
from pytest_cudaopt.structs import StructMarker, is_for_members, member_names


def declared_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters in order, members of structs among them; raise DeclarationError for no marker."""
    parameters: list[Parameter] = []
    signature = inspect.signature(function).parameters
    members = member_names(signature.values())
    for name, declared in signature.items():
        if name in reference_sizes(function):
            continue
        default = declared.default
        if is_for_members(declared, members):
            continue
        if isinstance(default, StructMarker):
            parameters += default.parameters(name)
            continue
        if isinstance(default, DType):
            if default.is_float:
                raise DeclarationError(
                    f"parameter '{name}'",
                    expected=f"Scalar({default}, value), since a float cannot be a size",
                    got=f"{name}={default}",
                )
            default = Marker(Role.SCALAR, default)
        if not isinstance(default, Marker):
            raise DeclarationError(
                f"parameter '{name}'",
                expected="a marker as default: In, Out, InOut, Scratch, Scalar, Constant, Struct or a dtype",
                got="no default" if default is inspect.Parameter.empty else repr(default),
                next_step=f"Write {name}=In(f32, 'n')",
            )
        parameters.append(Parameter.named(name, default))
    _require_own_name_each(parameters)
    return tuple(parameters)


def _require_own_name_each(parameters: Iterable[Parameter]) -> None:
    seen: set[str] = set()
    for parameter in parameters:
        if parameter.name in seen:
            raise DeclarationError(
                f"parameter '{parameter.name}'",
                expected="a name that no other parameter, and no member of a struct, has",
                got=f"'{parameter.name}' a second time",
                next_step=_advice(parameter),
            )
        seen.add(parameter.name)


def _advice(repeated: Parameter) -> str:
    if repeated.struct is None:
        return "Rename it"
    return (
        f"Members have their names in C++: of '{repeated.struct.type_name}' a kernel may have one parameter, "
        "and no other of a member's name"
    )
