"""What the gate says of one case: how the current source's time compares with an earlier one's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class GateVerdict(StrEnum):
    """Only SLOWER fails an item; UNSURE is what the samples cannot tell."""

    SAME = "same"
    FASTER = "faster"
    SLOWER = "slower"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Thresholds:
    """Which difference counts. Ratios are the current time over the earlier one; 0.015 is 1.5 %.

    Measured: slower if the one-sided bound of the ratio, at level `alpha`, is beyond 1 + `bound` and the
    estimate beyond 1 + `effect`; faster likewise; the same if the two-sided interval at level 2 `alpha` lies
    within `equivalence`. Modelled: slower from a ratio of `modelled_fail` on, warned of from `modelled_warn`.
    """

    alpha: float = 0.005
    bound: float = 0.005
    effect: float = 0.015
    equivalence: float = 0.03
    modelled_fail: float = 1.5
    modelled_warn: float = 1.1


@dataclass(frozen=True)
class Cause:
    """A counter that explains a modelled difference, and the line it is counted at where that is known."""

    counter: str
    before: float
    after: float
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        at = f" at {self.file}:{self.line}" if self.line is not None else ""
        return f"{self.counter} {_number(self.before)} -> {_number(self.after)}{at}"


def _number(value: float) -> str:
    """Write three significant digits, and never an exponent for what was counted."""
    return f"{value:.3g}" if value < 999.5 else f"{float(f'{value:.3g}'):,.0f}"


# The worst is the one to see.
_WORST_FIRST = (GateVerdict.SLOWER, GateVerdict.UNSURE, GateVerdict.FASTER, GateVerdict.SAME)


@dataclass(frozen=True)
class Gated:
    """The verdict on one case against one earlier version, which `against` names.

    `reason` is one sentence for a person. `ratio` is the current time over the earlier one with its one-sided
    bounds, `before_ns` and `after_ns` the times it stands on; None where nothing was compared. `blocks`
    counts those of all `epochs`, 0 where nothing was measured. `warns` says that a person should look
    although nothing fails.
    """

    against: str
    verdict: GateVerdict
    reason: str
    ratio: float | None = None
    lower: float | None = None
    upper: float | None = None
    before_ns: float | None = None
    after_ns: float | None = None
    blocks: int = 0
    epochs: int = 0
    causes: tuple[Cause, ...] = ()
    warns: bool = False

    @property
    def fails(self) -> bool:
        return self.verdict is GateVerdict.SLOWER


def worst(gated: Iterable[Gated]) -> Gated | None:
    """Return the verdict that a reader has to see first; None of none."""
    return min(gated, key=lambda one: _WORST_FIRST.index(one.verdict), default=None)
