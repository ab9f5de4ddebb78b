"""What disturbs a measurement, as NVML tells it: throttling, clocks, other processes on the GPU.

Every absence is tolerated: no NVML, no permission, a GPU it does not know.
"""

from __future__ import annotations

import importlib
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Flag
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pytest_cudaopt import harness

T = TypeVar("T")
_CLOCK_SM = 1
_TEMPERATURE_GPU = 0
_PROC = Path("/proc")
# /proc/PID/comm holds no more of a program's name.
_COMM_LENGTH = 15
_MOVED = 0.01
_LEAST_OF_MAXIMUM = 0.75


class ClockReason(Flag):
    """Why the clocks are not higher (nvmlClocksEventReasons)."""

    NONE = 0
    IDLE = 0x1
    APPLICATION_CLOCKS = 0x2
    POWER_CAP = 0x4
    HARDWARE_SLOWDOWN = 0x8
    SYNC_BOOST = 0x10
    SOFTWARE_THERMAL = 0x20
    HARDWARE_THERMAL = 0x40
    POWER_BRAKE = 0x80
    DISPLAY = 0x100


# Idle is how a GPU is before and after; application clocks are chosen, and steady.
_DOUBTFUL = {
    ClockReason.POWER_CAP: "its power limit",
    ClockReason.HARDWARE_SLOWDOWN: "a hardware slowdown",
    ClockReason.SOFTWARE_THERMAL: "its temperature (software)",
    ClockReason.HARDWARE_THERMAL: "its temperature (hardware)",
    ClockReason.POWER_BRAKE: "a power brake from outside",
}
# These slow a GPU at once and by much; a power limit is how many run all day.
_THROTTLING = (
    ClockReason.HARDWARE_SLOWDOWN
    | ClockReason.SOFTWARE_THERMAL
    | ClockReason.HARDWARE_THERMAL
    | ClockReason.POWER_BRAKE
)


@dataclass(frozen=True)
class GpuState:
    """A GPU at one moment; None is what NVML did not tell.

    `other_processes` are those that compute on it and take no turns with us.
    """

    sm_clock_mhz: int | None = None
    max_sm_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    reasons: ClockReason = ClockReason.NONE
    other_processes: tuple[int, ...] = ()
    mig: bool = False


def read(uuid: str, harness_pid: int | None = None) -> GpuState | None:
    """Return the state of the GPU `uuid` (GPU-... or MIG-...); None if NVML does not know it.

    Takes milliseconds; `harness_pid` is the process that measures.
    """
    nvml = _nvml()
    if nvml is None:
        return None
    handle = _told(nvml, lambda: nvml.device_get_handle_by_uuid(uuid))
    if handle is None:
        return None
    milliwatts = _told(nvml, lambda: nvml.device_get_power_usage(handle))
    reasons = _told(nvml, lambda: nvml.device_get_current_clocks_event_reasons(handle))
    pids = _told(nvml, lambda: [p.pid for p in nvml.device_get_compute_running_processes_v3(handle)])
    mig = _told(nvml, lambda: nvml.device_get_mig_mode(handle)[0])
    return GpuState(
        sm_clock_mhz=_told(nvml, lambda: nvml.device_get_clock_info(handle, _CLOCK_SM)),
        max_sm_clock_mhz=_told(nvml, lambda: nvml.device_get_max_clock_info(handle, _CLOCK_SM)),
        temperature_c=_told(nvml, lambda: nvml.device_get_temperature_v(handle, _TEMPERATURE_GPU)),
        power_w=None if milliwatts is None else milliwatts / 1000,
        reasons=clock_reasons(reasons or 0),
        other_processes=_others(pids or (), harness_pid),
        mig=uuid.startswith("MIG") or bool(mig),
    )


def count() -> int | None:
    """Return the number of GPUs of this machine, whichever are visible to CUDA; None without NVML."""
    nvml = _nvml()
    return None if nvml is None else _told(nvml, nvml.device_get_count_v2)


def driver_release() -> str | None:
    """Return the driver's release, such as "580.159.04"; None without NVML."""
    nvml = _nvml()
    return None if nvml is None else _told(nvml, nvml.system_get_driver_version)


def clock_reasons(bits: int) -> ClockReason:
    """Read NVML's bits; those of later drivers are left out."""
    known = ClockReason.NONE
    for reason in ClockReason:
        if bits & reason.value:
            known |= reason
    return known


def throttled_by(state: GpuState | None) -> str:
    """Say what slows the GPU at once and by much; empty if nothing does, or nobody knows."""
    held = ClockReason.NONE if state is None else state.reasons & _THROTTLING
    return " and ".join(text for reason, text in _DOUBTFUL.items() if reason in held)


def doubts(
    state: GpuState | None, sm_clock_mhz: Sequence[float], max_sm_clock_mhz: float | None
) -> tuple[str, ...]:
    """Say in sentences why a measurement that ended in `state` cannot be trusted; empty if it can.

    `sm_clock_mhz` are the clocks measured beside the samples; a maximum of 0 or None is unknown.
    """
    slowed = [text for reason, text in _DOUBTFUL.items() if state is not None and reason in state.reasons]
    others = () if state is None else sorted(state.other_processes)
    sentences = []
    if slowed:
        sentences.append(f"the GPU's clocks were held down by {' and '.join(slowed)}")
    if others:
        pids = ", ".join(str(pid) for pid in others)
        is_one = len(others) == 1
        sentences.append(
            f"{'another process uses' if is_one else 'other processes use'} the GPU "
            f"({'pid' if is_one else 'pids'} {pids})"
        )
    return (*sentences, *_clock_doubts([clock for clock in sm_clock_mhz if clock > 0], max_sm_clock_mhz))


def _clock_doubts(clocks: Sequence[float], maximum: float | None) -> list[str]:
    if not clocks:
        return []
    low, middle, high = min(clocks), statistics.median(clocks), max(clocks)
    sentences = []
    if high - low > _MOVED * middle:
        moved = 100 * (high - low) / middle
        sentences.append(f"the SM clock moved by {moved:.1f} % while measuring ({low:.0f} to {high:.0f} MHz)")
    if maximum and middle < _LEAST_OF_MAXIMUM * maximum:
        share = f"{100 * middle / maximum:.0f} % of the highest ({maximum:.0f} MHz)"
        sentences.append(f"the SM clock was {middle:.0f} MHz, {share}")
    return sentences


@cache
def _nvml() -> ModuleType | None:
    """Return NVML, initialised, or None; asked once per process."""
    try:
        nvml = importlib.import_module("cuda.bindings.nvml")
    except ImportError:
        return None
    # pathfinder's error for a missing library is a RuntimeError.
    try:
        nvml.init_v2()
    except (nvml.NvmlError, RuntimeError, OSError):
        return None
    return nvml


def _told(nvml: ModuleType, ask: Callable[[], T]) -> T | None:
    # A RuntimeError is a function that this driver's NVML lacks.
    try:
        return ask()
    except (nvml.NvmlError, RuntimeError):
        return None


def _others(pids: Iterable[int], harness_pid: int | None) -> tuple[int, ...]:
    listed, own = set(pids), set() if harness_pid is None else {harness_pid}
    ours = own | _ancestors(os.getpid())
    strange = listed - ours
    if not strange:
        return ()
    # Looking at every process takes tens of milliseconds on a large machine.
    looked_at = strange if all(_exists(pid) for pid in strange) else _all_processes()
    harnesses = {pid for pid in looked_at if _is_harness(pid)} | own
    return other_processes(listed, harnesses=harnesses, ours=ours | harnesses, exists=_exists)


def other_processes(
    pids: Iterable[int], *, harnesses: set[int], ours: set[int], exists: Callable[[int], bool]
) -> tuple[int, ...]:
    """Return those of `pids` that are not `ours`.

    In a container the driver may count in the host's numbers, under which no process is visible: as many
    of these are ours as there are harnesses it did not list by their own number.
    """
    listed = set(pids)
    strange = sorted(listed - ours)
    visible = [pid for pid in strange if exists(pid)]
    hidden = [pid for pid in strange if not exists(pid)]
    return tuple(visible + hidden[len(harnesses - listed) :])


def _exists(pid: int) -> bool:
    return (_PROC / str(pid)).exists()


def _all_processes() -> set[int]:
    return {int(folder.name) for folder in _PROC.glob("[0-9]*")}


def _is_harness(pid: int) -> bool:
    """True for this user's harnesses: they take turns by the GPU's lock."""
    comm = _PROC / str(pid) / "comm"
    try:
        return comm.stat().st_uid == os.getuid() and comm.read_text().strip() == harness.NAME[:_COMM_LENGTH]
    except OSError:
        # It ended meanwhile, or was never visible here.
        return False


def _ancestors(pid: int) -> set[int]:
    found: set[int] = set()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            # The name, in brackets, may hold spaces; the parent is the second field after it.
            pid = int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found
