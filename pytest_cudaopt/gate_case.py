"""Gate a measured case against one earlier version, on whichever device it was measured.

A version that cannot be rebuilt here fails nobody: what was recorded of it is a screen, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gate_measured import gate_measured
from pytest_cudaopt.gate_on_sim import gate_on_sim
from pytest_cudaopt.gate_reason import change, not_compared
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.rebuilt import rebuild

if TYPE_CHECKING:
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Plan
    from pytest_cudaopt.incumbent import Incumbent
    from pytest_cudaopt.timed_case import TimedCase


@dataclass(frozen=True)
class _OnGpu:
    """A case that was measured on a GPU, and the version it is held against."""

    current: TimedCase
    incumbent: Incumbent
    device: Device
    plan: Plan

    def gate(self) -> Gated:
        earlier = self.incumbent.candidate
        if earlier is None:
            return self._screened(f"cannot be rebuilt: {self.incumbent.why_not or 'no source'}")
        if earlier.digest == self.current.candidate.digest:
            return Gated(self.incumbent.name, GateVerdict.SAME, "identical source and launch rule")
        built = rebuild(earlier, self.current.prepared, self.device, self.plan.budget)
        if isinstance(built, str):
            return self._screened(built)
        prepared, now = self.current.prepared, (self.current.compiled, self.current.launch)
        budget, thresholds = self.plan.budget, self.plan.thresholds
        found = gate_measured(prepared, built, now, self.device, budget, thresholds, self.incumbent.name)
        return self._screened(f"cannot be timed: {found.message}") if isinstance(found, Finding) else found

    def _screened(self, why: str) -> Gated:
        """Return UNSURE, with what recorded numbers make of it: they are of another day, and fail nobody."""
        gated = not_compared(self.incumbent.name, why)
        recorded = self.incumbent.recorded.get(self.current.kernel.id_of(self.current.prepared.case))
        now = self.current.latency
        if recorded is None or (recorded.kind, recorded.mode) != (now.kind, now.mode):
            return gated
        ratio = now.median_ns / recorded.median_ns
        times = f"{format_duration(recorded.median_ns)} -> {format_duration(now.median_ns)}"
        reason = f"{gated.reason}; by what was recorded {change(ratio)}, {times}"
        return replace(gated, reason=reason, ratio=ratio)


def gate_case(current: TimedCase, incumbent: Incumbent, device: Device, plan: Plan) -> Gated:
    """Return the verdict on `current` against `incumbent`.

    Raises what compiling and running do for what is no kernel's fault.
    """
    if device.is_gpu:
        gated = _OnGpu(current, incumbent, device, plan).gate()
    else:
        gated = gate_on_sim(current, incumbent, device, plan, plan.thresholds)
    if not incumbent.note or gated.verdict is GateVerdict.SAME:
        return gated
    return replace(gated, reason=f"{gated.reason} ({incumbent.note})")
