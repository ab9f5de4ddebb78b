"""What a device saw go wrong while it executed a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any


class FindingKind(StrEnum):
    """Kinds of fault and finding, spelled as PROTOCOL.md spells them."""

    COMPILE_ERROR = "compile_error"
    INVALID_LAUNCH = "invalid_launch"
    ILLEGAL_ADDRESS = "illegal_address"
    MISALIGNED = "misaligned"
    WRITE_TO_INPUT = "write_to_input"
    BARRIER_DIVERGENCE = "barrier_divergence"
    ABSENT_LANE = "absent_lane"
    RACE = "race"
    UNINITIALIZED_READ = "uninitialized_read"
    UNFINISHED_COPY = "unfinished_copy"
    NO_PROGRESS = "no_progress"
    TRAP = "trap"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED_INSTRUCTION = "unsupported_instruction"
    NO_NVRTC = "no_nvrtc"
    NO_DEVICE = "no_device"
    UNKNOWN_ENTRY = "unknown_entry"
    IO_ERROR = "io_error"
    LAUNCH_ERROR = "launch_error"
    HARNESS_CRASH = "harness_crash"
    INVALID_REQUEST = "invalid_request"
    ORDER_DEPENDENT = "order_dependent"
    IMPLAUSIBLE = "implausible"
    REGISTERS_EXCEEDED = "registers_exceeded"
    SPILL_EXCEEDED = "spill_exceeded"
    SHARED_EXCEEDED = "shared_exceeded"
    STACK_EXCEEDED = "stack_exceeded"


# What the checks of `sim` see without ending the launch, the surest to make a result wrong first.
SEEN_BY_CHECKS = (
    FindingKind.RACE,
    FindingKind.UNINITIALIZED_READ,
    FindingKind.UNFINISHED_COPY,
    FindingKind.ORDER_DEPENDENT,
)
# What exceeds a declared limit: the compiler's numbers, no launch.
BEYOND_LIMITS = (
    FindingKind.REGISTERS_EXCEEDED,
    FindingKind.SPILL_EXCEEDED,
    FindingKind.SHARED_EXCEEDED,
    FindingKind.STACK_EXCEEDED,
)
# The machine or the simulator gave up, which says nothing about the kernel.
NOT_JUDGED = frozenset({FindingKind.UNSUPPORTED_INSTRUCTION, FindingKind.OUT_OF_MEMORY})


@dataclass(frozen=True)
class SourcePoint:
    """A line of a source file as the compiler saw it."""

    file: str
    line: int


@dataclass(frozen=True)
class OtherParty:
    """The other side of a finding: whose access collides, and where."""

    access: str
    file: str | None = None
    line: int | None = None
    inlined_from: tuple[SourcePoint, ...] = ()
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None

    @classmethod
    def from_json(cls, other: Mapping[str, Any]) -> OtherParty:
        """Read the `other` object of a finding."""
        return cls(
            access=str(other["access"]),
            file=other.get("file"),
            line=_number(other.get("line")),
            inlined_from=_points(other),
            block=_index(other.get("block")),
            thread=_index(other.get("thread")),
        )


@dataclass(frozen=True)
class Finding:
    """One fault, with as much of its place as the device knows.

    `block` and `thread` are indices (x, y, z); `element` indexes the flattened array and may lie outside
    it. `file` and `line` point at the user's own line; `inlined_from` goes outward from there. `times` counts
    what was seen at this line on this array.
    """

    kind: FindingKind
    message: str
    file: str | None = None
    line: int | None = None
    inlined_from: tuple[SourcePoint, ...] = ()
    instruction: str | None = None
    buffer: str | None = None
    element: int | None = None
    elements: int | None = None
    bytes: int | None = None
    access: str | None = None
    space: str | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    other: OtherParty | None = None
    times: int = 1

    @property
    def is_placed(self) -> bool:
        """Whether it is known which instruction did it."""
        return self.line is not None or self.instruction is not None

    @property
    def places(self) -> tuple[SourcePoint, ...]:
        """Every known line of it, the other party's included."""
        parties = (self,) if self.other is None else (self, self.other)
        own = (SourcePoint(p.file, p.line) for p in parties if p.file is not None and p.line is not None)
        return (*own, *(point for party in parties for point in party.inlined_from))

    @property
    def mistake(self) -> object:
        """What it shares with every other finding of the same mistake: kind, lines and array.

        Without a line or an array, only the message is left to tell mistakes apart.
        """
        where = frozenset(self.places) or (self.message if self.buffer is None else "")
        return self.kind, where, self.buffer, self.space

    @classmethod
    def from_fault(cls, fault: Mapping[str, Any]) -> Finding:
        """Read the `fault` object of a harness answer."""
        return cls(
            kind=FindingKind(fault["kind"]),
            message=str(fault["message"]),
            file=fault.get("file"),
            line=_number(fault.get("line")),
            inlined_from=_points(fault),
            instruction=fault.get("instruction"),
            buffer=fault.get("buffer"),
            element=fault.get("element"),
            elements=fault.get("elements"),
            bytes=fault.get("bytes"),
            access=fault.get("access"),
            space=fault.get("space"),
            block=_index(fault.get("block")),
            thread=_index(fault.get("thread")),
            other=None if fault.get("other") is None else OtherParty.from_json(fault["other"]),
            times=int(fault.get("times", 1)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are known, ready for `json.dumps`."""
        known = _known(asdict(self))
        if self.times == 1:
            del known["times"]
        if self.other is not None:
            known["other"] = _known(asdict(self.other))
        return known


def most_severe_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return `findings` with what ended a launch before what was seen; equals stay in order."""
    rank = {kind: number for number, kind in enumerate(SEEN_BY_CHECKS)}
    return tuple(sorted(findings, key=lambda finding: rank.get(finding.kind, -1)))


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Return each mistake once: another order, another case or the other party may show it again."""
    kept: dict[object, Finding] = {}
    for finding in findings:
        known = kept.get(finding.mistake)
        times = finding.times if known is None else max(known.times, finding.times)
        kept[finding.mistake] = replace(known or finding, times=times)
    return list(kept.values())


def _known(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value not in (None, ())}


def _points(place: Mapping[str, Any]) -> tuple[SourcePoint, ...]:
    return tuple(SourcePoint(point["file"], point["line"]) for point in place.get("inlined_from", ()))


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _index(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    x, y, z = value
    return (int(x), int(y), int(z))
