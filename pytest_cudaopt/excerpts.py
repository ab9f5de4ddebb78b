"""Places in a compiled source as a person reads them: path and line, and the lines around it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.candidate import Candidate

_CONTEXT_LINES = 2


@dataclass(frozen=True)
class CompiledSource:
    """The text that was compiled and the path to show for it; its headers are named from `folder`."""

    candidate: Candidate
    path: str
    folder: str

    def owns(self, file: str | None) -> bool:
        """True for the kernel's own file, false for a header."""
        return file == self.candidate.file

    def place(self, file: str, line: int, column: int = 0) -> str:
        """Return the place as a person finds it."""
        shown = self.path if self.owns(file) else file
        if file in self.candidate.headers:
            shown = os.path.normpath(Path(self.folder) / file)
        return f"{shown}:{line}{f':{column}' if column else ''}"

    def excerpt(
        self, file: str | None, line: int | None, column: int = 0, also: int | None = None
    ) -> list[str]:
        """Return the lines around a place in the kernel's own file or its headers; none for another's.

        `also` is a second line to mark, near the first.
        """
        source = self.candidate.source if self.owns(file) else self.candidate.headers.get(file or "")
        if line is None or source is None:
            return []
        return excerpt(source, line, column, also=also)


def excerpt(
    source: str,
    line: int,
    column: int = 0,
    context_lines: int = _CONTEXT_LINES,
    also: int | None = None,
) -> list[str]:
    """Return the lines around `line`, marked, with a caret under `column` (from 1) if that is known.

    Lines up to `also` are shown as well, and that one is marked too.
    """
    lines = source.splitlines()
    if not 1 <= line <= len(lines):
        return []
    marked = (line, line if also is None else also)
    shown: list[str] = []
    for number in range(
        max(1, min(marked) - context_lines), min(len(lines), max(marked) + context_lines) + 1
    ):
        text = lines[number - 1].expandtabs(4)
        shown.append(f"  {'>' if number in marked else ' '} {number:>4} | {text}".rstrip())
        if number == line and column > 0:
            before = lines[number - 1][: column - 1].expandtabs(4)
            shown.append(f"         | {' ' * len(before)}^")
    return shown
