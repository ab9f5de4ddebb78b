"""The run folder: what a run was given, what every attempt gave, and the best kernel so far.

`history.jsonl` is the truth: a line per attempt, on disk before the next attempt starts. Whatever kills the
process, the lines before it can be read, and `best.cu` is a whole kernel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.durable import append_line, sync_folder, write_atomically
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize import describe
from pytest_cudaopt.reference_source import ReferenceSource

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.optimize.attempt import Attempt, Proposal
    from pytest_cudaopt.optimize.tuning import Trial

_RUN = re.compile(r"^run-(\d+)$")
HISTORY = "history.jsonl"
BEST = "best.cu"


@dataclass(frozen=True)
class RunFolder:
    """One run's folder, `results/run-NNN`."""

    path: Path

    @classmethod
    def create(cls, results_root: Path) -> RunFolder:
        """Take the next free number; safe against other processes doing the same.

        Raises EnvironmentFault if the folder cannot be made or written to.
        """
        try:
            results_root.mkdir(parents=True, exist_ok=True)
            number = _last_number(results_root) + 1
            while not _take(results_root / f"run-{number:03d}"):
                number += 1
            path = results_root / f"run-{number:03d}"
            (path / HISTORY).touch()
            sync_folder(path)
        except OSError as error:
            raise EnvironmentFault(
                f"results folder {results_root}",
                expected="a folder this process can create and write to",
                got=error.strerror or str(error),
                next_step="Choose another one with --optimize-results",
            ) from error
        return cls(path)

    @property
    def history(self) -> Path:
        return self.path / HISTORY

    @property
    def best(self) -> Path:
        return self.path / BEST

    def attempt_folder(self, number: int) -> Path:
        return self.path / f"attempt-{number:02d}"

    def write_start(self, kernel: Kernel, start: Candidate, config: Mapping[str, Any]) -> None:
        """Write what the run was given; `best.cu` starts as the kernel as it is."""
        self.write_json("config.json", config)
        self.write_json("signature.json", describe.signature(kernel))
        self.write_json("input_cases.json", describe.input_cases(kernel))
        suffix = "cu" if isinstance(kernel.reference, ReferenceSource) else "py"
        self.write(f"reference.{suffix}", describe.reference_module(kernel))
        self.write("initial.cu", start.source)
        self.write_best(start)

    def write_proposal(self, number: int, proposal: Proposal) -> None:
        """Write a candidate before it is judged, so that one that ends the process can be found."""
        folder = self.attempt_folder(number)
        with _writing(folder):
            folder.mkdir()
            sync_folder(self.path)
        self._write_candidate(number, proposal)

    def write_tuning(self, number: int, best: Candidate, trials: Sequence[Trial]) -> None:
        """Write what was tried of an attempt's tunables; the candidate becomes the fastest setting."""
        name = self.attempt_folder(number).name
        self.write_json(f"{name}/tuning.json", trials)
        self.write(f"{name}/candidate.cu", best.standalone_source())

    def _write_candidate(self, number: int, proposal: Proposal) -> None:
        name = self.attempt_folder(number).name
        if proposal.candidate is None:
            self.write_json(f"{name}/candidate.json", {"why": proposal.why, "failure": proposal.failure})
            return
        self.write(f"{name}/candidate.cu", proposal.candidate.standalone_source())
        self.write_json(
            f"{name}/candidate.json", {**describe.candidate(proposal.candidate), "why": proposal.why}
        )

    def write_attempt(self, attempt: Attempt, best: int) -> None:
        """Write the judge's answer, then the attempt's line of the history, then the best kernel."""
        folder = self.attempt_folder(attempt.number)
        self.write_json(f"{folder.name}/evaluation.json", describe.plain(attempt.evaluation))
        with _writing(self.history):
            append_line(self.history, _dump(describe.attempt(attempt, best), indent=None))
        if attempt.number == best and best > 0:
            self.write_best(attempt.candidate)

    def write_history_array(self) -> None:
        """Write `history.json`, the lines of the history as one array."""
        self.write_json("history.json", read_history(self.history))

    def write_best(self, candidate: Candidate) -> None:
        self.write(BEST, candidate.standalone_source())

    def write_json(self, name: str, content: Any) -> None:
        self.write(name, _dump(content, indent=2) + "\n")

    def write(self, name: str, content: str | bytes) -> None:
        path = self.path / name
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)


def read_history(path: Path) -> list[dict[str, Any]]:
    """Return the attempts of a `history.jsonl`, without a last line that a kill cut short.

    Raises EnvironmentFault if the file cannot be read or any other line is broken.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise EnvironmentFault(
            f"history {path}", expected="a readable file", got=error.strerror or str(error)
        ) from error
    # Every whole line ends in a newline, so what follows the last one was cut short.
    return [_read_line(path, number, line) for number, line in enumerate(lines[:-1], start=1)]


def _read_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise EnvironmentFault(
            f"history {path}, line {number}", expected="one JSON object", got=str(error)
        ) from error
    if not isinstance(value, dict):
        raise EnvironmentFault(
            f"history {path}, line {number}", expected="one JSON object", got=type(value).__name__
        )
    return value


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(
            f"run folder, {path}",
            expected="to be written",
            got=error.strerror or str(error),
            next_step="Free some space, or choose another folder with --optimize-results",
        ) from error


def _take(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def _last_number(results_root: Path) -> int:
    numbers = [int(match.group(1)) for path in results_root.iterdir() if (match := _RUN.match(path.name))]
    return max(numbers, default=0)


def _dump(content: Any, *, indent: int | None) -> str:
    return json.dumps(describe.plain(content), indent=indent, allow_nan=False)
