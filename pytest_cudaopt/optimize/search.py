"""Which attempts the next proposals vary: greedy from the best, or a beam from the best few. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.attempt import Attempt


@dataclass(frozen=True)
class Search:
    """`width` incumbents with `proposals` each; greedy is 1 and 1."""

    width: int = 1
    proposals: int = 1

    @property
    def round_size(self) -> int:
        return self.width * self.proposals


def parents(search: Search, attempts: Sequence[Attempt], best: int, most: int) -> list[int]:
    """Return the attempt each proposal of the next round varies: at most `most` of them.

    The incumbents are the best attempt and, of the accepted others, the fastest. Each gets its proposals;
    with fewer incumbents than the beam is wide, the best gets the rest.
    """
    incumbents = _incumbents(attempts, best, search.width)
    chosen = [number for number in incumbents for _ in range(search.proposals)]
    chosen += [best] * (search.round_size - len(chosen))
    return chosen[:most]


def _incumbents(attempts: Sequence[Attempt], best: int, width: int) -> list[int]:
    timed = (
        (-one.speedup, one.number)
        for one in (attempts if width > 1 else ())
        if one.evaluation.accepted and one.speedup is not None and one.number != best
    )
    return [best, *(number for _, number in heapq.nsmallest(width - 1, timed))]
