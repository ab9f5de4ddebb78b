"""The run folder: what a run was given, what every attempt gave, and the best kernel so far.

`history.jsonl` is the truth: a line per attempt, on disk before the next attempt starts. Whatever kills the
process, the lines before it can be read, and `best.cu` is a whole kernel.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.durable import append_line, sync_all, sync_folder, write_atomically
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize import describe
from pytest_cudaopt.reference_source import ReferenceSource

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.optimize.attempt import Attempt, Proposal, Trial

RUN_NAME = re.compile(r"^run-(\d+)$")
HISTORY = "history.jsonl"
BEST = "best.cu"
CONTINUED = "continued.jsonl"
INITIAL = "initial.cu"
CANDIDATE = "candidate.cu"
TUNING = "tuning.json"


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
        for name, content in given(kernel, start).items():
            self.write(name, content)
        self.write_best(start)

    def write_proposal(self, number: int, proposal: Proposal, start: Candidate) -> None:
        """Write a candidate before it is judged, so that one that ends the process can be found."""
        folder = self.attempt_folder(number)
        with _writing(folder):
            folder.mkdir()
        self._write_candidate(number, proposal, start)

    def write_tuning(
        self, number: int, proposal: Proposal, trials: Sequence[Trial], start: Candidate
    ) -> None:
        """Write what was tried of an attempt's tunables; the candidate has become the fastest setting."""
        self.write_json(f"{self.attempt_folder(number).name}/{TUNING}", trials, synced=False)
        self._write_candidate(number, proposal, start)

    def _write_candidate(self, number: int, proposal: Proposal, start: Candidate) -> None:
        name, candidate = self.attempt_folder(number).name, proposal.candidate
        if candidate is None:
            failed = {"why": proposal.why, "failure": proposal.failure}
            self.write_json(f"{name}/candidate.json", failed, synced=False)
            return
        standalone = candidate.standalone_source()
        self.write(f"{name}/{CANDIDATE}", standalone, synced=False)
        source = INITIAL if candidate.source == start.source else CANDIDATE
        if source == CANDIDATE and candidate.source != standalone:
            source = "source.cu"
            self.write(f"{name}/{source}", candidate.source, synced=False)
        described = {**describe.candidate(candidate), "source": source, "why": proposal.why}
        self.write_json(f"{name}/candidate.json", described, synced=False)

    def write_attempt(self, attempt: Attempt, best: int, elapsed_s: float = 0.0) -> None:
        """Write the judge's answer, then the attempt's line of the history, then the best kernel."""
        folder = self.attempt_folder(attempt.number)
        self.write_json(f"{folder.name}/evaluation.json", attempt.evaluation, synced=False)
        with _writing(self.history):
            sync_all([self.path, folder, *folder.iterdir()])
            append_line(self.history, _dump(describe.attempt(attempt, best, elapsed_s), indent=None))
        if attempt.number == best and best > 0:
            self.write_best(attempt.candidate)

    def write_continued(self, config: Mapping[str, Any]) -> None:
        """Write how a run went on after `config.json`, which stays as the run began."""
        path = self.path / CONTINUED
        with _writing(path):
            append_line(path, _dump(config, indent=None))

    def has_log(self, number: int) -> bool:
        """Whether the evidence of an attempt was written before the run was cut short."""
        return (self.attempt_folder(number) / "log.txt").exists()

    def mend(self, judged: int) -> None:
        """Make a run that was cut short one that can go on after its `judged` attempts.

        A torn last line of the history goes, and so do folders of attempts that have none: what a model
        answered lies elsewhere.
        """
        with _writing(self.path):
            if self.history.exists():
                whole = self.history.read_bytes()
                kept = whole[: whole.rfind(b"\n") + 1]
                if kept != whole:
                    write_atomically(self.history, kept)
            for folder in self.path.glob("attempt-*"):
                number = folder.name.partition("-")[2]
                if number.isdecimal() and int(number) >= judged:
                    shutil.rmtree(folder)
            for half_written in self.path.rglob(".*.????????"):
                half_written.unlink()

    def write_history_array(self) -> tuple[str, ...]:
        """Write `history.json`, the lines of the history as one array.

        Return the cases that nobody declared and an attempt failed at, to be pasted, each once.
        """
        lines = read_history(self.history)
        self.write_json("history.json", lines)
        return tuple(dict.fromkeys(case for one in lines if (case := one.get("held_out_case")) is not None))

    def write_best(self, candidate: Candidate) -> None:
        self.write(BEST, candidate.standalone_source())

    def write_json(self, name: str, content: Any, *, synced: bool = True) -> None:
        self.write(name, _dump(content, indent=2) + "\n", synced=synced)

    def write(self, name: str, content: str | bytes, *, synced: bool = True) -> None:
        """Write a file of the run; what is not `synced` survives a kill, but maybe no power failure."""
        path = self.path / name
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content, synced=synced)

    def write_answer(self, name: str, content: str) -> None:
        """Write what was paid for."""
        path = self.path / name
        self.write(name, content, synced=False)
        with _writing(path):
            sync_all([path, path.parent, path.parent.parent, self.path])


def given(kernel: Kernel, start: Candidate) -> dict[str, str]:
    """Return the files that say what a run is about, by name: a run of other ones is another run."""
    suffix = "cu" if isinstance(kernel.reference, ReferenceSource) else "py"
    return {
        "signature.json": _dump(describe.signature(kernel), indent=2) + "\n",
        "input_cases.json": _dump(describe.input_cases(kernel), indent=2) + "\n",
        f"reference.{suffix}": describe.reference_module(kernel),
        INITIAL: start.source,
    }


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
    numbers = [int(match.group(1)) for path in results_root.iterdir() if (match := RUN_NAME.match(path.name))]
    return max(numbers, default=0)


def _dump(content: Any, *, indent: int | None) -> str:
    return json.dumps(describe.plain(content), indent=indent, allow_nan=False)
