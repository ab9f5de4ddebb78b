"""What the two sides write to each other as JSON, and where arrays lie in a block of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_cudaopt.sandbox.call import Limits

# Enough for every vector register.
_ALIGNMENT = 64
# Of an answer: names, dtypes and shapes, or what was raised.
ANSWER_BYTES = 64 * 1024
MOST_ARRAYS = 64
MOST_DIMENSIONS = 16
MOST_DEPTH = 16


@dataclass(frozen=True)
class Setup:
    """What the inside is told when it starts: folders to read, and which barriers to put up in each call.

    `importable` are folders to import packages from before the first call, `preloaded` their names.
    """

    readable: tuple[str, ...]
    importable: tuple[str, ...]
    preloaded: tuple[str, ...]
    landlock: bool
    seccomp: bool


@dataclass(frozen=True)
class Start:
    """Begin a call in `folder`; its descriptors travel beside this message."""

    folder: str
    limits: Limits


@dataclass(frozen=True)
class Ended:
    """How the process of a call ended, as waitpid() says it, and whether its wall clock was why."""

    status: int
    timed_out: bool
    cpu_s: float


@dataclass(frozen=True)
class ArrayEntry:
    """One array of a block; `dtype` is a name such as f32."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class RaisedNote:
    """What the function raised."""

    type: str
    message: str
    line: int | None = None
    out_of_memory: bool = False


@dataclass(frozen=True)
class Answer:
    """What the process of a call says of itself: arrays, or what was raised, or why it ran nothing."""

    arrays: tuple[ArrayEntry, ...] | None = None
    raised: RaisedNote | None = None
    refused: str | None = None


def places(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Return the offset of each of the arrays of these bytes, one after the other, and the whole length."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return offsets, end
