"""Latencies and rates as a person reads them."""

from __future__ import annotations

from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.duration_text import format_duration, three_digits
from pytest_cudaopt.evaluation import Latency, SamplingMode


def format_latency(latency: Latency, done: Achieved | None = None) -> str:
    """Write a latency with its kind or mode, what bounds it if a model says so, and what it achieves.

    A measured one shows the other mode too, the interquartile range over the median, and the launch floor.
    """
    if latency.mode is None:
        bound = f" ({latency.bound})" if latency.bound else ""
        return f"{format_duration(latency.median_ns)} {latency.kind}{bound}"
    parts = [f"{format_duration(latency.median_ns)} {latency.mode}"]
    for mode, other in ((SamplingMode.COLD, latency.cold), (SamplingMode.BATCH, latency.batch)):
        if mode is not latency.mode and other is not None:
            parts[0] += f" ({mode} {format_duration(other.median_ns)})"
    if latency.sampling is not None:
        parts.append(f"IQR {three_digits(100 * latency.sampling.relative_iqr)} %")
    if latency.batch is not None and latency.batch.floor_ns is not None:
        parts.append(f"launch floor {format_duration(latency.batch.floor_ns)}")
    return ", ".join([*parts, *([] if done is None else format_achieved(done))])


def format_achieved(done: Achieved) -> list[str]:
    """Write rates, each with its share of the measured peak where that is known."""
    known = (
        (done.bytes_per_s, "B", " (counted)" * done.bytes_counted, done.copy_peak_share, "copy peak"),
        (done.flops_per_s, "FLOP", "", done.fp32_peak_share, "FP32 peak"),
    )
    return [
        format_rate(rate, unit) + how + ("" if share is None else f" = {100 * share:.3g} % of {peak}")
        for rate, unit, how, share, peak in known
        if rate is not None
    ]


def format_bytes(number: int) -> str:
    """Write an amount with three significant digits, such as `8.39 MB`."""
    return format_rate(number, "B").removesuffix("/s")


def format_rate(per_s: float, unit: str) -> str:
    """Write a rate with three significant digits, such as `3.46 TB/s`."""
    for prefix, scale in (("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if per_s < 999.5 * scale:
            return f"{three_digits(per_s / scale)} {prefix}{unit}/s"
    return f"{three_digits(per_s / 1e12)} T{unit}/s"
