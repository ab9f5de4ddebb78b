"""Sizes that keep a contract: built one after the other, each so that the rest can still follow.

Knows no random numbers: whoever draws hands in `pick`. Nothing is drawn and thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from pytest_cudaopt.contract import Contract
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.size_pools import EDGES, Pool, fits, pool
from pytest_cudaopt.size_space import Condition, Space, conditions_of

# (least, most) -> an integer between them, both included.
Pick = Callable[[int, int], int]
# Values looked at to find one size: enough for any contract people write, a few milliseconds.
_SEARCHED = 400
# In the search for a contradiction, and in all those together that explain it, while a module is imported.
_SEARCHED_AT_IMPORT = 200
_SEARCHED_TO_EXPLAIN = 100
_TRIED = 200
_UNBOUNDED = 1 << 31


def space_of(
    contract: Contract,
    sizes: Iterable[str],
    derived: tuple[tuple[str, Expression], ...],
    largest: Mapping[str, int],
) -> Space:
    """Return where a contract lets sizes lie; without a domain from 1 to twice the `largest` of each."""
    domain = dict(contract.domain)
    intervals: dict[str, tuple[int, int]] = {}
    for name in sizes:
        low, high = 1, max(1, 2 * largest.get(name, 1))
        if name in domain:
            least, most = domain[name].low.constant, domain[name].high.constant
            low = 0 if least is None else least
            # An end that depends on other sizes is a condition.
            high = max(low, 1 << 20) if most is None else most
        intervals[name] = (low, high)
    conditions = conditions_of(contract.constraints, derived)
    return Space(_in_order(intervals, contract), dict(contract.choices), conditions, derived)


def construct(space: Space, pick: Pick) -> dict[str, int] | None:
    """Return sizes of the space, chosen by `pick`; None if none were found.

    The first alternative that `pick` is offered and the smallest number stand for the simplest sizes.
    """
    known = dict(space.fixed)
    for name in space.names:
        offered = pool(space, known, name)
        if not offered.values:
            return None
        tried = islice(offered.near(_wanted(space, known, name, offered, pick)), _TRIED)
        value = _first_that_leads_on(space, known, name, tried)
        if value is None:
            return None
        known[name] = value
    return known


def contradiction(
    contract: Contract, sizes: tuple[str, ...], derived: tuple[tuple[str, Expression], ...]
) -> Contradiction | None:
    """Return conditions that nothing was found to satisfy together, none of which can be left out."""
    space = _unbounded(contract, sizes, derived)
    if (missing := _search(space, {}, _SEARCHED_AT_IMPORT)).found is not None:
        return None
    needed, most = space.conditions, max(10, _SEARCHED_TO_EXPLAIN // (len(space.conditions) + 1))
    for condition in space.conditions:
        fewer = tuple(other for other in needed if other is not condition)
        outcome = _search(_limited_to(space, fewer), {}, most)
        if outcome.found is None:
            needed, missing = fewer, outcome
    names = frozenset().union(*(condition.names for condition in needed))
    listed = [f"choices['{name}']" for name in sorted(names & space.choices.keys())]
    return Contradiction((*(str(c.expression) for c in needed), *listed), missing.is_complete)


@dataclass(frozen=True)
class Contradiction:
    """Conditions as they were written; `is_proved` says that all there is was looked at."""

    conditions: tuple[str, ...]
    is_proved: bool

    def __str__(self) -> str:
        return " and ".join(f"'{condition}'" for condition in self.conditions)


def _wanted(space: Space, known: Mapping[str, int], name: str, offered: Pool, pick: Pick) -> int:
    values = offered.values
    if name in space.choices:
        return values[pick(0, len(values) - 1)]
    open_ones = sum(other not in known for other in space.names)
    intervals = list(_intervals(space, values[0], values[-1], open_ones))
    low, high = intervals[pick(0, len(intervals) - 1)]
    return pick(low, high)


def _intervals(space: Space, low: int, high: int, open_ones: int) -> Iterator[tuple[int, int]]:
    """Yield ranges to draw from: as often the whole one as all the edges together.

    Ranges and not values, so that a number that fails can go on being tried where all numbers are allowed.
    """
    edges = [(edge - 1, edge + 1) for edge in sorted({*EDGES[1:], *space.edges}) if low < edge < high]
    special = [(low, low), *edges, (high, high)]
    # What several sizes share is used up by the first: leave the others a part.
    share = max(low, min(high, int(high ** (1 / open_ones)))) if high > 0 else low
    for _ in range(max(1, len(special) // 3)):
        yield low, high
        yield low, share
        yield low, min(high, low + 64)
    yield from special


def _first_that_leads_on(
    space: Space, known: Mapping[str, int], name: str, tried: Iterable[int]
) -> int | None:
    left = _SEARCHED
    for value in tried:
        if not fits(space, known, name, value):
            continue
        result = _search(space, {**known, name: value}, left)
        if result.found is not None:
            return value
        left -= result.looked_at
        if left <= 0:
            return None
    return None


@dataclass
class _Search:
    """The sizes found, if any; `is_complete` says that there are no others."""

    most: int
    is_complete: bool = True
    looked_at: int = 0
    found: dict[str, int] | None = None


def _search(space: Space, known: Mapping[str, int], most: int) -> _Search:
    state = _Search(most)
    state.found = _extend(space, {**dict(space.fixed), **known}, state)
    return state


def _extend(space: Space, known: dict[str, int], state: _Search) -> dict[str, int] | None:
    # What no condition is about goes with anything.
    about = frozenset().union(*(condition.names for condition in space.conditions))
    name = next((name for name in space.names if name not in known and name in about), None)
    if name is None:
        return known
    offered = pool(space, known, name)
    state.is_complete &= offered.is_complete
    for value in offered.values:
        state.looked_at += 1
        if state.looked_at > state.most:
            state.is_complete = False
            return None
        if (found := _extend(space, {**known, name: value}, state)) is not None:
            return found
    return None


def _in_order(intervals: dict[str, tuple[int, int]], contract: Contract) -> dict[str, tuple[int, int]]:
    """Order sizes so that the ends of a domain come before what they bound."""
    domain = dict(contract.domain)
    ordered: dict[str, tuple[int, int]] = {}

    def place(name: str, above: frozenset[str]) -> None:
        if name in ordered or name not in intervals or name in above:
            return
        if name in domain:
            for other in sorted(domain[name].low.names | domain[name].high.names):
                place(other, above | {name})
        ordered[name] = intervals[name]

    for name in intervals:
        place(name, frozenset())
    return ordered


def _unbounded(
    contract: Contract, sizes: tuple[str, ...], derived: tuple[tuple[str, Expression], ...]
) -> Space:
    """Return the space of the conditions alone: domains count as conditions too."""
    space = space_of(contract, sizes, derived, {})
    wide = replace(space, intervals=dict.fromkeys(space.intervals, (0, _UNBOUNDED)))
    return _limited_to(wide, space.conditions)


def _limited_to(space: Space, conditions: tuple[Condition, ...]) -> Space:
    """Return the space of the sizes that `conditions` are about: any others go with them."""
    names = frozenset().union(*(condition.names for condition in conditions))
    intervals = {name: ends for name, ends in space.intervals.items() if name in names}
    return replace(space, conditions=conditions, intervals=intervals)
