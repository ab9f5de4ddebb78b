"""What a scan of compiled code may find, and which probes each finding asks for: tripwires, no verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
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


class Aim(StrEnum):
    """What the probes after a scan can do more of."""

    REPEATED_LAUNCHES = "repeated_launches"
    NEW_CONTENTS = "new_contents_at_the_same_addresses"
    NEW_ADDRESSES = "same_contents_at_new_addresses"
    REPEATABILITY = "repeatability"
    TIMED_OUTPUTS = "outputs_of_timed_launches"
    COLD_CACHE = "cold_cache"
    SCHEDULES = "schedules"
    INTEGER_INPUTS = "integer_inputs"
    MIXED_MAGNITUDES = "mixed_magnitudes"
    CANCELLING = "cancelling_terms"
    EXTREME_VALUES = "extreme_values"
    SUBNORMALS = "subnormals"
    MORE_SIZES = "more_sizes"


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


_AIMS: Mapping[TripwireKind, tuple[Aim, ...]] = {
    TripwireKind.MODULE_STATE: (
        Aim.REPEATED_LAUNCHES,
        Aim.NEW_CONTENTS,
        Aim.NEW_ADDRESSES,
        Aim.TIMED_OUTPUTS,
    ),
    TripwireKind.CACHE_POLICY: (Aim.COLD_CACHE, Aim.NEW_CONTENTS),
    TripwireKind.CLOCK: (Aim.REPEATABILITY, Aim.TIMED_OUTPUTS),
    TripwireKind.PLACE_OR_LAUNCH: (Aim.SCHEDULES, Aim.REPEATABILITY, Aim.TIMED_OUTPUTS),
    TripwireKind.TRAP: (Aim.MORE_SIZES, Aim.EXTREME_VALUES),
    TripwireKind.PRINTF: (Aim.REPEATABILITY,),
    TripwireKind.HEAP: (Aim.REPEATED_LAUNCHES, Aim.MORE_SIZES),
    TripwireKind.EXTERNAL_CALL: (Aim.REPEATED_LAUNCHES, Aim.REPEATABILITY),
    TripwireKind.SLEEP: (Aim.SCHEDULES, Aim.REPEATABILITY),
    TripwireKind.INCLUDE: (),
    TripwireKind.NARROWER: (Aim.INTEGER_INPUTS, Aim.MIXED_MAGNITUDES, Aim.CANCELLING),
    TripwireKind.LOW_PRECISION: (Aim.INTEGER_INPUTS, Aim.MIXED_MAGNITUDES, Aim.CANCELLING),
    TripwireKind.APPROXIMATE: (Aim.EXTREME_VALUES, Aim.MIXED_MAGNITUDES),
    TripwireKind.FLUSH_TO_ZERO: (Aim.SUBNORMALS, Aim.EXTREME_VALUES),
}


def aims(tripwires: Iterable[Tripwire]) -> dict[Aim, tuple[TripwireKind, ...]]:
    """Return what the probes should do more of, each with the kinds that ask for it."""
    wanted: dict[Aim, list[TripwireKind]] = defaultdict(list)
    for kind in dict.fromkeys(one.kind for one in tripwires):
        for aim in _AIMS[kind]:
            wanted[aim].append(kind)
    return {aim: tuple(wanted[aim]) for aim in Aim if aim in wanted}


def ordered(found: Iterable[Tripwire]) -> tuple[Tripwire, ...]:
    """Return them by kind, then by place."""
    rank = {kind: number for number, kind in enumerate(TripwireKind)}

    def key(one: Tripwire) -> tuple[int, str, int, str]:
        file, line = ("", 0) if one.place is None else (one.place.file, one.place.line)
        return rank[one.kind], file, line, one.detail

    return tuple(sorted(found, key=key))
