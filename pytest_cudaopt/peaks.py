"""What a GPU can do at most: in theory from its data, and as measured once and kept in the user's cache.

Measured peaks are what percentages refer to. Theoretical ones are what no honest time can beat; where the
driver does not say enough to compute one, it is None.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import wire
from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.errors import HarnessError

if TYPE_CHECKING:
    from pytest_cudaopt.answers import GpuFacts, Limits
    from pytest_cudaopt.device import Device

# Raise it when a peak kernel, or how it is measured, changes: older entries are then not used.
PEAKS_VERSION = 1
# FP32 lanes per multiprocessor by compute capability: CUDA C++ Programming Guide, "Arithmetic Instructions".
_FP32_LANES = {
    (7, 0): 64,
    (7, 2): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (11, 0): 128,
    (12, 0): 128,
    (12, 1): 128,
}
# Per multiprocessor, by major compute capability: what its port to the L2 takes.
_L2_BYTES_PER_CLOCK = {7: 64, 8: 64, 9: 64}


@dataclass(frozen=True)
class Peaks:
    """Measured peaks of one GPU.

    `copy_bytes_per_s` counts bytes read and written. The launch floors are an empty kernel's medians;
    `launch_batch_ns` is None if batches could not be measured.
    """

    copy_bytes_per_s: float
    fp32_flops_per_s: float
    launch_cold_ns: float
    launch_batch_ns: float | None
    tick_ns: float | None


@dataclass(frozen=True)
class TheoreticalPeaks:
    """What clocks and widths allow; None where a figure it takes is unknown."""

    dram_bytes_per_s: float | None
    l2_bytes_per_s: float | None
    fp32_flops_per_s: float | None


def theoretical_peaks(limits: Limits, sm_clock_mhz: float = 0.0) -> TheoreticalPeaks | None:
    """Compute the peaks of a GPU; None for a modelled device.

    A `sm_clock_mhz` above the one the driver states counts instead: some boards boost beyond it.
    """
    gpu = limits.gpu
    if gpu is None:
        return None
    clock_hz = max(gpu.sm_clock_mhz, sm_clock_mhz) * 1e6
    capability = _capability(limits.architecture)
    lanes_hz = limits.multiprocessors * _FP32_LANES.get(capability, 0) * clock_hz
    port_bytes = _L2_BYTES_PER_CLOCK.get(capability[0], 0)
    # Double data rate: two transfers per clock and pin.
    dram = gpu.memory_clock_mhz * 1e6 * 2 * gpu.memory_bus_bits / 8
    return TheoreticalPeaks(
        dram_bytes_per_s=dram or None,
        l2_bytes_per_s=limits.multiprocessors * port_bytes * clock_hz or None,
        fp32_flops_per_s=2 * lanes_hz or None,
    )


def known_peaks(device: Device) -> Peaks | None:
    """Return what was measured on this GPU under this driver; None if nothing was, or on `sim`."""
    gpu = device.limits.gpu
    if gpu is None:
        return None
    try:
        stored = wire.from_json(_Stored, json.loads(_file(gpu).read_text()), "cached peaks")
    except (OSError, ValueError, HarnessError):
        return None
    return stored.peaks if (stored.version, stored.driver) == (PEAKS_VERSION, gpu.driver) else None


def remember_peaks(device: Device, peaks: Peaks) -> Path | None:
    """Keep `peaks` for this GPU; return where, None if it cannot be written."""
    gpu = device.limits.gpu
    if gpu is None:
        return None
    stored = _Stored(PEAKS_VERSION, gpu.driver, device.limits.name, peaks)
    path = _file(gpu)
    return path if remember(path, (json.dumps(wire.to_json(stored), indent=2) + "\n").encode()) else None


@dataclass(frozen=True)
class _Stored:
    version: int
    driver: tuple[int, int]
    name: str
    peaks: Peaks


def _file(gpu: GpuFacts) -> Path:
    # The text comes from the driver: nothing in it may leave the folder.
    name = "".join(char if char.isalnum() or char == "-" else "_" for char in gpu.uuid)
    return cache_folder() / "peaks" / f"{name}.json"


def _capability(architecture: str) -> tuple[int, int]:
    digits = "".join(char for char in architecture.removeprefix("sm_") if char.isdigit())
    return (int(digits[:-1] or 0), int(digits[-1:] or 0))
