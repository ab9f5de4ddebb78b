"""Gate a version against an earlier one on a GPU: both timed side by side, again before anything follows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget, SamplingMode
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.formals import constants
from pytest_cudaopt.gate import (
    START_BLOCKS,
    Epoch,
    Measurement,
    blocks_needed,
    needs_confirmation,
    pool,
)
from pytest_cudaopt.gate_reason import gated, named
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds
from pytest_cudaopt.gpu_state import doubts, throttled_by
from pytest_cudaopt.interleave import interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.machine_code import machine_code
from pytest_cudaopt.prepared_case import PreparedCase

Arm = tuple[Compiled, LaunchConfiguration]


def gate_measured(
    prepared: PreparedCase,
    earlier: Arm,
    current: Arm,
    device: Device,
    budget: Budget,
    thresholds: Thresholds,
    against: str,
) -> Gated | Finding:
    """Return the verdict on `current` at one case, or the fault that kept one of both from being timed.

    Identical code that is launched alike is the same without measuring. What would be slower or faster is
    measured a second time, with the modules loaded in the other order. Raises EnvironmentFault on `sim`.
    """
    settled = _settled(prepared, earlier, current, against)
    if settled is not None:
        return settled
    pair = _Pair(prepared, earlier, current, device, budget, thresholds)
    first = pair.measure(START_BLOCKS, None, swapped=False)
    if isinstance(first, Finding):
        return first
    if not needs_confirmation(first.measurement.verdict(thresholds)):
        return gated(first.measurement, None, thresholds, against)
    second = pair.measure(first.asked, first.mode, swapped=True)
    return (
        second
        if isinstance(second, Finding)
        else gated(first.measurement, second.measurement, thresholds, against)
    )


def is_identical(prepared: PreparedCase, earlier: Arm, current: Arm) -> bool:
    """True if the GPU executes the same at the case, whatever the sources look like."""
    if earlier[1] != current[1]:
        return False
    return earlier[0].module.cubin_file == current[0].module.cubin_file or (
        _code(prepared, earlier[0]) == _code(prepared, current[0])
    )


def _settled(prepared: PreparedCase, earlier: Arm, current: Arm, against: str) -> Gated | None:
    """Return the verdict where nothing has to be measured, or nothing can be."""
    before, after = earlier[1].is_empty, current[1].is_empty
    if before and after:
        return Gated(
            against, GateVerdict.SAME, f"neither this version nor {named(against)} launches anything"
        )
    if before or after:
        empty, other = (named(against), "this version") if before else ("this version", named(against))
        reason = f"no times to compare: {empty} launches nothing at this case, {other} does"
        return Gated(against, GateVerdict.UNSURE, reason, warns=True)
    if is_identical(prepared, earlier, current):
        return Gated(against, GateVerdict.SAME, f"identical code and launch as {named(against)}")
    return None


def _code(prepared: PreparedCase, compiled: Compiled) -> str:
    module, lowered = compiled.module, compiled.module.lowered or {}
    if module.cubin_file is None:
        raise HarnessError("compiled module", expected="a cubin", got="none")
    entry = compiled.entry_of(prepared.instance)
    symbols = {p.symbol for p in constants(prepared.instance.parameters) if p.symbol}
    written = frozenset(lowered.get(symbol, symbol) for symbol in symbols)
    return machine_code(Path(module.cubin_file).read_bytes(), lowered.get(entry, entry), written)


@dataclass(frozen=True)
class _Measured:
    """A measurement, how it was sampled, and how many blocks were asked for."""

    measurement: Measurement
    mode: SamplingMode
    asked: int


@dataclass(frozen=True)
class _Pair:
    """Both versions at one case, and what times them."""

    prepared: PreparedCase
    earlier: Arm
    current: Arm
    device: Device
    budget: Budget
    thresholds: Thresholds

    def measure(self, blocks: int, mode: SamplingMode | None, swapped: bool) -> _Measured | Finding:
        """Take `blocks`, then as many more as their spread asks for, in another epoch.

        `mode` of None leaves the choice to the harness; `swapped` loads the current version first.
        """
        begun = self._epoch(blocks, mode, swapped)
        if isinstance(begun, Finding):
            return begun
        measurement = pool([begun], self.thresholds)
        missing = self._needed(measurement, blocks) - blocks
        if missing <= 0:
            return _Measured(measurement, begun.mode, blocks)
        rest = self._epoch(missing, begun.mode, not swapped)
        if isinstance(rest, Finding):
            return rest
        # What was held down counts for nothing, and is no reason to doubt the rest.
        epochs = [rest] if begun.held_down else [begun, rest]
        return _Measured(pool(epochs, self.thresholds), begun.mode, blocks + missing)

    def _needed(self, measurement: Measurement, taken: int) -> int:
        if measurement.estimate is None:
            # The spread is unknown; another epoch may be quieter.
            return taken + START_BLOCKS
        return blocks_needed(measurement.estimate.block_sd, self.thresholds)

    def _epoch(self, blocks: int, mode: SamplingMode | None, swapped: bool) -> Epoch | Finding:
        arms = (self.current, self.earlier) if swapped else (self.earlier, self.current)
        timed = interleave(self.prepared, arms, self.device, self.budget, blocks=blocks, mode=mode)
        if isinstance(timed, Finding):
            return timed
        # Once, and still warm, as asking takes milliseconds.
        state = self.device.gpu_state()
        held_down = throttled_by(state)
        first, second = timed.block_samples_ns(0), timed.block_samples_ns(1)
        return Epoch(
            mode=timed.mode,
            earlier_ns=second if swapped else first,
            current_ns=first if swapped else second,
            sm_clock_mhz=timed.sm_clock_mhz,
            held_down=held_down,
            doubts=() if held_down else doubts(state, (), None),
        )
