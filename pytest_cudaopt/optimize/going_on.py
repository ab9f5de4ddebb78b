"""Whether and how an earlier run goes on: only one of the same kernel, on the same device, judged alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt import __version__
from pytest_cudaopt.errors import EnvironmentFault, why_unreadable
from pytest_cudaopt.optimize import describe, record, restored
from pytest_cudaopt.optimize.record import RunFolder

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.options import OptimizeOptions

_RUN = re.compile(r"run-\d+")
# Latencies and verdicts depend on these; the others say how far and how long to look.
_JUDGED_BY = ("warmup", "samples", "relative_error", "sanitize_elements", "seed")
_FLAGS = {
    "warmup": "--cudaopt-warmup",
    "samples": "--cudaopt-samples",
    "relative_error": "--cudaopt-relative-error",
    "sanitize_elements": "--cudaopt-sanitize-elements",
    "seed": "--optimize-seed",
}


@dataclass(frozen=True)
class Earlier:
    """What an earlier run left: its attempts in brief, the incumbent's number, how long it went on."""

    attempts: tuple[Attempt, ...] = ()
    best: int = 0
    elapsed_s: float = 0.0


def find(named: str, root: Path, results: Path) -> Path:
    """Return the folder that `run-NNN` under `results`, or a path seen from `root`, stands for."""
    path = results / named if _RUN.fullmatch(named) else root / named
    if not (path / record.HISTORY).is_file():
        raise EnvironmentFault(
            f"--optimize-from {named}",
            expected=f"a run's folder, or the name of one in {results}",
            got=f"no {path / record.HISTORY}",
            next_step="Give the folder a run has named, such as results/run-007",
        )
    return path


def read(
    folder: RunFolder, kernel: Kernel, start: Candidate, device: Device, options: OptimizeOptions
) -> Earlier:
    """Return what the run in `folder` left; raise EnvironmentFault if it was one of something else."""
    differing = next(_differences(folder, kernel, start, device, options), None)
    if differing is not None:
        what, then, now = differing
        raise EnvironmentFault(
            f"run {folder.path}",
            expected=f"one of {what} as now: {now}",
            got=then,
            next_step="It cannot go on: start afresh without --optimize-from, or select its kernel with -k",
        )
    lines = record.read_history(folder.history)
    if not lines:
        return Earlier()
    attempts = restored.briefs(lines, kernel, device.description, folder.history)
    if attempts[0].digest != start.digest:
        raise EnvironmentFault(
            f"run {folder.path}",
            expected=f"one of {start.file} with the headers, definitions and options of now",
            got="other ones",
            next_step="It cannot go on: start afresh without --optimize-from",
        )
    return Earlier(tuple(attempts), int(lines[-1]["best"]), float(lines[-1]["elapsed_s"]))


def _differences(
    folder: RunFolder, kernel: Kernel, start: Candidate, device: Device, options: OptimizeOptions
) -> Iterator[tuple[str, str, str]]:
    """Yield what differs, how it was then, how it is now. A file that a kill prevented says nothing."""
    config = _config(folder.path / "config.json")
    for what, key, now in (
        ("the kernel", "kernel", kernel.name),
        ("the device", "device", device.description),
        ("pytest-cudaopt", "package", __version__),
    ):
        if config and config.get(key) != now:
            yield what, str(config.get(key)), now
    then = config.get("options", {})
    for name in _JUDGED_BY:
        now_value = describe.plain(getattr(options, name))
        if name in then and then[name] != now_value:
            yield f"{_FLAGS[name]}", str(then[name]), str(now_value)
    whats = {"signature.json": "the signature", "input_cases.json": "the cases", record.INITIAL: "the source"}
    for name, content in record.given(kernel, start).items():
        path = folder.path / name
        if path.is_file() and path.read_bytes() != content.encode():
            yield whats.get(name, "the reference"), f"that of {path}", "another one"


def _config(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        got = why_unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else str(error)
        raise EnvironmentFault(str(path), expected="a run's configuration as JSON", got=got) from error
    return value if isinstance(value, dict) else {}
