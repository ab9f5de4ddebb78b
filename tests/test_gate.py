"""The gate's rule: tables for its parts, and how often it errs under noise that is known."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisy_gpu import CURRENT, EARLIER, USUAL, Noise, NoisyGpu, gate

from pytest_cudaopt.evaluation import SamplingMode
from pytest_cudaopt.gate import (
    MOST_BLOCKS,
    START_BLOCKS,
    Epoch,
    blocks_needed,
    confirmed,
    decide,
    is_steady,
    needs_confirmation,
    pool,
    smallest_slowdown,
)
from pytest_cudaopt.gated import GateVerdict, Thresholds
from pytest_cudaopt.paired import PairedEstimate

sys.path.insert(0, str(Path(__file__).parent / "bench"))

from exact_binomial import lower_bound, upper_bound

SAME, FASTER, SLOWER, UNSURE = (
    GateVerdict.SAME,
    GateVerdict.FASTER,
    GateVerdict.SLOWER,
    GateVerdict.UNSURE,
)


def paired(ratio: float, lower: float, upper: float) -> PairedEstimate:
    return PairedEstimate(ratio, lower, upper, 10, 0.001, ratio)


@pytest.mark.parametrize(
    ("ratio", "lower", "upper", "verdict"),
    [
        (1.031, 1.026, 1.036, SLOWER),
        (1.016, 1.006, 1.026, SLOWER),
        # A bound above 0.5 % is not enough, nor is an effect above 1.5 %.
        (1.014, 1.010, 1.018, SAME),
        (1.020, 1.004, 1.036, UNSURE),
        (1.015, 1.006, 1.024, SAME),
        (0.969, 0.965, 0.974, FASTER),
        (0.980, 0.964, 0.996, UNSURE),
        (0.990, 0.986, 0.994, SAME),
        (1.000, 0.999, 1.001, SAME),
        (1.000, 0.970, 1.029, UNSURE),
        (1.000, 0.972, 1.031, UNSURE),
    ],
)
def test_an_estimate_is_judged_by_its_bounds_and_by_its_size(
    ratio: float, lower: float, upper: float, verdict: GateVerdict
) -> None:
    assert decide(paired(ratio, lower, upper), USUAL) is verdict


def test_thresholds_are_a_kernels_own() -> None:
    slow = paired(1.04, 1.03, 1.05)
    assert decide(slow, USUAL) is SLOWER
    assert decide(slow, Thresholds(effect=0.05, equivalence=0.06)) is SAME
    assert decide(slow, Thresholds(bound=0.04, equivalence=0.06)) is SAME


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (SLOWER, SLOWER, SLOWER),
        (FASTER, FASTER, FASTER),
        (SLOWER, FASTER, UNSURE),
        (SLOWER, SAME, UNSURE),
        (FASTER, UNSURE, UNSURE),
    ],
)
def test_a_difference_counts_if_a_second_measurement_sees_it(
    first: GateVerdict, second: GateVerdict, both: GateVerdict
) -> None:
    assert needs_confirmation(first)
    assert confirmed(first, second) is both


def test_what_nothing_follows_from_is_not_confirmed() -> None:
    assert not needs_confirmation(SAME)
    assert not needs_confirmation(UNSURE)


@pytest.mark.parametrize(
    ("block_sd", "blocks"),
    [
        # t of 9 degrees: 3.2498 at 0.995, 2.2544 at the root of 0.95; ln 1.03 - ln 1.005 is 0.024571.
        (0.0, 10),
        (0.0141, 10),
        (0.0142, 12),
        (0.02, 22),
        (0.03, 46),
        (0.0345, 60),
        (0.5, 60),
    ],
)
def test_the_number_of_blocks_follows_from_the_spread(block_sd: float, blocks: int) -> None:
    assert blocks_needed(block_sd, USUAL) == blocks
    exact = ((3.2498 + 2.2544) * block_sd / 0.024571) ** 2
    assert blocks >= min(exact, MOST_BLOCKS) - 1e-3
    assert blocks - 2 < max(exact, START_BLOCKS)


def test_thresholds_that_leave_no_room_take_the_most_blocks() -> None:
    assert blocks_needed(0.0, Thresholds(bound=0.03)) == MOST_BLOCKS


def test_the_smallest_slowdown_that_is_found_is_never_below_the_effect() -> None:
    assert smallest_slowdown(0.0, 10, USUAL) == pytest.approx(0.015)
    assert smallest_slowdown(0.001, 10, USUAL) == pytest.approx(0.015 + 2.254 * 0.001 / 10**0.5, abs=1e-4)
    assert smallest_slowdown(0.0141, 10, USUAL) == pytest.approx(0.03, abs=1e-3)


def test_the_page_of_the_rule_has_its_numbers() -> None:
    page = (Path(__file__).parents[1] / "docs" / "gate.md").read_text()
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) % \|$", page, re.MULTILINE)
    assert [int(blocks) for blocks, _ in rows] == [10, 20, 30, MOST_BLOCKS]
    for blocks, largest in rows:
        assert smallest_slowdown(float(largest) / 100, int(blocks), USUAL) == pytest.approx(0.03, abs=1e-4)


@pytest.mark.parametrize(
    ("clocks", "steady"),
    [
        ((1980, 1980, 1980, 1980), (0, 1, 2, 3)),
        # It moved inside the third block, and stayed there.
        ((1980, 1980, 1900, 1822, 1822), (0, 1, 3, 4)),
        # It moved between two blocks.
        ((1980, 1980, 1822, 1822), (0, 1, 2, 3)),
        # It moved away and back.
        ((1980, 1822, 1980, 1980), (2, 3)),
        # It drifts, by less than 1 % per block.
        (tuple(1980 - 15 * i for i in range(10)), tuple(range(10))),
        # It moved inside the first one and the last one.
        ((1900, 1980, 1980, 1900), (1, 2)),
        # Nobody knows.
        ((0, 0, 0, 0), (0, 1, 2, 3)),
        ((1980, 0, 1500, 0), (0, 1, 2, 3)),
        ((1980,), (0,)),
    ],
)
def test_blocks_within_which_the_clock_moved_are_dropped(
    clocks: tuple[float, ...], steady: tuple[int, ...]
) -> None:
    assert tuple(i for i in range(len(clocks)) if is_steady(clocks, i)) == steady


def epoch(*ratios: float, clocks: tuple[float, ...] = (), held_down: str = "") -> Epoch:
    """Return blocks of one sample each, 100 ns of the earlier version."""
    earlier = tuple((100.0,) for _ in ratios)
    return Epoch(SamplingMode.COLD, earlier, tuple((100 * r,) for r in ratios), clocks, held_down)


def test_dropped_blocks_are_part_of_nothing() -> None:
    clocks = (1980.0, 1980.0, 1980.0, 1980.0, 1900.0, 1822.0, 1822.0, 1822.0)
    made = pool([epoch(1, 1, 1, 1, 9, 1, 1, 1, clocks=clocks)], USUAL)
    assert made.estimate is not None
    assert (made.estimate.ratio, made.blocks, made.before_ns, made.after_ns) == (1.0, 7, 100.0, 100.0)


def test_which_blocks_are_dropped_never_depends_on_times() -> None:
    chance = np.random.default_rng(3)
    clocks = (1980.0, 1900.0, 1822.0, 1822.0)
    kept = {epoch(*chance.lognormal(0, 1, 4), clocks=clocks).kept for _ in range(100)}
    assert kept == {(2, 3)}
    assert {epoch(*chance.lognormal(0, 5, 4)).kept for _ in range(100)} == {(0, 1, 2, 3)}


def test_more_than_a_quarter_dropped_leaves_no_verdict() -> None:
    moved = (1980.0, 1900.0, 1822.0, 1822.0)
    made = pool([epoch(2, 2, 2, 2, clocks=moved)], USUAL)
    assert made.estimate is None
    assert made.verdict(USUAL) is UNSURE
    assert made.why_not == "2 of 4 blocks do not count, since the SM clock moved in them"
    settled = pool([epoch(2, 2, 2, 2, clocks=moved), epoch(2, 2, 2, 2)], USUAL)
    assert settled.verdict(USUAL) is SLOWER


def test_a_gpu_that_was_held_down_leaves_no_verdict() -> None:
    made = pool([epoch(2, 2, 2, 2, held_down="its temperature")], USUAL)
    assert made.verdict(USUAL) is UNSURE
    assert (
        made.why_not == "4 of 4 blocks do not count, since the GPU's clocks were held down by its temperature"
    )
    assert (made.blocks, made.before_ns) == (0, None)


def test_epochs_that_were_sampled_otherwise_are_not_taken_together() -> None:
    cold, batch = epoch(2, 2, 2), replace(epoch(2, 2, 2), mode=SamplingMode.BATCH)
    made = pool([cold, batch], USUAL)
    assert made.verdict(USUAL) is UNSURE
    assert made.why_not == "the versions were timed cold once and in batches once"


def test_exact_bounds_are_those_of_the_tables() -> None:
    assert upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300), abs=1e-9)
    assert upper_bound(0, 300) < 0.01
    assert upper_bound(1, 20) == pytest.approx(0.2161, abs=1e-4)
    assert lower_bound(95, 100) == pytest.approx(0.8977, abs=1e-4)
    assert (upper_bound(5, 5), lower_bound(0, 5)) == (1.0, 0.0)


# Standard deviations as seen on GPUs and beyond. "places" make 0.6 % between two versions in an epoch.
NOISES = {
    "quiet": Noise(sample=0.005),
    "short": Noise(median_ns=2000.0, sample=0.02),
    "restless": Noise(block=0.007, drift=0.02),
    "loud": Noise(sample=0.02, block=0.015),
    "placed": Noise(placement=0.003),
    "places": Noise(placement=0.0042),
    "steps": Noise(steps=0.05),
    "ticks": Noise(median_ns=2016.0, sample=0.001, block=0.001, tick_ns=32.0),
}
DECISIONS = 500


def verdicts(noise: Noise, ratio: float, rule: Callable[[NoisyGpu], GateVerdict], number: int) -> list[str]:
    chance = np.random.default_rng(20)
    return [rule(NoisyGpu(noise, ratio, chance)) for _ in range(number)]


def false_verdicts(rule: Callable[[NoisyGpu], GateVerdict], *names: str) -> int:
    """Return how often equal versions were called different, of `DECISIONS` for each noise."""
    said = [one for name in names for one in verdicts(NOISES[name], 1.0, rule, DECISIONS)]
    return sum(one in (SLOWER, FASTER) for one in said)


def test_equal_versions_are_never_called_different() -> None:
    false = false_verdicts(lambda gpu: gate(gpu).verdict, *NOISES)
    assert false == 0
    assert upper_bound(false, DECISIONS * len(NOISES)) < 0.001


def unconfirmed(gpu: NoisyGpu) -> GateVerdict:
    timed = gpu.interleave(None, (EARLIER, CURRENT), None, None)
    sampled = (timed.block_samples_ns(0), timed.block_samples_ns(1))
    return pool([Epoch(timed.mode, *sampled, timed.sm_clock_mhz)], USUAL).verdict(USUAL)


def test_a_rule_without_confirmation_errs_under_the_same_noise() -> None:
    assert false_verdicts(unconfirmed, "places") > 2


def test_a_rule_without_a_floor_of_the_effect_errs_under_the_same_noise() -> None:
    any_effect = Thresholds(bound=0.0, effect=0.0)
    assert false_verdicts(lambda gpu: gate(gpu, any_effect).verdict, "places") > 5


@pytest.mark.parametrize(("ratio", "verdict"), [(1.03, SLOWER), (1 / 1.03, FASTER)], ids=["slower", "faster"])
@pytest.mark.parametrize("name", NOISES)
def test_a_difference_of_three_percent_is_found(name: str, ratio: float, verdict: GateVerdict) -> None:
    found = verdicts(NOISES[name], ratio, lambda gpu: gate(gpu).verdict, 200)
    assert found.count(verdict) >= 0.95 * len(found)
    assert found.count(SLOWER) + found.count(FASTER) == found.count(verdict)


@pytest.mark.parametrize("name", ["quiet", "short", "restless", "steps"])
def test_a_slowdown_of_one_percent_hardly_ever_fails(name: str) -> None:
    found = verdicts(NOISES[name], 1.01, lambda gpu: gate(gpu).verdict, 200)
    assert found.count(SLOWER) <= 2
    assert found.count(SAME) >= 180


def test_the_power_formula_tells_what_is_found() -> None:
    noise = Noise(sample=0.01, block=0.01, drift=0.0)
    # Of medians of ten, and of the blocks themselves, for two arms.
    block_sd = math.hypot(0.01, 1.2 * 0.01 / math.sqrt(10)) * math.sqrt(2)
    slowdown = smallest_slowdown(block_sd, blocks_needed(block_sd, USUAL), USUAL)
    found = verdicts(noise, 1 + slowdown, lambda gpu: gate(gpu).verdict, 300)
    assert 0.9 * len(found) < found.count(SLOWER)
    assert verdicts(noise, 1 + slowdown / 2, lambda gpu: gate(gpu).verdict, 300).count(SLOWER) < 150
