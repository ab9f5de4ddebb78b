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
JUDGED_BY = {
    "warmup": "--cudaopt-warmup",
    "samples": "--cudaopt-samples",
    "relative_error": "--cudaopt-relative-error",
    "sanitize_elements": "--cudaopt-sanitize-elements",
    "seed": "--optimize-seed",
}
# One strategy is measured against the other, so a run is one of either.
_KEPT = {**JUDGED_BY, "strategy": "--optimize-strategy"}
_CALLED = {"signature.json": "signature", "input_cases.json": "cases", record.INITIAL: "source"}


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
        then, now = differing
        raise _another(folder, f"one of {now}", then)
    lines = record.read_history(folder.history)
    if not lines:
        return Earlier()
    attempts = restored.briefs(lines, kernel, device.description, folder.history)
    if attempts[0].digest != start.digest:
        now = f"one of {start.file} with the headers, definitions and compiler options it has now"
        raise _another(folder, now, "other ones")
    return Earlier(tuple(attempts), int(lines[-1]["best"]), float(lines[-1]["elapsed_s"]))


def _another(folder: RunFolder, expected: str, got: str) -> EnvironmentFault:
    return EnvironmentFault(
        f"run {folder.path}",
        expected=expected,
        got=got,
        next_step="It cannot go on: start afresh without --optimize-from, or select its kernel with -k",
    )


def _differences(
    folder: RunFolder, kernel: Kernel, start: Candidate, device: Device, options: OptimizeOptions
) -> Iterator[tuple[str, str]]:
    """Yield how something was then, and how it is now. A file that a kill prevented says nothing."""
    config = _config(folder.path / "config.json")
    for what, key, now in (
        ("kernel", "kernel", kernel.name),
        ("device", "device", device.description),
        ("pytest-cudaopt", "package", __version__),
    ):
        if config and config.get(key) != now:
            yield f"{what} {config.get(key)}", f"{what} {now}"
    then = config.get("options", {})
    for name, flag in _KEPT.items():
        now_value = describe.plain(getattr(options, name))
        if name in then and then[name] != now_value:
            yield f"{then[name]}", f"{flag} {now_value}"
    for name, content in record.given(kernel, start).items():
        path = folder.path / name
        if path.is_file() and path.read_bytes() != content.encode():
            called = _CALLED.get(name, "reference")
            place = _first_difference(path, content) if path.suffix == ".json" else None
            if place is None:
                yield f"another one, {path}", f"the {called} as it is now"
            else:
                yield place[1], " ".join(f"the {called} with {place[0]} {place[2]}".split())


def _first_difference(path: Path, content: str) -> tuple[str, str, str] | None:
    """Return the place of the first member that differs, and how it was and is; None for what is no JSON."""
    try:
        return _differing("", json.loads(path.read_text(encoding="utf-8")), json.loads(content))
    except ValueError:
        return None


def _differing(place: str, then: Any, now: Any) -> tuple[str, str, str] | None:
    if isinstance(then, dict) and isinstance(now, dict):
        pairs = [(f"{place}.{key}".lstrip("."), then.get(key), now.get(key)) for key in {**now, **then}]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = [(f"{place}[{at}]", *both) for at, both in enumerate(zip(then, now, strict=True))]
    elif isinstance(then, list) and isinstance(now, list):
        return place, f"{len(then)} members", f"{len(now)} members"
    else:
        return None if then == now else (place, _shown(then), _shown(now))
    found = (_differing(*pair) for pair in pairs)
    return next((one for one in found if one is not None), None)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _config(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        got = why_unreadable(error) if isinstance(error, OSError | UnicodeDecodeError) else str(error)
        raise EnvironmentFault(str(path), expected="a run's configuration as JSON", got=got) from error
    return value if isinstance(value, dict) else {}
