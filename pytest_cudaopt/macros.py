"""Macros a declaration or a project defines: names and texts that define one macro and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pytest_cudaopt.errors import DeclarationError

# Names of Thrust's own decide what it includes.
_NAME = re.compile(r"^(?!__THRUST_)[A-Za-z_]\w*(?:\([\w, .]*\))?\Z")

Macros = tuple[tuple[str, str], ...]


def is_macro(name: str, text: str) -> bool:
    """True if `#define NAME TEXT` defines that macro and reaches no further than its line."""
    return bool(_NAME.match(name)) and not re.search(r"[\n\r\0]|\\\s*$|\?\?/\s*$|/\*", text)


def checked(defines: Mapping[str, str | int]) -> Macros:
    """Return `defines=` as pairs; raise DeclarationError for one that would be more than a macro."""
    for name, value in defines.items():
        if not isinstance(name, str) or not is_macro(name, str(value)):
            raise DeclarationError(
                f"defines[{name!r}]",
                expected="a macro's name, and a text of one line without comments",
                got=repr(value),
            )
    return tuple((name, str(value)) for name, value in defines.items())


def with_own(inherited: Macros, own: Macros, *, taken: Collection[str]) -> Macros:
    """Return both; what is inherited gives way to an own macro, and to a name that is taken."""
    names = {*dict(own), *taken}
    return (*((name, text) for name, text in inherited if name not in names), *own)
