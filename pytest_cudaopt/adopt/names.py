"""Names that a test module can use for what CUDA calls otherwise."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping

from pytest_cudaopt.cases import RESERVED
from pytest_cudaopt.dtypes import BY_NAME

# What the written module imports or calls; a parameter of that name would hide it.
_TAKEN = frozenset(
    {*BY_NAME, "f8e4m3", "f8e5m2", "case", "kernel", "In", "Out", "InOut", "Scalar", "Constant", "Struct"}
)


def python_name(name: str, *, is_size: bool = False) -> str:
    """Return `name`, with an underscore behind it if a declaration cannot use it."""
    plain = re.sub(r"\W+", "_", name).strip("_") or "unnamed"
    if keyword.iskeyword(plain) or plain in _TAKEN or (is_size and plain in RESERVED):
        return f"{plain}_"
    return plain


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Replace whole words of an expression."""
    return re.sub(r"[A-Za-z_]\w*", lambda match: names.get(match[0], match[0]), text)
