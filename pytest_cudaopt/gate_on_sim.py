"""Gate the current version of a kernel against an earlier one on `sim`.

Recorded numbers count only where the same toolchain and model would make them again; else the earlier version
is compiled and run beside the current one. Nothing fails by recorded numbers alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gate_modelled import gate_modelled, recorded_of
from pytest_cudaopt.gate_reason import not_compared
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds
from pytest_cudaopt.machine import machine_of
from pytest_cudaopt.measure import measure
from pytest_cudaopt.modelled_causes import causes
from pytest_cudaopt.rebuilt import rebuild

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.compile import Compiled
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Latency, Plan
    from pytest_cudaopt.incumbent import Incumbent
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.recorded import Recorded
    from pytest_cudaopt.timed_case import TimedCase


def gate_on_sim(
    current: TimedCase,
    incumbent: Incumbent,
    device: Device,
    plan: Plan,
    thresholds: Thresholds | None = None,
) -> Gated:
    """Return the verdict on `current` against `incumbent`; `device` is the `sim` it was modelled on.

    An unchanged toolchain costs nothing unless something became slower. Raises what compiling and running do
    for what is no kernel's fault.
    """
    thresholds = thresholds or Thresholds()
    earlier = incumbent.candidate
    if earlier is not None and earlier.digest == current.candidate.digest:
        return Gated(incumbent.name, GateVerdict.SAME, "identical source and launch rule")
    recorded = _comparable(current, incumbent, device)
    if recorded is not None:
        screened = gate_modelled(recorded, recorded_of(current.latency), thresholds, incumbent.name)
        if earlier is None:
            return _not_failing(screened, incumbent)
        if screened.verdict is not GateVerdict.SLOWER and not screened.warns:
            return screened
    if earlier is None:
        return not_compared(incumbent.name, f"cannot be rebuilt: {incumbent.why_not or 'no source'}")
    return _Rebuilt(current, incumbent, earlier, device, plan, thresholds).gate()


@dataclass(frozen=True)
class _Rebuilt:
    """Both versions, by the same compiler on the same inputs."""

    current: TimedCase
    incumbent: Incumbent
    earlier: Candidate
    device: Device
    plan: Plan
    thresholds: Thresholds

    def gate(self) -> Gated:
        built = rebuild(self.earlier, self.current.prepared, self.device, self.plan.budget)
        if isinstance(built, str):
            return not_compared(self.incumbent.name, built)
        compiled, launch = built
        if self.current.runs_as(compiled, launch):
            return Gated(self.incumbent.name, GateVerdict.SAME, "identical code")
        if launch.is_empty:
            return not_compared(self.incumbent.name, "launched nothing here")
        before = self._model(compiled, launch)
        if isinstance(before, Finding):
            return not_compared(self.incumbent.name, f"does not run here: {before.message}")
        return self._compare(before)

    def _compare(self, before: Latency) -> Gated:
        recorded = recorded_of(before), recorded_of(self.current.latency)
        gated = gate_modelled(*recorded, self.thresholds, self.incumbent.name)
        if gated.verdict is not GateVerdict.SLOWER and not gated.warns:
            return gated
        after = self._model(self.current.compiled, self.current.launch)
        # It ran before, and `sim` repeats itself.
        counted = self.current.latency if isinstance(after, Finding) else after
        return gate_modelled(*recorded, self.thresholds, self.incumbent.name, causes(before, counted))

    def _model(self, compiled: Compiled, launch: LaunchConfiguration) -> Latency | Finding:
        measured = measure(self.current.prepared, compiled, launch, self.device, self.plan, by_line=True)
        return measured if isinstance(measured, Finding) else measured.latency


def _comparable(current: TimedCase, incumbent: Incumbent, device: Device) -> Recorded | None:
    """Return what is recorded of the case, if this machine would count it the same."""
    here = machine_of(device)
    recorded = incumbent.recorded.get(current.kernel.id_of(current.prepared.case))
    # A harness that does not name its model could be any.
    return recorded if here.model and incumbent.machine == here else None


def _not_failing(screened: Gated, incumbent: Incumbent) -> Gated:
    """Return what recorded numbers say alone: they may be of other inputs, and nobody can run the source."""
    if screened.verdict is not GateVerdict.SLOWER:
        return screened
    why = incumbent.why_not or "no source"
    reason = f"{screened.reason}, as recorded, but it cannot be rebuilt: {why}"
    return replace(screened, verdict=GateVerdict.UNSURE, reason=reason, warns=True)
