"""What made a modelled latency longer: the counters that grew, and the lines they are counted at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_cudaopt.evaluation import Latency
from pytest_cudaopt.gated import Cause
from pytest_cudaopt.line_counters import LineCounters, flattened

_MOST_CAUSES = 3
# Compilers move a few instructions without anybody having changed anything.
_LEAST_RATIO = 1.05
# Where there was nothing of a kind, a ratio says nothing; 32 is what one warp can lose.
_MOST_RATIO = 32.0
_PIPES = ("fp32", "fp64", "integer", "half", "special", "tensor", "control")


@dataclass(frozen=True)
class _Figure:
    """What may be the cause: a sum of counters, or what there is of it `per` each of others.

    `pool` are the counters that it is a part of and that compete for the same thing: a tenfold number of next
    to nothing is no cause. `terms` are those of the model that it makes longer.
    """

    name: str
    counters: tuple[str, ...]
    pool: tuple[str, ...]
    terms: tuple[str, ...]
    per: tuple[str, ...] = ()
    less_is_worse: bool = False

    def of(self, counters: Mapping[str, int]) -> float:
        above, below = self.parts(counters)
        return above / below if below else float(above)

    def parts(self, counters: Mapping[str, int]) -> tuple[int, int]:
        """Return the counters and what they are divided by, 0 where that is nothing."""
        return _total(counters, self.counters), _total(counters, self.per)

    def excess(self, was: float, counters: Mapping[str, int]) -> float:
        """Return how much more `counters` have than if the figure still were what it was."""
        above, below = self.parts(counters)
        more = above - was * (below if self.per else 1)
        return -more if self.less_is_worse else more

    def worse(self, was: float, counters: Mapping[str, int]) -> float:
        """Return how many times as much there is of the pool because of the excess."""
        pool, excess = float(_total(counters, self.pool)), self.excess(was, counters)
        if self.less_is_worse:
            pool += excess
        return min(_MOST_RATIO, pool / (pool - excess)) if excess < pool else _MOST_RATIO


_LOADED = ("lsu", "latency")
_INSTRUCTIONS = tuple(f"warp_instructions.{pipe}" for pipe in (*_PIPES, "memory"))
_SECTORS = ("global_load_sectors", "global_store_sectors")
_OTHER_REQUESTS = ("global_load_requests", "global_store_requests", "local_requests")
_REQUESTS = (*_OTHER_REQUESTS, "shared_requests", "atomic_requests")
_PASSES = (*_OTHER_REQUESTS, "shared_wavefronts", "atomic_serializations")
_TO_MEMORY = (*_LOADED, "l2", "dram")
_FIGURES = (
    _Figure(
        "global load sectors per request",
        ("global_load_sectors",),
        _SECTORS,
        _TO_MEMORY,
        per=("global_load_requests",),
    ),
    _Figure(
        "global store sectors per request",
        ("global_store_sectors",),
        _SECTORS,
        _TO_MEMORY,
        per=("global_store_requests",),
    ),
    _Figure(
        "shared wavefronts per request", ("shared_wavefronts",), _PASSES, _LOADED, per=("shared_requests",)
    ),
    _Figure(
        "atomic serialisations per request",
        ("atomic_serializations",),
        _PASSES,
        (*_LOADED, "atomics"),
        per=("atomic_requests",),
    ),
    _Figure("global load requests", ("global_load_requests",), _REQUESTS, (*_LOADED, "issue")),
    _Figure("global store requests", ("global_store_requests",), _REQUESTS, (*_LOADED, "issue")),
    _Figure("shared requests", ("shared_requests",), _REQUESTS, (*_LOADED, "issue")),
    _Figure("local requests", ("local_requests",), _REQUESTS, (*_LOADED, "issue")),
    _Figure("atomic requests", ("atomic_requests",), _REQUESTS, _LOADED),
    # A few that meet are enough to wait for.
    _Figure("atomic requests", ("atomic_requests",), ("atomic_requests",), ("atomics",)),
    _Figure("barriers", ("barriers",), ("barriers", "blocks"), ("latency",)),
    _Figure("blocks", ("blocks",), ("blocks",), ("blocks", "tail")),
)
_PIPE_FIGURES = tuple(
    _Figure(f"{pipe} instructions", (f"warp_instructions.{pipe}",), _INSTRUCTIONS, (pipe, "issue", "latency"))
    for pipe in _PIPES
)
_BRANCHES = _Figure("divergent branches", ("divergent_branches",), ("divergent_branches",), ())
_LANES = _Figure(
    "active lanes per instruction",
    ("lane_instructions",),
    ("lane_instructions",),
    ("issue", "latency", *_PIPES),
    per=_INSTRUCTIONS,
    less_is_worse=True,
)


def causes(before: Latency, after: Latency) -> tuple[Cause, ...]:
    """Return what explains most of why `after` is longer, the most telling first, at most three.

    A figure tells the more the worse it became and the more the longest of its terms grew, that which bounds
    `after` most of all. Lines are the current source's, where the latencies were counted by line. Where no
    counter grew, the term that did. Spilled registers are not among them: the model does not know them.
    """
    growth = _growth(before, after)
    found = [
        (math.log(worse) * max(growth.get(term, 0.0) for term in terms), cause)
        for worse, terms, cause in (*_counted(before, after), *_occupancy(before, after))
        if worse >= _LEAST_RATIO
    ]
    telling = sorted((one for one in found if one[0] > 0), key=lambda one: -one[0])
    named = tuple(dict.fromkeys(cause for _, cause in telling))
    return named[:_MOST_CAUSES] or _longest(before, after, growth)


# How much worse, which terms, what to say.
_Found = tuple[float, tuple[str, ...], Cause]


def _counted(before: Latency, after: Latency) -> Iterator[_Found]:
    earlier, current = (flattened(one.counters or {}) for one in (before, after))
    fewer_lanes = max(1.0, _LANES.worse(_LANES.of(earlier), current))
    # The branch says more than the instructions that ran for fewer lanes because of it.
    if _BRANCHES.of(current) > _BRANCHES.of(earlier):
        yield fewer_lanes, _LANES.terms, _cause(_BRANCHES, before, after)
    yield fewer_lanes, _LANES.terms, _cause(_LANES, before, after)
    for figure in _FIGURES:
        yield figure.worse(figure.of(earlier), current), figure.terms, _cause(figure, before, after)
    for figure in _PIPE_FIGURES:
        # As many for each half of a warp are no more instructions.
        was = figure.of(earlier) * fewer_lanes
        yield figure.worse(was, current), figure.terms, _cause(figure, before, after)


def _cause(figure: _Figure, before: Latency, after: Latency) -> Cause:
    was, now = (figure.of(flattened(one.counters or {})) for one in (before, after))
    cause = Cause(figure.name, was, now)
    at = _line(figure, was, before.by_line, after.by_line)
    return cause if at is None else replace(cause, file=at.file, line=at.line)


def _occupancy(before: Latency, after: Latency) -> Iterator[_Found]:
    if before.occupancy is None or after.occupancy is None:
        return
    was, now = (float(one.occupancy["warps_per_sm"]) for one in (before, after) if one.occupancy)
    limit = after.occupancy["limited_by"]
    if now:
        yield was / now, ("latency",), Cause(f"warps per SM (limited by {limit})", was, now)


def _growth(before: Latency, after: Latency) -> dict[str, float]:
    """Return how many ns longer each term is; twice that of the one that bounds."""
    earlier = dict(before.terms_ns)
    return {
        name: (ns - earlier.get(name, 0.0)) * (2 if name == after.bound else 1) for name, ns in after.terms_ns
    }


def _longest(before: Latency, after: Latency, growth: Mapping[str, float]) -> tuple[Cause, ...]:
    grown = max(growth, key=lambda name: growth[name], default=None)
    if grown is None or growth[grown] <= 0:
        return ()
    was, now = dict(before.terms_ns).get(grown, 0.0), dict(after.terms_ns)[grown]
    return (Cause(f"the model's term '{grown}' in ns", was, now),)


def _line(
    figure: _Figure, was: float, before: Sequence[LineCounters], after: Sequence[LineCounters]
) -> LineCounters | None:
    """Return the line with most of what is too much; those that count as before are not to blame."""
    counting = [one for one in after if figure.parts(one.flat)[0]]
    changed = list(_changed(figure, before, counting))
    return max(
        changed or counting, key=lambda one: figure.excess(was if figure.per else 0.0, one.flat), default=None
    )


def _changed(
    figure: _Figure, before: Iterable[LineCounters], after: Iterable[LineCounters]
) -> Iterator[LineCounters]:
    # Lines move when a source is edited: what they count tells which is which.
    known = Counter(figure.parts(one.flat) for one in before)
    for line in after:
        parts = figure.parts(line.flat)
        if known[parts]:
            known[parts] -= 1
        else:
            yield line


def _total(counters: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(counters.get(name, 0) for name in names)
