"""The structs that kernels take by value, class templates with their arguments among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_cudaopt.adopt.declarations import FunctionParameter, read_template
from pytest_cudaopt.adopt.names import renamed
from pytest_cudaopt.adopt.scopes import statement_start
from pytest_cudaopt.adopt.structs import qualified_struct, struct_name
from pytest_cudaopt.adopt.tokens import Scanned, scan, spelled, split_at_commas


@dataclass(frozen=True)
class StructType:
    """A struct as a declaration calls it, `ns::Params<{T}>`, and its members with the arguments put in."""

    name: str
    members: tuple[FunctionParameter, ...]


def struct_type(
    scanned: Scanned,
    structs: Mapping[str, tuple[FunctionParameter, ...]],
    base: str,
    arguments: Mapping[str, str],
) -> StructType | None:
    """Return what `base` is among the file's `structs`; None if it is none of them.

    `arguments` maps the kernel's template parameters to what its entry has for them.
    """
    plain = struct_name(base)
    members = structs.get(plain)
    if members is None:
        return None
    name = qualified_struct(scanned, plain)
    parameters = _template_of(scanned, plain)
    if "<" not in base:
        return None if parameters else StructType(name, members)
    given = _given(base)
    values = dict(parameters) | dict(zip((key for key, _ in parameters), given, strict=False))
    if len(given) > len(parameters) or not all(values.values()):
        return None
    put_in = tuple(
        replace(member, type=replace(member.type, base=values.get(member.type.base, member.type.base)))
        for member in members
    )
    written = ", ".join(renamed(value, arguments) for value in values.values())
    return StructType(f"{name}<{written}>", put_in)


def _given(base: str) -> list[str]:
    inner = base[base.index("<") + 1 : base.rindex(">")]
    return [spelled(part) for part in split_at_commas(scan(inner).tokens)]


def _template_of(scanned: Scanned, name: str) -> list[tuple[str, str]]:
    """Return the name and the default of each template parameter of the file's struct `name`."""
    tokens = scanned.tokens
    for at in range(len(tokens) - 2):
        if [token.text for token in tokens[at : at + 3]] == ["struct", name, "{"]:
            template = read_template(scanned, statement_start(scanned, at), at)
            return [(parameter.name, parameter.default) for parameter in template]
    return []
