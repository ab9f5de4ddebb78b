"""What came of a sandboxed call: one class per way in which it can end."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Level(StrEnum):
    """What stands around the call; `off` leaves limits of time and memory, and a clean environment."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    OFF = "off"


@dataclass(frozen=True)
class Barriers:
    """What stands around a call beside its limits; `landlock` is the version of it, 0 for none."""

    namespaces: bool = False
    landlock: int = 0
    seccomp: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """For records: ("namespaces", "landlock 7", "seccomp", "limits")."""
        standing = {
            "namespaces": self.namespaces,
            f"landlock {self.landlock}": self.landlock > 0,
            "seccomp": self.seccomp,
        }
        return (*(name for name, stands in standing.items() if stands), "limits")


@dataclass(frozen=True)
class Ok:
    """The function returned; its outputs are as wanted."""

    arrays: Mapping[str, NDArray[Any]]

    def __str__(self) -> str:
        return f"returned {', '.join(self.arrays)}"


@dataclass(frozen=True)
class Raised:
    """The function raised; `line` counts from 1 in the source, None if none of its lines took part."""

    type: str
    message: str
    line: int | None

    def __str__(self) -> str:
        where = "" if self.line is None else f" at line {self.line}"
        return f"raised {self.type}{where}: {self.message}"


@dataclass(frozen=True)
class TimedOut:
    """It used up its seconds: of the wall clock, or of the CPU if `of_cpu`."""

    limit_s: float
    of_cpu: bool = False

    def __str__(self) -> str:
        return f"did not end within {self.limit_s:g} s{' of CPU time' if self.of_cpu else ''}"


@dataclass(frozen=True)
class OutOfMemory:
    """It asked for more memory than it may have."""

    limit_bytes: int

    def __str__(self) -> str:
        return f"asked for more than {self.limit_bytes / 2**20:.0f} MiB of memory"


@dataclass(frozen=True)
class Killed:
    """A signal ended its process."""

    signal: int

    def __str__(self) -> str:
        known = {one.value: one.name for one in signal.Signals}
        return f"was ended by {known.get(self.signal, f'signal {self.signal}')}"


@dataclass(frozen=True)
class BadOutput:
    """It ended, but what it left is not what was asked for."""

    why: str

    def __str__(self) -> str:
        return f"gave no usable output: {self.why}"


@dataclass(frozen=True)
class Refused:
    """It was never run."""

    why: str

    def __str__(self) -> str:
        return f"was not run: {self.why}"


Outcome = Ok | Raised | TimedOut | OutOfMemory | Killed | BadOutput | Refused


@dataclass(frozen=True)
class SandboxRun:
    """An outcome, the beginning of what was printed, and what stood around the call."""

    outcome: Outcome
    level: Level
    barriers: Barriers
    stdout: str = ""
    stderr: str = ""
    cpu_s: float = 0.0
