"""Exact bounds of a rate from counts (Clopper and Pearson): what an experiment may claim."""

from __future__ import annotations

import math

_HALVINGS = 60


def tail(successes: int, trials: int, rate: float) -> float:
    """Return the probability of at most `successes` of `trials`, each of which succeeds with `rate`."""
    return math.fsum(
        math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(successes + 1)
    )


def upper_bound(successes: int, trials: int, level: float = 0.05) -> float:
    """Return the one-sided bound of the rate: a higher one gives so few successes with less than `level`."""
    if successes >= trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(successes, trials, middle) > level else (low, middle)
    return high


def lower_bound(successes: int, trials: int, level: float = 0.05) -> float:
    """Return the one-sided bound of the rate from below."""
    return 1 - upper_bound(trials - successes, trials, level)
