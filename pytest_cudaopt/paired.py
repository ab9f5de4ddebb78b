"""How much slower or faster one of two arms is, from samples taken in turn: numbers in, numbers out.

The unit is the block, in which both arms were timed one after the other: what drifts between blocks cancels
in a block's ratio, and samples inside a block are not independent of each other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class PairedEstimate:
    """The second arm's time over the first's: above 1 it is slower.

    `ratio` is the geometric mean over blocks. `lower` and `upper` are one-sided bounds, each exceeded with
    probability alpha if block ratios are independent and log-normal. `hodges_lehmann` is an estimate that one
    stray block hardly moves. `block_sd` is the standard deviation of the blocks' log ratios.
    """

    ratio: float
    lower: float
    upper: float
    blocks: int
    block_sd: float
    hodges_lehmann: float


def estimate(
    first_ns: Sequence[Sequence[float]], second_ns: Sequence[Sequence[float]], alpha: float = 0.005
) -> PairedEstimate:
    """Compare two arms by their samples, block by block; at least two blocks of positive times."""
    ratios = log_ratios(first_ns, second_ns)
    if len(ratios) < 2:
        raise ValueError(f"a paired estimate needs at least 2 blocks, got {len(ratios)}")
    mean, deviation = statistics.fmean(ratios), statistics.stdev(ratios)
    reach = t_quantile(1 - alpha, len(ratios) - 1) * deviation / math.sqrt(len(ratios))
    return PairedEstimate(
        ratio=math.exp(mean),
        lower=math.exp(mean - reach),
        upper=math.exp(mean + reach),
        blocks=len(ratios),
        block_sd=deviation,
        hodges_lehmann=math.exp(hodges_lehmann(ratios)),
    )


def log_ratios(
    first_ns: Sequence[Sequence[float]], second_ns: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """Return, for each block, the logarithm of the second arm's median over the first's."""
    return tuple(
        math.log(statistics.median(second) / statistics.median(first))
        for first, second in zip(first_ns, second_ns, strict=True)
    )


def hodges_lehmann(values: Sequence[float]) -> float:
    """Return the median of the means of all pairs, each value paired with itself too."""
    return statistics.median((a + b) / 2 for i, a in enumerate(values) for b in values[i:])


def t_probability(t: float, degrees: int) -> float:
    """Return the probability that Student's t with `degrees` of freedom is at most `t`.

    The finite series in theta = atan(t / sqrt(degrees)), exact for whole degrees (Abramowitz and Stegun,
    26.7.3 and 26.7.4).
    """
    if degrees < 1:
        raise ValueError(f"degrees of freedom: expected at least 1, got {degrees}")
    theta = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    is_odd = degrees % 2 == 1
    term = cosine if is_odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(3 if is_odd else 2, degrees - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    between = 2 / math.pi * (theta + sine * total) if is_odd else sine * total
    return (1 + between) / 2


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """Return what Student's t with `degrees` of freedom exceeds with 1 - `probability`; by bisection."""
    if not 0 < probability < 1:
        raise ValueError(f"probability: expected a number between 0 and 1, got {probability}")
    if probability < 0.5:
        return -t_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if t_probability(middle, degrees) < probability else (low, middle)
    return high
