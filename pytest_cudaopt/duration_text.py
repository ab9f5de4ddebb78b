"""Durations as a person reads them."""

from __future__ import annotations


def format_duration(ns: float) -> str:
    """Write a duration with three significant digits and the unit a person would choose."""
    for unit, scale in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        # 999.5 would round to four digits.
        if ns < 999.5 * scale:
            return f"{three_digits(ns / scale)} {unit}"
    return f"{three_digits(ns / 1e9)} s"


def three_digits(value: float) -> str:
    """Write a number below 1000 with three significant digits, and at most two decimals."""
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f}"
