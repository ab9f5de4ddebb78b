"""How long the kernel items of one process may take together, and in which order they spend it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Clock = Callable[[], float]


class SessionBudget:
    """Counts what items take; a `limit_s` of None is never spent. `clock` tells seconds."""

    def __init__(self, limit_s: float | None, clock: Clock = time.monotonic) -> None:
        self.limit_s = limit_s
        self.clock = clock
        self._spent_s = 0.0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count what happens inside."""
        began_s = self.clock()
        try:
            yield
        finally:
            self._spent_s += self.clock() - began_s

    @property
    def is_spent(self) -> bool:
        return self.limit_s is not None and self._spent_s >= self.limit_s


def lowest_first(items: Sequence[T], rank: Callable[[T], int | None]) -> list[T]:
    """Return `items` with those that have a rank in its order, the lowest first, in the places they had.

    Equal ranks keep their order, and what has no rank its place.
    """
    ranks = [rank(item) for item in items]
    ranked = [(own, item) for own, item in zip(ranks, items, strict=True) if own is not None]
    in_order = iter([item for _, item in sorted(ranked, key=lambda pair: pair[0])])
    return [item if own is None else next(in_order) for own, item in zip(ranks, items, strict=True)]
