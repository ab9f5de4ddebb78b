"""The offline tuner: proposes other values for a kernel's `@tune` names. Pure: no clock, no files."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.directives import Directives
from pytest_cudaopt.optimize.attempt import Attempt, Dialogue, Proposal, Ready

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.run import Run

# Beyond this many settings the grid is sampled instead of listed.
_LISTED_SETTINGS = 4096
_SAMPLED_SETTINGS = 1024
_DRAWS = 50_000

Setting = tuple[int, ...]  # a value per tunable, in declared order
_Place = tuple[float, ...]  # the same, as ranks scaled to 0..1


@dataclass(frozen=True)
class Space:
    """The settings a tuner may choose from: the start first, then every other allowed one it knows."""

    names: tuple[str, ...]
    start: Setting
    others: tuple[Setting, ...]
    places: Mapping[Setting, _Place]

    @classmethod
    def of(cls, directives: Directives, *, seed: int) -> Space:
        """Collect the settings that satisfy every `@tune where`; a huge grid is sampled by `seed`."""
        names = tuple(tunable.name for tunable in directives.tunables)
        values = [tunable.values for tunable in directives.tunables]
        start = tuple(choices[0] for choices in values)
        ranks = [{v: rank for rank, v in enumerate(sorted(choices))} for choices in values]

        def place(setting: Setting) -> _Place:
            return tuple(rank[v] / max(1, len(rank) - 1) for rank, v in zip(ranks, setting, strict=True))

        if math.prod(len(choices) for choices in values) <= _LISTED_SETTINGS:
            found = itertools.product(*values)
            allowed = [s for s in found if directives.allows(dict(zip(names, s, strict=True)))]
        else:
            allowed = _sample(directives, names, values, seed)
        others = tuple(setting for setting in dict.fromkeys(allowed) if setting != start)
        return cls(names, start, others, {setting: place(setting) for setting in (start, *others)})

    def distance(self, one: Setting, other: Setting) -> float:
        """Return how far two settings are apart, 1 for each tunable that goes from one end to the other."""
        return sum(abs(a - b) for a, b in zip(self.places[one], self.places[other], strict=True))


@dataclass(frozen=True)
class Tuner:
    """Proposes settings of `space`, at most `limit` of them, none twice.

    A space that fits the limit is tried completely, nearest to the start first. From a larger one the
    first half of the proposals is spread over it and the second half surrounds the best found so far.
    """

    start: Candidate
    space: Space
    limit: int
    seed: int = 0

    @classmethod
    def of(cls, start: Candidate, directives: Directives, *, limit: int, seed: int) -> Tuner:
        return cls(start, Space.of(directives, seed=seed), limit, seed)

    @property
    def exhausted_reason(self) -> str:
        if not self.space.names:
            return f"nothing to vary: {self.start.file} has no line such as '// @tune BLOCK = 128, 256, 512'"
        return f"every allowed setting of {', '.join(self.space.names)} was tried"

    def begin(self, run: Run, parent: Attempt, number: int) -> Dialogue | None:
        # A round of several would get the same setting several times.
        proposal = None if run.dialogues else self.propose(run.attempts)
        return None if proposal is None else Ready(proposal)

    def propose(self, attempts: Sequence[Attempt]) -> Proposal | None:
        """Return the next setting given all attempts so far, or None if every one was tried."""
        # Of a run that goes on, others may have proposed other sources, or nothing.
        tried = [setting for one in attempts if (setting := self._setting(one)) is not None]
        left = [setting for setting in self.space.others if setting not in tried]
        if not left or len(attempts) > self.limit:
            return None
        if len(self.space.others) <= self.limit:
            chosen, why = self._nearest(left, self.space.start), "every allowed setting is tried"
        elif len(attempts) <= math.ceil(self.limit / 2):
            chosen, why = self._farthest(left, tried), "spread over the allowed settings"
        else:
            best = max(attempts, key=lambda attempt: (attempt.verdict.decision.is_kept, attempt.number))
            chosen, why = self._nearest(left, self._setting(best) or self.space.start), "near the best so far"
        return Proposal(self.start.with_tunables(dict(zip(self.space.names, chosen, strict=True))), why)

    def _setting(self, attempt: Attempt) -> Setting | None:
        """Return the attempt's place in the space; None if it has none there."""
        chosen = attempt.tunables
        if chosen.keys() != set(self.space.names):
            return None
        setting = tuple(chosen[name] for name in self.space.names)
        return setting if setting in self.space.places else None

    def _nearest(self, left: Sequence[Setting], to: Setting) -> Setting:
        return min(left, key=lambda setting: (self.space.distance(setting, to), self._draw(setting)))

    def _farthest(self, left: Sequence[Setting], tried: Sequence[Setting]) -> Setting:
        def clearance(setting: Setting) -> float:
            return min(self.space.distance(setting, other) for other in tried)

        return max(left, key=lambda setting: (clearance(setting), self._draw(setting)))

    def _draw(self, setting: Setting) -> float:
        """Break ties between settings by the seed, the same way on every machine."""
        return random.Random(f"{self.seed}/{setting}").random()  # noqa: S311 - an order, not a secret


def _sample(
    directives: Directives, names: tuple[str, ...], values: Sequence[tuple[int, ...]], seed: int
) -> list[Setting]:
    rng = random.Random(seed)  # noqa: S311 - reproducible sampling, not a secret
    found: dict[Setting, None] = {}
    for _ in range(_DRAWS):
        setting = tuple(rng.choice(choices) for choices in values)
        if setting not in found and directives.allows(dict(zip(names, setting, strict=True))):
            found[setting] = None
        if len(found) == _SAMPLED_SETTINGS:
            break
    return list(found)
