"""Make a kernel slower by a share of its time: how many steps it takes is found by measuring."""

from __future__ import annotations

from collections.abc import Callable

_TRIES = 10


def steps_for(
    ratio_at: Callable[[int], float], base: int, first: int, target: float, within: float
) -> tuple[int, float]:
    """Return steps at which `ratio_at` is `within` reach of the `target`, and what it is there.

    `ratio_at` measures the time at some steps over that at `base`, and grows; the first try is `base` plus
    `first`. After ten tries the nearest counts, whatever it is.
    """
    tried = {base: 1.0}
    steps = base + max(first, 1)
    for _ in range(_TRIES):
        tried[steps] = ratio_at(steps)
        if abs(tried[steps] - target) <= within:
            return steps, tried[steps]
        steps = _next(tried, steps, base, target)
    del tried[base]
    return min(tried.items(), key=lambda one: abs(one[1] - target))


def _next(tried: dict[int, float], last: int, base: int, target: float) -> int:
    """Return steps between the nearest ones below and above the target, or farther out."""
    below = max((s for s, ratio in tried.items() if ratio < target), default=base)
    above = min((s for s, ratio in tried.items() if ratio >= target), default=None)
    if above is not None and above - below > 1:
        share = (target - tried[below]) / (tried[above] - tried[below])
        return min(max(below + round(share * (above - below)), below + 1), above - 1)
    if above is not None:
        # Noise: the neighbours once more.
        return below if last == above and below != base else above
    gained = tried[last] - 1
    factor = (target - 1) / gained if gained > (target - 1) / 10 else 10.0
    return max(base + round((last - base) * factor), last + 1)
