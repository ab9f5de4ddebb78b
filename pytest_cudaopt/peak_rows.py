"""A GPU's measured peaks beside the theoretical ones, as rows of `cudaopt doctor --peaks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.doctor import Row, State
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.latency_text import format_rate
from pytest_cudaopt.peak_measurement import measure_peaks
from pytest_cudaopt.peaks import Peaks, TheoreticalPeaks, remember_peaks, theoretical_peaks

if TYPE_CHECKING:
    from pytest_cudaopt.device import Device


def examine_peaks(device: Device) -> list[Row]:
    """Measure the peaks anew, keep them for percentages, and return what to show."""
    theory = theoretical_peaks(device.limits)
    if theory is None:
        detail = f"{device.description} is modelled: a modelled device has no measured peaks"
        return [Row("peaks", State.ABSENT, detail)]
    try:
        peaks = measure_peaks(device)
    except CudaoptError as error:
        detail = f"{error.what}: expected {error.expected}, got {error.got}"
        return [Row("peaks", State.MISSING, detail, error.next_step or "")]
    path = remember_peaks(device, peaks)
    kept = f"{device.limits.name}, kept in {path}" if path else f"{device.limits.name}, not kept"
    advice = "" if path else "Set XDG_CACHE_HOME to a folder that can be written to"
    return [Row("peaks", State.FOUND, kept, advice), *peak_rows(peaks, theory)]


def peak_rows(peaks: Peaks, theory: TheoreticalPeaks) -> list[Row]:
    """Say each peak, with its share of what theory allows where that is known."""
    copy = _beside(peaks.copy_bytes_per_s, theory.dram_bytes_per_s, "B")
    fma = _beside(peaks.fp32_flops_per_s, theory.fp32_flops_per_s, "FLOP")
    batch = "not measured" if peaks.launch_batch_ns is None else format_duration(peaks.launch_batch_ns)
    tick = "unknown" if peaks.tick_ns is None else format_duration(peaks.tick_ns)
    return [
        Row("copy bandwidth", State.FOUND, f"{copy}, read and written bytes"),
        Row("FP32 FMA rate", State.FOUND, fma),
        Row("launch floor", State.FOUND, f"{format_duration(peaks.launch_cold_ns)} cold, {batch} batch"),
        Row("event tick", State.FOUND, tick),
    ]


def _beside(measured: float, theoretical: float | None, unit: str) -> str:
    shown = format_rate(measured, unit)
    if theoretical is None:
        return f"{shown}; the theoretical peak is unknown"
    return f"{shown}, {100 * measured / theoretical:.1f} % of {format_rate(theoretical, unit)} in theory"
