"""A model that repeats recorded proposals, one per line of a file, whatever it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_cudaopt.durable import append_line
from pytest_cudaopt.errors import EnvironmentFault, SettingsError, why_unreadable
from pytest_cudaopt.optimize.conversation import Reply, Request


class ReplayModel:
    """Answers with `lines` in turn; `exhausted` once all were given."""

    def __init__(self, file: Path, lines: Sequence[str]) -> None:
        self._file = file
        self._lines = tuple(lines)
        self._next = 0
        self._lock = threading.Lock()

    @classmethod
    def open(cls, file: Path) -> ReplayModel:
        """Read the recording; raise SettingsError if it cannot be read or a line is no JSON."""
        try:
            lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"--optimize-model replay:{file}", expected="a readable file", got=why_unreadable(error)
            ) from error
        for number, line in enumerate(lines, start=1):
            try:
                json.loads(line)
            except ValueError as error:
                raise SettingsError(
                    f"{file}, line {number}", expected="a proposal as one JSON object", got=str(error)
                ) from error
        return cls(file, lines)

    @property
    def name(self) -> str:
        return f"replay:{self._file}"

    @property
    def remaining(self) -> int:
        return len(self._lines) - self._next

    def skip(self, count: int) -> None:
        """Pass over proposals an earlier part of the run had."""
        self._next = min(len(self._lines), self._next + count)

    def fetch(self, request: Request) -> str:
        """Return the next line; the search asks only while there are some."""
        with self._lock:
            line = self._lines[self._next]
            self._next += 1
        return line

    def read(self, raw: str) -> Reply:
        return Reply(raw)


def record(file: Path, text: str) -> None:
    """Append a proposal as a line that can be replayed; a text that is no JSON is kept as a string."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    try:
        append_line(file, json.dumps(value))
    except OSError as error:
        raise EnvironmentFault(
            f"recording {file}",
            expected="to be written",
            got=why_unreadable(error),
            next_step="Free some space, or name another file with --optimize-record",
        ) from error
