"""Which marker a scalar parameter gets, by its dtype and by what its name says."""

from __future__ import annotations

import re

_EPSILON = re.compile(r"^(eps|epsilon)")
_FLAG = re.compile(r"^(is|use|has|do|with|enable)_|causal|^(inverse|transpose|accumulate)$")
_ZERO = re.compile(r"seed|offset|start|^(rank|step|iteration|layer)$")
_STRIDE = re.compile(r"stride|^ld[a-z]?$|^pitch$")
_FLOATS = frozenset({"f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"})


def scalar_marker(name: str, dtype: str, innermost: str) -> tuple[str, tuple[str, ...]]:
    """Return the marker and its TODOs; a bare dtype is a size, and `innermost` a stride's likely value."""
    lower = name.lower()
    if dtype in _FLOATS or dtype.startswith('"'):
        return f"Scalar({dtype}, {'1e-5' if _EPSILON.match(lower) else '1.0'})", ("value",)
    if dtype == "bool_":
        return f"Scalar({dtype}, 0)", ("value",)
    if _FLAG.search(lower):
        return f"Scalar({dtype}, 1)", ("value",)
    if _STRIDE.search(lower):
        return f'Scalar({dtype}, "{innermost}")', ("elements between neighbours",)
    if _ZERO.search(lower):
        return f"Scalar({dtype}, 0)", ("value",)
    return dtype, ()
