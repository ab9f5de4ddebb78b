"""What measurements say, as a verdict with one sentence for a person."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.gate import Measurement, confirmed
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds

_OWN_NAMES = ("baseline", "anchor", "start", "best")


def gated(
    first: Measurement, confirmation: Measurement | None, thresholds: Thresholds, against: str
) -> Gated:
    """Return the verdict of a measurement, and of the one that confirms it where one was asked for.

    The ratio and the times are those of the last measurement, which nobody chose for what it shows; the
    bounds are the outermost of both.
    """
    made = [one for one in (first, confirmation) if one is not None]
    verdict = first.verdict(thresholds)
    if confirmation is not None:
        verdict = confirmed(verdict, confirmation.verdict(thresholds))
    estimates = [one.estimate for one in made if one.estimate is not None]
    return Gated(
        against=against,
        verdict=verdict,
        reason=_reason(verdict, made, named(against)),
        ratio=estimates[-1].ratio if estimates else None,
        lower=min((one.lower for one in estimates), default=None),
        upper=max((one.upper for one in estimates), default=None),
        before_ns=made[-1].before_ns,
        after_ns=made[-1].after_ns,
        blocks=sum(one.blocks for one in made),
        epochs=sum(one.epochs for one in made),
    )


def named(against: str) -> str:
    """Return a version's name as a sentence has it."""
    return f"the {against}" if against in _OWN_NAMES else against


def not_compared(against: str, why: str) -> Gated:
    """Return the verdict where there is nothing to compare with: `why` follows "it"."""
    reason = f"not compared with {named(against)}: it {why}"
    return Gated(against, GateVerdict.UNSURE, reason, warns=True)


def change(ratio: float) -> str:
    """Return a ratio of times as "3.1 % slower" or "2.4 % faster"."""
    share = 100 * abs(ratio - 1)
    digits = 1 if share >= 0.995 else 2
    return f"{share:.{digits}f} % {'slower' if ratio >= 1 else 'faster'}"


def _reason(verdict: GateVerdict, made: Sequence[Measurement], than: str) -> str:
    text = f"{_finding(verdict, made, than)}, {_standing_on(made)}"
    doubts = dict.fromkeys(doubt for one in made for doubt in one.doubts)
    return f"{text} ({'; '.join(doubts)})" if doubts and verdict is not GateVerdict.SAME else text


def _finding(verdict: GateVerdict, made: Sequence[Measurement], than: str) -> str:
    paired = made[-1].estimate
    if paired is None:
        seen = made[0].estimate
        before = f"{change(seen.ratio)} than {than}, but not confirmed: " if seen else ""
        return f"{before}{made[-1].why_not}"
    estimates = [one.estimate for one in made if one.estimate is not None]
    lower, upper = min(one.lower for one in estimates), max(one.upper for one in estimates)
    if verdict is GateVerdict.SLOWER:
        return f"{change(paired.ratio)} than {than} (at least {change(lower).removesuffix(' slower')})"
    if verdict is GateVerdict.FASTER:
        return f"{change(paired.ratio)} than {than} (at least {change(upper).removesuffix(' faster')})"
    if verdict is GateVerdict.SAME:
        within = max(upper, 1 / lower)
        return f"as fast as {than} within {change(within).removesuffix(' slower')}"
    if len(made) > 1:
        return (
            f"{change(estimates[0].ratio)} than {than} at first, then {change(paired.ratio)}: not confirmed"
        )
    return f"{change(paired.ratio)} than {than}, but anything from {change(lower)} to {change(upper)} fits"


def _standing_on(made: Sequence[Measurement]) -> str:
    before_ns, after_ns = made[-1].before_ns, made[-1].after_ns
    blocks, epochs = sum(one.blocks for one in made), sum(one.epochs for one in made)
    counted = f"{blocks} blocks in {epochs} epoch{'s' * (epochs > 1)}"
    if before_ns is None or after_ns is None:
        return counted
    return f"{format_duration(before_ns)} -> {format_duration(after_ns)}, {counted}"
