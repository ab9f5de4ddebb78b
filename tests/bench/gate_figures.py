"""Figures of the gate's decisions on a workload: counts, exact bounds, and the promises they are held to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from exact_binomial import upper_bound

from pytest_cudaopt.gate import blocks_needed, smallest_slowdown
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds
from pytest_cudaopt.paired import t_quantile

USUAL = Thresholds()
SLOWER, WITHIN = 1.03, 0.002
LEAST_FOUND, MOST_S = 0.95, 0.5


@dataclass(frozen=True)
class Decision:
    """One verdict of the gate, and the time it took."""

    gated: Gated
    took_s: float

    @property
    def block_sd(self) -> float | None:
        """The spread its bounds stand on; None where two measurements were taken, or none."""
        gated = self.gated
        if gated.verdict is not GateVerdict.SAME or gated.ratio is None or gated.lower is None:
            return None
        reach = math.log(gated.ratio / gated.lower)
        return reach * math.sqrt(gated.blocks) / t_quantile(1 - USUAL.alpha, gated.blocks - 1)


@dataclass
class Rates:
    """What came of a workload: A/A decisions in `equal`, A/B ones in `slowed`, of as many as were `asked`.

    `slowdown` is the ratio of the A/B versions as it was found, before any decision.
    """

    name: str
    mode: str
    slowdown: float
    asked: int
    equal: list[Decision] = field(default_factory=list)
    slowed: list[Decision] = field(default_factory=list)

    def count(self, verdict: GateVerdict) -> int:
        return sum(one.gated.verdict is verdict for one in self.equal)

    @property
    def found(self) -> int:
        return sum(one.gated.fails for one in self.slowed)

    @property
    def block_sd(self) -> float | None:
        spreads = [one.block_sd for one in self.equal if one.block_sd is not None]
        return statistics.median(spreads) if spreads else None

    def failures(self) -> list[str]:
        """Say which promises are broken."""
        made, false = len(self.equal) + len(self.slowed), self.count(GateVerdict.SLOWER)
        slowest_s = max(_median_s(self.equal), _median_s(self.slowed))
        said = {
            f"the budget ended after {made} of {self.asked} decisions": made < self.asked,
            # Less is harder to find.
            f"slower by {self.slowdown - 1:.2%}, not by 3 %": self.slowdown > SLOWER + WITHIN,
            f"{false} of {len(self.equal)} equal versions failed": false > 0,
            f"{self.found} of {len(self.slowed)} slower versions found": self.found
            < LEAST_FOUND * len(self.slowed),
            f"{slowest_s:.2f} s for a decision, expected {MOST_S} s at most": slowest_s > MOST_S,
        }
        return [f"{self.name}: {text}" for text, is_broken in said.items() if is_broken]

    def surprises(self, most: int = 5) -> list[str]:
        """Return what the gate said where it was wrong, or could not tell; at most so many of each kind."""
        equal = [one.gated for one in self.equal if one.gated.verdict is not GateVerdict.SAME]
        missed = [one.gated for one in self.slowed if not one.gated.fails]
        return [
            f"    {kind} {gated.verdict}: {gated.reason}"
            for kind, some in (("A/A", equal), ("A/B", missed))
            for gated in some[:most]
        ]

    def line(self) -> str:
        counts = "".join(f"{self.count(verdict):>8}" for verdict in VERDICTS)
        rate = upper_bound(self.count(GateVerdict.SLOWER), len(self.equal))
        found = f"{self.found} of {len(self.slowed)}"
        seen = statistics.median(one.gated.ratio or 1.0 for one in self.slowed)
        spread = self.block_sd
        block_sd = "-" if spread is None else f"{spread:.3%}"
        smallest = (
            "-" if spread is None else f"{smallest_slowdown(spread, blocks_needed(spread, USUAL), USUAL):.2%}"
        )
        return (
            f"{self.name:<8}{self.mode:<7}{counts}{rate:>10.2%}{found:>13}"
            f"{self.slowdown - 1:>+9.2%}{seen - 1:>+9.2%}"
            f"{smallest:>10}{block_sd:>10}{_median_s(self.equal):>9.3f}{_median_s(self.slowed):>9.3f}"
        )


VERDICTS = (GateVerdict.SLOWER, GateVerdict.FASTER, GateVerdict.SAME, GateVerdict.UNSURE)
TITLE = (
    f"{'':<8}{'':<7}{'A/A':>8}{'':>24}{'slower':>10}{'A/B':>13}{'':>18}{'found':>10}{'block':>10}"
    f"{'s, A/A':>9}{'s, A/B':>9}\n"
    f"{'kernel':<8}{'mode':<7}{''.join(f'{verdict:>8}' for verdict in VERDICTS)}{'at most':>10}"
    f"{'found':>13}{'slower':>9}{'seen':>9}{'at 95 %':>10}{'sd':>10}{'median':>9}{'median':>9}"
)


def _median_s(decisions: Sequence[Decision]) -> float:
    return statistics.median(one.took_s for one in decisions)


def summary(all_made: Sequence[Rates]) -> list[str]:
    """Return the lines below the table: the rate over all workloads, and what is broken."""
    false = sum(made.count(GateVerdict.SLOWER) for made in all_made)
    total = sum(len(made.equal) for made in all_made)
    rate = (
        f"{false} of {total} equal versions failed: a rate of {upper_bound(false, total):.2%} at most (95 %)"
    )
    broken = [f"BROKEN {text}" for made in all_made for text in made.failures()]
    return [rate, *(broken or ["every promise is kept"])]
