"""A GPU of known noise for the gate: epochs of two versions whose true ratio is given, without any kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_cudaopt import gate_measured
from pytest_cudaopt.evaluation import Budget, Sampling, SamplingMode
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gated import Gated, Thresholds
from pytest_cudaopt.interleave import Interleaved
from pytest_cudaopt.launch import LaunchConfiguration

FULL_MHZ = 1980.0
USUAL = Thresholds()
EARLIER, CURRENT = (
    (SimpleNamespace(name=name), LaunchConfiguration((number, 1, 1), (64, 1, 1)))
    for number, name in enumerate(("earlier", "current"), start=1)
)


@dataclass(frozen=True)
class Noise:
    """What disturbs a time of `median_ns`; all but the tick are shares of it.

    `sample` is the standard deviation of samples of one arm in one block, `outliers` the part of them that
    take up to a half longer. `block` is that of an arm in a block, `placement` that of an arm in an epoch,
    which no number of blocks shows. Both arms share `drift` over the epoch, and the `steps` of the clock: the
    probability that it changes between 1980 and 1822 MHz while one arm is timed.
    """

    median_ns: float = 60_000.0
    sample: float = 0.01
    block: float = 0.003
    placement: float = 0.0
    drift: float = 0.01
    outliers: float = 0.03
    steps: float = 0.0
    tick_ns: float = 0.0


@dataclass
class NoisyGpu:
    """Answers `interleave` with made-up samples, and counts what was asked."""

    noise: Noise
    ratio: float
    chance: np.random.Generator
    blocks: list[int] = field(default_factory=list)
    first_arms: list[str] = field(default_factory=list)
    state: Any = None
    states: list[Any] = field(default_factory=list)

    def gpu_state(self) -> Any:
        return self.states.pop(0) if self.states else self.state

    def interleave(
        self,
        prepared: object,
        arms: Any,
        device: object,
        budget: object,
        blocks: int = 20,
        launches: int = 10,
        mode: SamplingMode | None = None,
    ) -> Interleaved:
        self.blocks.append(blocks)
        self.first_arms.append(arms[0][0].name)
        ratios = np.array([self.ratio if compiled.name == "current" else 1.0 for compiled, _ in arms])
        samples, clocks = self._epoch(ratios, blocks, launches)
        sampled = tuple(Sampling(1.0, tuple(samples[:, arm].ravel().tolist())) for arm in range(len(arms)))
        return Interleaved(mode or SamplingMode.COLD, blocks, sampled, tuple(clocks.tolist()))

    def _epoch(
        self, ratios: NDArray[np.float64], blocks: int, launches: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return samples by block, arm and launch, and the clock of each block."""
        noise, chance, arms = self.noise, self.chance, len(ratios)
        shape = (blocks, arms, launches)
        times = noise.median_ns * np.exp(chance.normal(0, noise.sample, shape))
        times *= 1 + 0.5 * chance.random(shape) * (chance.random(shape) < noise.outliers)
        times *= np.exp(chance.normal(0, noise.block, (blocks, arms, 1)))
        times *= (ratios * np.exp(chance.normal(0, noise.placement, arms)))[None, :, None]
        # As timed: every second block has its arms in reverse.
        in_order = np.arange(shape[0] * arms * launches).reshape(shape)
        in_order[1::2] = in_order[1::2, ::-1]
        times *= 1 + noise.drift * in_order / in_order.size
        clock = self._clock(blocks * arms, launches).reshape(-1)[in_order]
        times *= FULL_MHZ / clock
        if noise.tick_ns:
            times = noise.tick_ns * np.floor(times / noise.tick_ns + chance.random(shape))
        return times, clock.mean(axis=(1, 2))

    def _clock(self, slots: int, launches: int) -> NDArray[np.float64]:
        """Return the clock at each launch, in the order of time."""
        begins = np.zeros((slots, launches), dtype=int)
        stepping = np.flatnonzero(self.chance.random(slots) < self.noise.steps)
        begins[stepping, self.chance.integers(0, launches, len(stepping))] = 1
        return np.where(begins.ravel().cumsum() % 2, 0.92 * FULL_MHZ, FULL_MHZ)


def gate(gpu: NoisyGpu, thresholds: Thresholds = USUAL) -> Gated:
    """Have the gate decide about the two versions of a noisy GPU."""
    found = ask_gate(gpu, thresholds)
    assert isinstance(found, Gated)
    return found


def ask_gate(gpu: NoisyGpu, thresholds: Thresholds = USUAL, against: str = "baseline") -> Gated | Finding:
    """Return what the gate answers, a fault too."""
    prepared: Any = None
    arms: Any = (EARLIER, CURRENT)
    device: Any = gpu
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate_measured, "interleave", gpu.interleave)
        return gate_measured.gate_measured(prepared, *arms, device, Budget(), thresholds, against)
