"""References that are kernels themselves: `reference="naive.cu"`, or `"naive.cu::entry"`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_cudaopt.errors import DeclarationError

_SUFFIX = ".cu"


@dataclass(frozen=True)
class ReferenceSource:
    """A CUDA source and its entry, of the same signature as the kernel it is the reference of."""

    source: Path
    entry: str

    @property
    def kernel_name(self) -> str:
        """The entry's name without namespaces and template arguments."""
        return self.entry.partition("<")[0].rpartition("::")[2]

    def __str__(self) -> str:
        return f"{self.source.name}::{self.entry}"


Reference = Callable[..., Any] | ReferenceSource


def as_reference(given: object, folder: Path, entry: str) -> Reference:
    """Accept a callable, or a text that names a file in `folder`; `entry` is its entry unless it says one.

    Raises DeclarationError for anything else.
    """
    if isinstance(given, str):
        file, separator, named = given.partition("::")
        if file.endswith(_SUFFIX) and bool(named) == bool(separator):
            return ReferenceSource(folder / file, named or entry)
    elif callable(given):
        return given
    raise DeclarationError(
        "reference=",
        expected="a callable, 'FILE.cu' or 'FILE.cu::ENTRY'",
        got=repr(given),
        next_step="Write reference=my_function or reference='naive.cu'",
    )
