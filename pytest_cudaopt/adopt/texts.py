"""What the compiler is given of a file and its headers, and which header it then says is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.closure import Place, close
from pytest_cudaopt.rewritten import rewrite
from pytest_cudaopt.toolchain import Toolchain

_NOT_FOUND = re.compile(r'cudaopt: include [<"]([^>"]+)[>"]: (?:no such file|host-only header)')


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
    closure = close(source, Place(file.parent, tuple(include), tuple(stubs)))
    texts = rewrite(closure, toolchain.has_header)
    return Texts(texts.source, texts.headers, toolchain.include)


def missing_header(errors: str) -> str | None:
    """Return the header that could not be included, if that is what the errors are about."""
    match = _NOT_FOUND.search(errors)
    return None if match is None else match[1]
