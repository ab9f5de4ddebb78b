"""What the compiler is given of a file and its headers, and which header it then says is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.toolchain import Toolchain

_NOT_OPENED = re.compile(r'(?:could not|cannot) open source file "([^"]+)"')


@dataclass(frozen=True)
class Texts:
    """A source, its headers in memory by name, and the folders of all others."""

    source: str
    headers: dict[str, str]
    include: tuple[str, ...]


def compiler_texts(
    source: str, file: Path, include: Sequence[Path], stubs: Sequence[str], toolchain: Toolchain
) -> Texts:
    """Return the texts of `source`, which stands in `file`; headers named in `stubs` are empty."""
    folders = (file.parent, *include)
    return Texts(source, dict.fromkeys(stubs, ""), (*(str(f) for f in folders), *toolchain.include))


def missing_header(errors: str) -> str | None:
    """Return the header that could not be included, if that is what the errors are about."""
    match = _NOT_OPENED.search(errors)
    return None if match is None else match[1]
