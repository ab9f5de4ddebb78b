"""Latencies as pytest-benchmark's own: in its table, its files, its comparisons and its histograms.

Nothing is measured here: pytest-benchmark gets the samples through its public interface, by a timer that
tells recorded times. It may be absent, disabled or replaced, and is never imported.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from pytest_cudaopt import gpu_state
from pytest_cudaopt.errors import CudaoptError, SettingsError
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.session import MACHINE_KEY, KernelSession

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Latency
    from pytest_cudaopt.item_work import Finished, Work

_TIMED_ON = pytest.StashKey[dict[str, str]]()
# Times of machines that differ in one of these have nothing to say about each other.
_IDENTITY = ("kind", "device", "gpu")
# By name and not by the fixture's value: items must be recognisable as benchmarks when they are collected.
MARK = pytest.mark.usefixtures("benchmark")


class RecordedTimes:
    """A timer that makes each round take what it is told."""

    __name__ = "recorded_times"

    def __init__(self) -> None:
        self._readings: Iterator[float] = iter(())

    def tell(self, seconds: Sequence[float]) -> None:
        """Make the next rounds, each read at its start and its end, take exactly so long."""
        # Each from zero: a clock that goes on would round the differences.
        self._readings = chain.from_iterable((0.0, one) for one in seconds)

    def __call__(self) -> float:
        return next(self._readings)


def takes_part(config: pytest.Config) -> bool:
    """True if latency items should be benchmarks.

    Not where pytest-benchmark is absent. Under pytest-xdist it keeps no times and warns of every benchmark,
    unless it was told to skip or disable them.
    """
    if not config.pluginmanager.hasplugin("benchmark"):
        return False
    return not _is_distributed(config) or _is_told_off(config)


def join(item: pytest.Item) -> None:
    """Give the item its timer, beside what its own `benchmark` mark says."""
    own = item.get_closest_marker("benchmark")
    args, kwargs = ((), {}) if own is None else (own.args, own.kwargs)
    item.add_marker(pytest.mark.benchmark(*args, **{**kwargs, "timer": RecordedTimes()}), append=False)


def record(request: pytest.FixtureRequest, work: Work, finished: Finished) -> None:
    """Hand what came of a latency item to pytest-benchmark; without a latency, nothing.

    Modelled ones, one number each, only where its options ask for something: in a table of samples they are
    noise.
    """
    fixture, latency = request.getfixturevalue("benchmark"), finished.latency
    is_shown = latency is not None and (latency.kind is LatencyKind.MEASURED or _is_asked_for(request.config))
    if latency is None or work.case is None or not is_shown:
        # It warns of a fixture that a test does not use.
        fixture.disabled = True
        fixture.pedantic(_nothing)
        return
    seconds = seconds_of(latency)
    request.node.get_closest_marker("benchmark").kwargs["timer"].tell(seconds)
    fixture.group = fixture.group or f"{work.kernel.name}, {latency.kind} on {finished.row.device}"
    fixture.param, fixture.params = work.case_id, shape_of(work.case)
    fixture.extra_info.update(extra_info(finished, latency, work.case))
    fixture.pedantic(_nothing, rounds=len(seconds))
    request.config.stash[_TIMED_ON] = machine_of(KernelSession.of(request.config).device())


def seconds_of(latency: Latency) -> list[float]:
    """Return the samples in seconds; of a modelled latency, which has none, the one number."""
    return [ns * 1e-9 for ns in latency.samples_ns or (latency.median_ns,)]


def shape_of(case: Case) -> dict[str, int | str | None]:
    """Return the case's sizes and types by name; None for what is absent."""
    return {**dict(case.sizes), **dict(case.types), **dict.fromkeys(case.absent)}


def extra_info(finished: Finished, latency: Latency, case: Case) -> dict[str, Any]:
    """Return what the samples are of; facts that change from run to run are among it."""
    sampling = latency.sampling
    known = {
        "device": finished.row.device,
        "kind": str(latency.kind),
        "mode": None if latency.mode is None else str(latency.mode),
        "case": shape_of(case),
        "launches": None if sampling is None else sampling.launches,
        "bound": latency.bound,
        "sm_clock_mhz": list(latency.sm_clock_mhz) or None,
        "doubts": list(finished.row.doubts) or None,
        "verdict": finished.row.verdict or None,
    }
    return {name: value for name, value in known.items() if value is not None}


def machine_of(device: Device) -> dict[str, str]:
    """Return what identifies where kernels were timed; the same for every run on one machine."""
    nvrtc = ".".join(map(str, device.toolchain.version))
    gpu = device.limits.gpu
    if gpu is None:
        model = device.harness.version.harness
        kind = str(LatencyKind.MODELLED)
        return {"kind": kind, "device": device.limits.name, "nvrtc": nvrtc, "simulator": model}
    return {
        "kind": str(LatencyKind.MEASURED),
        "device": device.limits.name,
        # Files are passed around; whose GPU it was is nobody's business.
        "gpu": hashlib.sha256(gpu.uuid.encode()).hexdigest()[:12],
        "nvrtc": nvrtc,
        "cuda": ".".join(map(str, gpu.driver)),
        "driver": gpu_state.driver_release() or "unknown",
    }


def identify(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """Add the device to what pytest-benchmark saves of the machine, if a kernel was timed."""
    timed_on = config.stash.get(_TIMED_ON, None)
    if timed_on is not None:
        machine_info[MACHINE_KEY] = timed_on


def refuse_other_devices(
    config: pytest.Config, machine_info: dict[str, Any], compared: Mapping[str, Any]
) -> None:
    """Stop a comparison with kernels that were timed on another device than this session's.

    `compared` is a saved file that holds such; `machine_info`, made before a device was opened, gets this
    one's. Raises pytest.UsageError.
    """
    saved = compared["machine_info"][MACHINE_KEY]
    current = _current(config)
    # Where no kernel will be timed there is no other device to warn of.
    machine_info[MACHINE_KEY] = current or saved
    if current is None:
        return
    if any(saved.get(name) != current.get(name) for name in _IDENTITY):
        raise pytest.UsageError(str(_other_device(saved, current, str(compared.get("datetime", "")))))


def _current(config: pytest.Config) -> dict[str, str] | None:
    """Return what kernels are going to be timed on; None if they will not be, or not for pytest-benchmark."""
    if not takes_part(config) or _is_told_off(config):
        return None
    try:
        return machine_of(KernelSession.of(config).device())
    except CudaoptError:
        # Every kernel's item says why in full.
        return None


def _other_device(saved: Mapping[str, str], current: Mapping[str, str], saved_at: str) -> SettingsError:
    return SettingsError(
        "--benchmark-compare",
        expected=f"times {_named(current)}, where kernels run now",
        got=f"times {_named(saved)}" + (f", saved at {saved_at}" if saved_at else ""),
        next_step="Times of two devices are not compared: name a run of this one, choose the device with "
        "--cudaopt-device, or run without --benchmark-compare",
    )


def _named(machine: Mapping[str, str]) -> str:
    gpu = f" (GPU {machine['gpu']})" if "gpu" in machine else ""
    return f"{machine.get('kind')} on {machine.get('device')}{gpu}"


def _is_asked_for(config: pytest.Config) -> bool:
    """Whether an option of pytest-benchmark was given: somebody wants what it makes of the numbers."""
    grouped = config.getoption("benchmark_group_by", "group") != "group"
    return grouped or any(config.getoption(name, None) for name in _ASKING)


# Off unless given, whatever an ini file says of timers.
_ASKING = (
    "benchmark_json",
    "benchmark_save",
    "benchmark_autosave",
    "benchmark_compare",
    "benchmark_compare_fail",
    "benchmark_histogram",
    "benchmark_only",
    "benchmark_enable",
    "benchmark_verbose",
)


def _is_distributed(config: pytest.Config) -> bool:
    return config.getoption("dist", "no") != "no" or "PYTEST_XDIST_WORKER" in os.environ


def _is_told_off(config: pytest.Config) -> bool:
    disabled = config.getoption("benchmark_disable") and not config.getoption("benchmark_enable")
    return bool(disabled or config.getoption("benchmark_skip"))


def _nothing() -> None:
    pass
