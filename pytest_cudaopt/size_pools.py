"""Which values one size may still have, given others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_cudaopt.contract import holds
from pytest_cudaopt.size_hints import LONGEST_PERIOD, Hint, Line, hint
from pytest_cudaopt.size_space import Sizes, Space

# Where kernels go wrong: one element, around a warp, around usual blocks.
EDGES = (1, 32, 64, 128, 256, 512, 1024)
# A range of so many values is listed, and not reduced to candidates.
_LISTED = 192


@dataclass(frozen=True)
class Pool:
    """Values a size may have, ascending; between them, those of `offset + k * step` may do too.

    `is_complete` says that if any value will do, one of these does.
    """

    values: tuple[int, ...]
    step: int = 1
    offset: int = 0
    is_complete: bool = True

    def near(self, wanted: int) -> Iterator[int]:
        """Yield values to try for `wanted`, the nearest first."""
        if self.values:
            stepped = wanted - (wanted - self.offset) % self.step
            yield from (v for v in (stepped, stepped + self.step) if self.values[0] <= v <= self.values[-1])
            yield from sorted(self.values, key=lambda value: (abs(value - wanted), value))


def fits(space: Space, known: Sizes, name: str, value: int) -> bool:
    """True if nothing that is decided with `name` at `value` forbids it."""
    sizes = space.with_derived({**known, name: value})
    decided = (c for c in space.conditions if name in c.names and c.names <= known.keys() | {name})
    if not all(holds(condition.expression, sizes) for condition in decided):
        return False
    # What is still open will be at least its least: elements grow with sizes.
    smallest = {other: space.least(other) for other in space.names if other not in sizes}
    return space.is_affordable({**smallest, **known, name: value})


def pool(space: Space, known: Sizes, name: str) -> Pool:
    """Return the values of `name` that go with the `known` sizes."""
    if name in space.choices:
        return Pool(tuple(v for v in space.choices[name] if fits(space, known, name, v)))
    low, high = space.intervals[name]
    touching = [c for c in space.conditions if name in c.names]
    decided = [c for c in touching if c.names <= known.keys() | {name}]
    hints = [hint(c.expression, Line(space, known, name, low, high)) for c in decided]
    steps = [one.period for one in hints if one.offset is not None]
    step = math.lcm(*steps) if steps else 1
    candidates = _candidates(space, low, high, hints, step, _affordable_end(space, known, name))
    values = tuple(v for v in sorted(candidates) if fits(space, known, name, v))
    known_form = all(one.recognised for one in hints) and len(decided) == len(touching)
    whole_period = math.lcm(1, *(one.period for one in hints)) <= LONGEST_PERIOD
    complete = high - low < _LISTED or (known_form and whole_period)
    offset = values[0] % step if values else 0
    return Pool(values, step, offset, complete)


def _candidates(space: Space, low: int, high: int, hints: list[Hint], step: int, affordable: int) -> set[int]:
    if high - low < _LISTED:
        return set(range(low, high + 1))
    turns = {low, *(value for one in hints for value in one.values)}
    period = min(math.lcm(1, *(one.period for one in hints)), LONGEST_PERIOD)
    found = {value for turn in turns for value in range(turn - 1, turn + period + 2)}
    edges = {*EDGES, *space.edges, affordable, high}
    found |= {value for edge in edges for value in (edge - 1, edge, edge + 1)}
    # A size that goes in steps has its edges at multiples of them.
    found |= {multiple * step for multiple in range(1, 65)}
    found |= {value - value % step for value in edges}
    return {value for value in found if low <= value <= high}


def _affordable_end(space: Space, known: Sizes, name: str) -> int:
    """Return the largest affordable value, if what it costs grows with it."""
    low, high = space.intervals[name]
    smallest = {other: space.least(other) for other in space.names if other not in known}
    while low < high:
        middle = (low + high + 1) // 2
        if space.is_affordable({**smallest, **known, name: middle}):
            low = middle
        else:
            high = middle - 1
    return low
