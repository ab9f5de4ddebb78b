"""When a run has had enough: iterations, tokens, time, patience, nearness to the floor. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize.summary import StopReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cudaopt.optimize.attempt import Attempt


@dataclass(frozen=True)
class Limits:
    """Bounds of a run; None is none.

    `patience` is how many attempts in a row may bring nothing, `floor_share` the share of the floor's speed
    that is enough: 0.9 stops at a geometric mean of 1 / 0.9 times the floor.
    """

    iterations: int
    tokens: int | None = None
    seconds: float | None = None
    until: datetime | None = None
    patience: int | None = None
    floor_share: float | None = None


@dataclass(frozen=True)
class Spent:
    """What a run has used so far."""

    tokens: int
    seconds: float
    now: datetime


def stop(
    limits: Limits, attempts: Sequence[Attempt], spent: Spent, floor_share: float | None
) -> tuple[StopReason, str] | None:
    """Return why to stop before the next proposal, and a sentence; None to go on.

    `floor_share` is the share of the floor's speed the best has reached, None if the floor is unknown.
    """
    tried = len(attempts) - 1
    if tried >= limits.iterations:
        return StopReason.ITERATIONS_USED, f"limit of {limits.iterations} iterations reached"
    if limits.tokens is not None and spent.tokens >= limits.tokens:
        return StopReason.TOKENS_USED, f"{spent.tokens} tokens used, {limits.tokens} are the limit"
    if limits.seconds is not None and spent.seconds >= limits.seconds:
        return StopReason.SECONDS_USED, f"{spent.seconds:.0f} s used, {limits.seconds:g} are the limit"
    if limits.until is not None and spent.now >= limits.until:
        return StopReason.SECONDS_USED, f"it is {limits.until:%H:%M}"
    fruitless = _fruitless(attempts)
    if limits.patience is not None and fruitless >= limits.patience:
        return StopReason.PATIENCE_LOST, f"nothing better in {fruitless} attempts"
    if limits.floor_share is not None and floor_share is not None and floor_share >= limits.floor_share:
        return (
            StopReason.NEAR_FLOOR,
            f"{100 * floor_share:.0f} % of the floor's speed reached, "
            f"{100 * limits.floor_share:g} % are enough",
        )
    return None


def next_time(clock: str, now: datetime) -> datetime:
    """Return the next moment at which it is `clock`, written "07:00"; raise ValueError for another text."""
    hour, minute = (int(part) for part in clock.split(":"))
    moment = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return moment if moment > now else moment + timedelta(days=1)


def _fruitless(attempts: Sequence[Attempt]) -> int:
    kept = [one.number for one in attempts if one.verdict.decision.is_kept]
    return attempts[-1].number - kept[-1] if kept else len(attempts) - 1
