"""Kernels that share their name, and the casts that tell them apart."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.names import renamed
from pytest_cudaopt.adopt.structs import find_aliases, find_structs, qualified_struct
from pytest_cudaopt.adopt.tokens import Scanned

# What a parameter's declaration has that is not of the function's type.
_PLACES = re.compile(r"\s*\b(?:__restrict__|__restrict|restrict|__grid_constant__)\b")
_QUALIFIED = re.compile(r"\w+(?:::\w+)+")


def cast_of(scanned: Scanned, kernel: KernelDeclaration) -> str:
    """Name a kernel among its overloads: `static_cast<void (*)(float*, int)>(ns::f)`."""
    names = {name: qualified_struct(scanned, name) for name in find_structs(scanned)} | find_aliases(scanned)
    types = ", ".join(_type(parameter.spelling, names) for parameter in kernel.parameters)
    return f"static_cast<void (*)({types})>({kernel.qualified})"


def _type(spelling: str, names: Mapping[str, str]) -> str:
    """Return a type as code outside all namespaces calls it."""
    plain = _PLACES.sub("", spelling).strip()
    return plain if _QUALIFIED.search(plain) else renamed(plain, names)
