"""Estimates from pairs: against tables, and against made-up arms whose ratio is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from pytest_cudaopt.paired import estimate, hodges_lehmann, log_ratios, t_probability, t_quantile


@pytest.mark.parametrize(
    ("probability", "degrees", "quantile"),
    [
        # As printed tables have them.
        (0.975, 1, 12.706),
        (0.995, 1, 63.657),
        (0.975, 2, 4.303),
        (0.95, 3, 2.353),
        (0.995, 4, 4.604),
        (0.975, 5, 2.571),
        (0.9995, 5, 6.869),
        (0.9, 9, 1.383),
        (0.975, 10, 2.228),
        (0.995, 19, 2.861),
        (0.9995, 19, 3.883),
        (0.95, 29, 1.699),
        (0.995, 59, 2.662),
        (0.975, 120, 1.980),
    ],
)
def test_quantiles_are_those_of_the_tables(probability: float, degrees: int, quantile: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(quantile, abs=5.1e-4)
    assert t_quantile(1 - probability, degrees) == pytest.approx(-quantile, abs=5.1e-4)


def test_one_and_two_degrees_have_closed_forms() -> None:
    for t in (0.1, 1.0, 7.0, 300.0):
        assert t_probability(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-14)
        assert t_probability(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), rel=1e-14)


@pytest.mark.parametrize("degrees", [1, 2, 3, 8, 19, 60])
def test_quantile_and_probability_are_inverse(degrees: int) -> None:
    for probability in (0.001, 0.3, 0.5, 0.9, 0.99999):
        assert t_probability(t_quantile(probability, degrees), degrees) == pytest.approx(probability)


def test_quantiles_fall_towards_the_normal_one() -> None:
    quantiles = [t_quantile(0.995, degrees) for degrees in range(1, 400)]
    assert all(later < earlier for earlier, later in pairwise(quantiles))
    assert quantiles[-1] == pytest.approx(2.5758, abs=0.02)


@pytest.mark.parametrize(
    "wrong", [lambda: t_quantile(0.0, 3), lambda: t_quantile(1.0, 3), lambda: t_quantile(0.9, 0)]
)
def test_what_has_no_quantile_is_refused(wrong: Callable[[], float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        wrong()


@pytest.mark.parametrize(
    ("values", "centre"),
    [([3.0], 3.0), ([1.0, 2.0], 1.5), ([1.0, 2.0, 9.0], 3.5), ([0.0, 0.0, 0.0, 0.0, 100.0], 0.0)],
)
def test_the_hodges_lehmann_centre_is_the_median_of_all_means_of_two(
    values: list[float], centre: float
) -> None:
    assert hodges_lehmann(values) == centre


def test_a_blocks_ratio_is_that_of_its_medians() -> None:
    ratios = log_ratios([(1.0, 2.0, 90.0), (4.0,)], [(4.0, 3.0, 5.0), (2.0,)])
    assert ratios == pytest.approx((math.log(2), -math.log(2)))


def test_an_estimate_is_what_a_hand_computes() -> None:
    found = estimate([(100.0,), (100.0,)], [(110.0,), (121.0,)])
    mean, deviation = 1.5 * math.log(1.1), math.log(1.1) / math.sqrt(2)
    assert found.blocks == 2
    assert found.block_sd == pytest.approx(deviation)
    assert found.ratio == found.hodges_lehmann == pytest.approx(math.exp(mean))
    reach = 63.6567 * deviation / math.sqrt(2)
    assert found.lower == pytest.approx(math.exp(mean - reach), rel=1e-4)
    assert found.upper == pytest.approx(math.exp(mean + reach), rel=1e-4)


def blocks_of(ratio: float, chance: np.random.Generator) -> tuple[list[list[float]], list[list[float]]]:
    """Return two arms under a drift of 10 % that both share, with 1 % noise of their own."""
    first, second = [], []
    for block in range(20):
        level = 1000 * (1 + 0.1 * block / 20)
        first.append((level * chance.lognormal(0, 0.01, 10)).tolist())
        second.append((ratio * level * chance.lognormal(0, 0.01, 10)).tolist())
    return first, second


@pytest.mark.parametrize("ratio", [0.5, 0.97, 1.0, 1.03])
def test_bounds_hold_the_true_ratio_as_often_as_they_say(ratio: float) -> None:
    chance = np.random.default_rng(7)
    found = [estimate(*blocks_of(ratio, chance), alpha=0.05) for _ in range(400)]
    above = sum(one.lower > ratio for one in found) / len(found)
    below = sum(one.upper < ratio for one in found) / len(found)
    assert 0.02 < above < 0.08
    assert 0.02 < below < 0.08
    assert all(abs(one.ratio / ratio - 1) < 0.01 for one in found)


def test_drift_between_blocks_does_not_reach_the_ratio() -> None:
    first, second = blocks_of(1.03, np.random.default_rng(1))
    assert estimate(first, second).lower > 1.02


def test_one_stray_block_moves_the_mean_but_not_the_robust_centre() -> None:
    first = [(100.0,)] * 20
    second = [(100.0,)] * 19 + [(400.0,)]
    found = estimate(first, second)
    assert found.ratio > 1.05
    assert found.hodges_lehmann == 1.0


@pytest.mark.parametrize("blocks", [0, 1])
def test_one_block_is_no_pair_of_blocks(blocks: int) -> None:
    with pytest.raises(ValueError, match=f"at least 2 blocks, got {blocks}"):
        estimate([(1.0,)] * blocks, [(1.0,)] * blocks)


def test_arms_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        estimate([(1.0,)] * 3, [(1.0,)] * 2)
