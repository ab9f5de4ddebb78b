"""The gate's rule: which difference between two versions counts. Pure: samples in, a verdict out.

The unit is the block, as in `paired`. How many blocks are taken, and which are dropped, never depends on
which version was faster: only on their spread, and on the clocks both versions shared. docs/gate.md has the
formula.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_cudaopt.evaluation import SamplingMode
from pytest_cudaopt.gated import GateVerdict, Thresholds
from pytest_cudaopt.paired import PairedEstimate, estimate, t_quantile

START_BLOCKS = 10
MOST_BLOCKS = 60
POWER = 0.95
_MOST_DROPPED = 0.25
_STEADY = 0.01

Blocks = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Epoch:
    """Samples of both versions, in ns and by block, with modules loaded and buffers placed anew.

    `sm_clock_mhz` has a value per block, 0 where it is unknown, or none at all. `held_down` says what held
    the clocks down, empty if nothing did; `doubts` are other sentences for a person.
    """

    mode: SamplingMode
    earlier_ns: Blocks
    current_ns: Blocks
    sm_clock_mhz: Sequence[float] = ()
    held_down: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The numbers of the blocks that count."""
        numbers = range(len(self.earlier_ns))
        if self.held_down:
            return ()
        return tuple(i for i in numbers if not self.sm_clock_mhz or is_steady(self.sm_clock_mhz, i))


@dataclass(frozen=True)
class Measurement:
    """What one decision stands on: the blocks of one or more epochs that were kept.

    `estimate` is None if too few were, or if they cannot be taken together; `why_not` says why. The medians,
    of all kept samples, are None if there are none.
    """

    estimate: PairedEstimate | None
    why_not: str
    blocks: int
    epochs: int
    before_ns: float | None
    after_ns: float | None
    doubts: tuple[str, ...] = ()

    def verdict(self, thresholds: Thresholds) -> GateVerdict:
        """Return what this measurement says alone."""
        return GateVerdict.UNSURE if self.estimate is None else decide(self.estimate, thresholds)


def decide(paired: PairedEstimate, thresholds: Thresholds) -> GateVerdict:
    """Return what an estimate says whose bounds are at level `thresholds.alpha`."""
    bound, effect, equivalence = 1 + thresholds.bound, 1 + thresholds.effect, 1 + thresholds.equivalence
    if paired.lower > bound and paired.ratio > effect:
        return GateVerdict.SLOWER
    if paired.upper < 1 / bound and paired.ratio < 1 / effect:
        return GateVerdict.FASTER
    if 1 / equivalence < paired.lower and paired.upper < equivalence:
        return GateVerdict.SAME
    return GateVerdict.UNSURE


def confirmed(first: GateVerdict, second: GateVerdict) -> GateVerdict:
    """Return what two measurements say together: a difference counts only if both see it."""
    return first if first is second else GateVerdict.UNSURE


def needs_confirmation(verdict: GateVerdict) -> bool:
    """True for verdicts that something follows from: a failure, or a new baseline."""
    return verdict in (GateVerdict.SLOWER, GateVerdict.FASTER)


def blocks_needed(block_sd: float, thresholds: Thresholds) -> int:
    """Return how many blocks find a slowdown of `thresholds.equivalence` with `POWER`, twice in a row.

    `block_sd` is that of the first `START_BLOCKS`. An even number, for each order of the versions as often as
    the other, between `START_BLOCKS` and `MOST_BLOCKS`.
    """
    room = math.log1p(thresholds.equivalence) - math.log1p(thresholds.bound)
    if room <= 0:
        return MOST_BLOCKS
    needed = (_reach(START_BLOCKS, thresholds) * block_sd / room) ** 2
    return max(START_BLOCKS, min(2 * math.ceil(needed / 2), MOST_BLOCKS))


def smallest_slowdown(block_sd: float, blocks: int, thresholds: Thresholds) -> float:
    """Return the slowdown, 0.02 for 2 %, that two measurements of so many blocks find with `POWER`."""
    error = block_sd / math.sqrt(blocks)
    beyond_bound = math.log1p(thresholds.bound) + _reach(blocks, thresholds) * error
    beyond_effect = math.log1p(thresholds.effect) + _power_quantile(blocks) * error
    return math.expm1(max(beyond_bound, beyond_effect))


def _reach(blocks: int, thresholds: Thresholds) -> float:
    return t_quantile(1 - thresholds.alpha, blocks - 1) + _power_quantile(blocks)


def _power_quantile(blocks: int) -> float:
    # Two measurements have to find it.
    return t_quantile(math.sqrt(POWER), blocks - 1)


def is_steady(clocks_mhz: Sequence[float], block: int) -> bool:
    """False for a block within which the SM clock moved: no neighbour's clock is within 1 % of its own.

    A clock that drifts, or has moved between two blocks, is the same for both versions. One of 0 is unknown,
    and nothing is held against its block.
    """
    own = clocks_mhz[block]
    beside = [*clocks_mhz[max(block - 1, 0) : block], *clocks_mhz[block + 1 : block + 2]]
    known = [clock for clock in beside if clock > 0]
    return own <= 0 or not known or any(abs(clock / own - 1) <= _STEADY for clock in known)


def pool(epochs: Sequence[Epoch], thresholds: Thresholds) -> Measurement:
    """Take the kept blocks of at least one epoch together."""
    earlier = [epoch.earlier_ns[i] for epoch in epochs for i in epoch.kept]
    current = [epoch.current_ns[i] for epoch in epochs for i in epoch.kept]
    why_not = _why_no_estimate(epochs, len(earlier))
    return Measurement(
        estimate=None if why_not else estimate(earlier, current, thresholds.alpha),
        why_not=why_not,
        blocks=len(earlier),
        epochs=len(epochs),
        before_ns=_median(earlier),
        after_ns=_median(current),
        doubts=tuple(dict.fromkeys(doubt for epoch in epochs for doubt in epoch.doubts)),
    )


def _why_no_estimate(epochs: Sequence[Epoch], kept: int) -> str:
    if len({epoch.mode for epoch in epochs}) > 1:
        return "the versions were timed cold once and in batches once"
    taken = sum(len(epoch.earlier_ns) for epoch in epochs)
    if taken - kept <= _MOST_DROPPED * taken and kept >= 2:
        return ""
    held_down = next((epoch.held_down for epoch in epochs if epoch.held_down), "")
    cause = f"the GPU's clocks were held down by {held_down}" if held_down else "the SM clock moved in them"
    return f"{taken - kept} of {taken} blocks do not count, since {cause}"


def _median(blocks: Blocks) -> float | None:
    return statistics.median(chain.from_iterable(blocks)) if blocks else None
