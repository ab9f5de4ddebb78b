"""Macros a declaration or a project defines: names and texts that define one macro and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pytest_cudaopt.errors import DeclarationError

# Names of Thrust's own decide what it includes.
_NAME = re.compile(r"^(?!__THRUST_)[A-Za-z_]\w*(?:\([\w, .]*\))?\Z")

Macros = tuple[tuple[str, str], ...]

# The header that defines them, included before the source. Not `-D`: that would also reach NVRTC's own
# header, which a tunable called T or size breaks.
HEADER = "cudaopt_defines.h"
# As under nvcc. With NVRTC's 16, cooperative_groups.h and cuda/std take seconds to compile.
_ALWAYS: Macros = (("_CCCL_META_UNROLL_LIMIT", "10"),)


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


def as_header(macros: Macros) -> str:
    """Return the text of `HEADER`: `macros`, and what every source is compiled with where they do not say."""
    every = with_own(_ALWAYS, macros, taken=())
    return "".join(f"#define {name} {text}\n" for name, text in every)
