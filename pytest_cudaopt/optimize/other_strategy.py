"""The latest finished run that differs from this one in its strategy alone, among those beside it.

Judged alike is the condition: one of another kernel, device, model or version says nothing about the loop.
What cannot be read is nobody's run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.optimize import describe, going_on, record
from pytest_cudaopt.optimize.strategies import Outcome, Strategy
from pytest_cudaopt.optimize.summary import StopReason

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.run import Run

# A list, since what a file says may be of any type.
_FINISHED = [
    one
    for one in StopReason
    if one not in (StopReason.INTERRUPTED, StopReason.FAULT, StopReason.START_REJECTED)
]
# Besides what latencies and verdicts depend on: what is asked for, and how much thought goes into it.
_ALIKE = (*going_on.JUDGED_BY, "fuzz_examples", "allow_slower", "effort")


def find(run: Run) -> Outcome | None:
    """Return what the other strategy came to; None if it was not tried, or nobody was asked here."""
    if run.model_name is None:
        return None
    own = run.folder.path
    wanted = _condition(describe.configuration(run))
    if any(_condition(config) != wanted for config in _configurations(own)):
        # It went on with something else than it began with.
        return None
    strategy = run.options.strategy.other
    given = {name: text.encode() for name, text in record.given(run.kernel, run.start).items()}
    for path in _latest_first(own.parent):
        if path != own and _is_alike(path, strategy, wanted, given, run.start.digest):
            outcome = _outcome(path, strategy)
            if outcome is not None:
                return outcome
    return None


def _latest_first(results_root: Path) -> list[Path]:
    try:
        named = [(record.RUN_NAME.match(path.name), path) for path in results_root.iterdir()]
    except OSError:
        return []
    numbered = [(int(found[1]), path) for found, path in named if found]
    return [path for _, path in sorted(numbered, reverse=True)]


def _is_alike(
    path: Path, strategy: Strategy, wanted: object, given: Mapping[str, bytes], digest: str
) -> bool:
    configurations = list(_configurations(path))
    return (
        bool(configurations)
        and all(
            _condition(one) == wanted and one["options"].get("strategy") == strategy for one in configurations
        )
        and all(_bytes(path / name) == content for name, content in given.items())
        and _object(path / "attempt-00" / "candidate.json").get("digest") == digest
    )


def _condition(config: Mapping[str, Any]) -> dict[str, Any]:
    options = config["options"]
    named = {key: config.get(key) for key in ("kernel", "device", "model", "package")}
    return {**named, **{key: options.get(key) for key in _ALIKE}}


def _outcome(path: Path, strategy: Strategy) -> Outcome | None:
    summary = _object(path / "summary.json")
    speedup, attempts = summary.get("speedup"), summary.get("attempts")
    if summary.get("stopped_because") not in _FINISHED:
        return None
    if not isinstance(speedup, float) or not isinstance(attempts, int):
        return None
    # With the start alone nobody was asked.
    if not (math.isfinite(speedup) and speedup > 0 and attempts > 1):
        return None
    return Outcome(strategy, path.name, speedup, attempts - 1)


def _configurations(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield how a run began and how it went on, each time."""
    began = _object(path / "config.json")
    later = (_bytes(path / record.CONTINUED) or b"").splitlines()
    for one in (began, *map(_parsed, later)):
        yield one if isinstance(one.get("options"), dict) else {"options": {}}


def _object(path: Path) -> dict[str, Any]:
    return _parsed(_bytes(path) or b"")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _bytes(path: Path) -> bytes | None:
    try:
        # A pipe of that name would keep its reader waiting.
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None
