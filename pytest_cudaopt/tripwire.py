"""What may stand out in a candidate, in its code or in what it computes: tripwires, no verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pytest_cudaopt.finding import SourcePoint


class TripwireKind(StrEnum):
    """What may be found."""

    MODULE_STATE = "module_state"
    CACHE_POLICY = "cache_policy"
    CLOCK = "clock"
    PLACE_OR_LAUNCH = "place_or_launch"
    TRAP = "trap"
    PRINTF = "printf"
    HEAP = "heap"
    EXTERNAL_CALL = "external_call"
    SLEEP = "sleep"
    INCLUDE = "include"
    NARROWER = "narrower"
    LOW_PRECISION = "low_precision"
    APPROXIMATE = "approximate"
    FLUSH_TO_ZERO = "flush_to_zero"
    OTHER_FORMULA = "other_formula"


@dataclass(frozen=True)
class Tripwire:
    """One thing found, `count` times, first at `place`.

    Tripwires of a kind with the same `detail` are the same to `new_since`: it names no symbol of the user's.
    `bytes` is what a variable holds from one launch to the next.
    """

    kind: TripwireKind
    detail: str
    message: str
    place: SourcePoint | None = None
    count: int = 1
    bytes: int | None = None

    def __str__(self) -> str:
        where = "" if self.place is None else f"{self.place.file}:{self.place.line}: "
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{where}{self.message}{times}"

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are known, ready for `json.dumps`."""
        place = {} if self.place is None else {"file": self.place.file, "line": self.place.line}
        size = {} if self.bytes is None else {"bytes": self.bytes}
        return {"kind": self.kind.value, "message": self.message, "count": self.count, **place, **size}


@dataclass(frozen=True)
class Scanned:
    """All tripwires of one source, by kind, then by line."""

    tripwires: tuple[Tripwire, ...] = ()

    def new_since(self, start: Scanned) -> tuple[Tripwire, ...]:
        """Return those that the starting kernel does not have too, however often or wherever.

        Of variables that keep values a kernel may have as many as the start, each as large.
        """
        known = {(one.kind, one.detail) for one in start.tripwires}
        kept = {
            one.detail: one.bytes or 0 for one in start.tripwires if one.kind is TripwireKind.MODULE_STATE
        }
        new: list[Tripwire] = []
        # One of the same name takes its own place; then the largest first, so that each takes the smallest
        # of the start's that is large enough.
        for one in sorted(self.tripwires, key=lambda one: (one.detail not in kept, -(one.bytes or 0))):
            if one.kind is not TripwireKind.MODULE_STATE:
                if (one.kind, one.detail) not in known:
                    new.append(one)
                continue
            fitting = [name for name, size in kept.items() if size >= (one.bytes or 0)]
            if fitting:
                del kept[min(fitting, key=lambda name: (name != one.detail, kept[name]))]
            else:
                new.append(one)
        return ordered(new)


def ordered(found: Iterable[Tripwire]) -> tuple[Tripwire, ...]:
    """Return them by kind, then by place."""
    rank = {kind: number for number, kind in enumerate(TripwireKind)}

    def key(one: Tripwire) -> tuple[int, str, int, str]:
        file, line = ("", 0) if one.place is None else (one.place.file, one.place.line)
        return rank[one.kind], file, line, one.detail

    return tuple(sorted(found, key=key))
