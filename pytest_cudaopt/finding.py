"""What a device saw go wrong while it executed a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    IMPLAUSIBLE = "implausible"


# The machine or the simulator gave up, which says nothing about the kernel.
NOT_JUDGED = frozenset({FindingKind.UNSUPPORTED_INSTRUCTION, FindingKind.OUT_OF_MEMORY})


@dataclass(frozen=True)
class SourcePoint:
    """A line of a source file as the compiler saw it."""

    file: str
    line: int


@dataclass(frozen=True)
class Finding:
    """One fault, with as much of its place as the device knows.

    `block` and `thread` are indices (x, y, z); `element` indexes the flattened array and may lie outside
    it. `file` and `line` point at the user's own line; `inlined_from` goes outward from there.
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

    @property
    def is_placed(self) -> bool:
        """Whether it is known which instruction did it."""
        return self.line is not None or self.instruction is not None

    @classmethod
    def from_fault(cls, fault: Mapping[str, Any]) -> Finding:
        """Read the `fault` object of a harness answer."""
        return cls(
            kind=FindingKind(fault["kind"]),
            message=str(fault["message"]),
            file=fault.get("file"),
            line=fault.get("line"),
            inlined_from=tuple(
                SourcePoint(point["file"], point["line"]) for point in fault.get("inlined_from", ())
            ),
            instruction=fault.get("instruction"),
            buffer=fault.get("buffer"),
            element=fault.get("element"),
            elements=fault.get("elements"),
            bytes=fault.get("bytes"),
            access=fault.get("access"),
            space=fault.get("space"),
            block=_index(fault.get("block")),
            thread=_index(fault.get("thread")),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are known, ready for `json.dumps`."""
        return {key: value for key, value in asdict(self).items() if value not in (None, ())}


def _index(value: Any) -> tuple[int, int, int] | None:
    if value is None:
        return None
    x, y, z = value
    return (int(x), int(y), int(z))
