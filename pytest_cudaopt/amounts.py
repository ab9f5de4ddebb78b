"""The work of a launch: how a declaration says it, and what that is at one case."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt import expressions
from pytest_cudaopt.expressions import Expression

_TOUCHED = "touched"


@dataclass(frozen=True)
class Work:
    """What a launch has to do at least: floating-point operations and bytes moved to or from memory.

    `bytes_touched` asks for the bytes to be counted instead; where `sim` cannot count them they stay unknown.
    """

    flops: Expression | None = None
    bytes: Expression | None = None
    bytes_touched: bool = False


@dataclass(frozen=True)
class Amount:
    """The work of one launch; None where it is unknown. `bytes_counted`: they are not declared."""

    flops: int | None = None
    bytes: int | None = None
    bytes_counted: bool = False


def work(*, flops: str | int | None = None, bytes: str | int | None = None) -> Work:
    """Declare a launch's least work as expressions over sizes; `bytes="touched"` has `sim` count them.

    Counted are the sectors of 32 bytes that the launch reads or writes, each once. Too high a declared number
    makes an honest kernel look impossibly fast: count each byte read once and each byte written once.
    """
    touched = bytes == _TOUCHED
    return Work(
        None if flops is None else expressions.parse(flops),
        None if bytes is None or touched else expressions.parse(bytes),
        touched,
    )
