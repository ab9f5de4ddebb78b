"""Gate modelled latencies: numbers in, a verdict out.

They have no noise, so that one number of each version is enough; what they leave open is how far the model
itself is from silicon. Measured times have `paired` for that, and the two never meet.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.gated import Cause, Gated, GateVerdict, Thresholds
from pytest_cudaopt.line_counters import flattened
from pytest_cudaopt.recorded import Recorded


def recorded_of(latency: Latency) -> Recorded:
    """Return what is recorded of `latency`: its median with three digits, counters flat."""
    counters = None if latency.counters is None else flattened(latency.counters)
    return Recorded(latency.kind, float(f"{latency.median_ns:.3g}"), latency.mode, counters)


def gate_modelled(
    earlier: Recorded,
    current: Recorded,
    thresholds: Thresholds,
    against: str,
    causes: tuple[Cause, ...] = (),
) -> Gated:
    """Compare two modelled medians as they are recorded: with three digits, wherever they come from.

    Between `modelled_warn` and `modelled_fail` the verdict is UNSURE and warns: the model is not exact enough
    for a difference of that size to be one on silicon. Counters do not decide, since they may agree where
    occupancy does not. Raises ValueError for a measured time.
    """
    for one in (earlier, current):
        if one.kind is not LatencyKind.MODELLED:
            raise ValueError(f"gate_modelled: expected a modelled latency, got a {one.kind} one")
    ratio = current.median_ns / earlier.median_ns
    verdict, warns = _verdict(ratio, thresholds)
    return Gated(
        against,
        verdict,
        _reason(earlier, current, verdict, warns=warns, causes=causes),
        ratio=ratio,
        before_ns=earlier.median_ns,
        after_ns=current.median_ns,
        causes=causes,
        warns=warns,
    )


def thresholds_of(sim_gate: str, thresholds: Thresholds) -> Thresholds:
    """Return the thresholds that `--cudaopt-sim-gate` stands for: with `warn` no ratio fails."""
    return replace(thresholds, modelled_fail=math.inf) if sim_gate == "warn" else thresholds


def _verdict(ratio: float, thresholds: Thresholds) -> tuple[GateVerdict, bool]:
    if ratio >= thresholds.modelled_fail:
        return GateVerdict.SLOWER, False
    if ratio >= thresholds.modelled_warn:
        return GateVerdict.UNSURE, True
    if ratio <= 1 / thresholds.modelled_warn:
        return GateVerdict.FASTER, False
    return GateVerdict.SAME, False


def _reason(
    earlier: Recorded, current: Recorded, verdict: GateVerdict, *, warns: bool, causes: tuple[Cause, ...]
) -> str:
    if verdict is GateVerdict.SAME and earlier.counters is not None and earlier == current:
        return "the same counters and modelled latency"
    durations = f"{format_duration(earlier.median_ns)} -> {format_duration(current.median_ns)}"
    times = (
        f"modelled latency is {current.median_ns / earlier.median_ns:.3g} times the earlier one, {durations}"
    )
    if causes and (verdict is GateVerdict.SLOWER or warns):
        return f"{times}: {'; '.join(map(str, causes))}"
    return times
