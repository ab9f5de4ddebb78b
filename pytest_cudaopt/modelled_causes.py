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
# A counter that was nearly 0 has no ratio worth its size; 32 is what one warp can lose.
_MOST_RATIO = 32.0
_PIPES = ("fp32", "fp64", "integer", "half", "special", "tensor", "control")


@dataclass(frozen=True)
class _Figure:
    """What may be the cause: a sum of counters, or what there is of it for each of others.

    `terms` are those of the model it makes longer.
    """

    name: str
    counters: tuple[str, ...]
    terms: tuple[str, ...]
    per: tuple[str, ...] = ()
    less_is_worse: bool = False

    def of(self, counters: Mapping[str, int]) -> float:
        above, below = self.parts(counters)
        return above / below if below else float(above)

    def parts(self, counters: Mapping[str, int]) -> tuple[int, int]:
        """Return the counters and what they are divided by, 0 where that is nothing."""
        return _total(counters, self.counters), _total(counters, self.per)

    def worse(self, before: float, after: float) -> float:
        """Return how many times as bad `after` is, within what a ratio can say."""
        first, second = (after, before) if self.less_is_worse else (before, after)
        return min(_MOST_RATIO, second / first if first else max(second, 1.0))


_LOADED, _ISSUED = ("lsu", "latency"), ("issue", "latency")
_INSTRUCTIONS = tuple(f"warp_instructions.{pipe}" for pipe in (*_PIPES, "memory"))
_FIGURES = (
    _Figure(
        "global load sectors per request",
        ("global_load_sectors",),
        (*_LOADED, "l2", "dram"),
        per=("global_load_requests",),
    ),
    _Figure(
        "global store sectors per request",
        ("global_store_sectors",),
        (*_LOADED, "l2", "dram"),
        per=("global_store_requests",),
    ),
    _Figure("global load requests", ("global_load_requests",), (*_LOADED, "issue")),
    _Figure("global store requests", ("global_store_requests",), (*_LOADED, "issue")),
    _Figure("shared wavefronts per request", ("shared_wavefronts",), _LOADED, per=("shared_requests",)),
    _Figure("shared requests", ("shared_requests",), _LOADED),
    _Figure("local requests", ("local_requests",), (*_LOADED, "issue")),
    _Figure(
        "atomic serialisations per request",
        ("atomic_serializations",),
        (*_LOADED, "atomics"),
        per=("atomic_requests",),
    ),
    _Figure("atomic requests", ("atomic_requests",), (*_LOADED, "atomics")),
    _Figure("barriers", ("barriers",), ("latency",)),
    _Figure("blocks", ("blocks",), ("blocks", "tail")),
    _Figure("divergent branches", ("divergent_branches",), (*_ISSUED, *_PIPES)),
    _Figure(
        "active lanes per instruction",
        ("lane_instructions",),
        (*_ISSUED, *_PIPES),
        per=_INSTRUCTIONS,
        less_is_worse=True,
    ),
    *(_Figure(f"{pipe} instructions", (f"warp_instructions.{pipe}",), (*_ISSUED, pipe)) for pipe in _PIPES),
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
    return tuple(cause for _, cause in telling[:_MOST_CAUSES]) or _longest(before, after, growth)


_Found = tuple[float, tuple[str, ...], Cause]


def _counted(before: Latency, after: Latency) -> Iterator[_Found]:
    earlier, current = (flattened(one.counters or {}) for one in (before, after))
    for figure in _FIGURES:
        was, now = figure.of(earlier), figure.of(current)
        if was == now:
            continue
        at = _line(figure, was, before.by_line, after.by_line)
        cause = Cause(figure.name, was, now)
        placed = cause if at is None else replace(cause, file=at.file, line=at.line)
        yield figure.worse(was, now), figure.terms, placed


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
    return max(changed or counting, key=lambda one: _excess(figure, was, one), default=None)


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


def _excess(figure: _Figure, was: float, line: LineCounters) -> float:
    above, below = figure.parts(line.flat)
    excess = above - was * below if figure.per else float(above)
    return -excess if figure.less_is_worse else excess


def _total(counters: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(counters.get(name, 0) for name in names)
