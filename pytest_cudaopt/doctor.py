"""What this machine has and lacks: checks that look, change nothing, and return rows."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pytest_cudaopt import __version__, harness, toolchain
from pytest_cudaopt.answers import GpuFacts
from pytest_cudaopt.cache import cache_folder
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.gpu_state import GpuState, doubts

_LEAST_PYTHON = (3, 11)


class State(StrEnum):
    """ABSENT is fine, MISSING is not."""

    FOUND = "found"
    ABSENT = "absent"
    MISSING = "missing"


@dataclass(frozen=True)
class Row:
    """One thing looked for; `advice` says what to do about it."""

    what: str
    state: State
    detail: str
    advice: str = ""


def examine(results: Path, environ: Mapping[str, str], selector: str = "auto") -> list[Row]:
    """Look for everything this package needs or can use.

    `results` is the folder runs go to, `selector` the device kernels would run on.
    """
    needed = [
        python_row(sys.version_info[:2]),
        _guarded("harness", lambda: _harness_row(environ)),
        _guarded("NVRTC", lambda: _nvrtc_row(environ)),
        _guarded("CUDA headers", lambda: _headers_row(environ)),
    ]
    # Without these it cannot answer, which would only repeat their advice.
    devices: list[Row] = []
    if is_healthy(needed):
        devices = [_guarded("sim", lambda: _sim_row(environ)), *_device_rows(selector, environ)]
    return [
        *needed,
        *devices,
        folder_row(
            "cache folder", cache_folder(environ), State.ABSENT, "Set XDG_CACHE_HOME to one that can be"
        ),
        folder_row("results folder", results, State.MISSING, "Choose another with --optimize-results"),
    ]


def is_healthy(rows: Sequence[Row]) -> bool:
    """True if nothing needed is missing."""
    return all(row.state is not State.MISSING for row in rows)


def python_row(version: tuple[int, int]) -> Row:
    detail = f"{version[0]}.{version[1]} ({platform.machine()}), pytest-cudaopt {__version__}"
    if version < _LEAST_PYTHON:
        return Row("Python", State.MISSING, detail, "Use Python 3.11 or later")
    return Row("Python", State.FOUND, detail)


def gpu_row(device: Device) -> Row:
    """Say which GPU was opened; on `sim`, why none was."""
    facts = device.limits.gpu
    if facts is not None:
        return Row("GPU", State.FOUND, _gpu_detail(device, facts))
    reason = device.note.partition(", ")[2]
    return Row("GPU", State.ABSENT, f"{reason or 'not asked for'}: kernels run on sim")


def nvml_row(state: GpuState | None) -> Row:
    """Say whether disturbed measurements can be noticed on a GPU, and what NVML says of it now."""
    if state is None:
        advice = "Install the driver's NVML (libnvidia-ml.so.1) and cuda-bindings to be warned of throttling"
        return Row("NVML", State.ABSENT, "does not know this GPU: disturbances go unnoticed", advice)
    told = {
        "SM clock": state.sm_clock_mhz and f"{state.sm_clock_mhz} of {state.max_sm_clock_mhz or '?'} MHz",
        "temperature": state.temperature_c and f"{state.temperature_c} C",
        "power": state.power_w and f"{state.power_w:.0f} W",
        "MIG": "on" if state.mig else None,
    }
    detail = ", ".join(f"{what} {value}" for what, value in told.items() if value)
    return Row("NVML", State.FOUND, detail or "answers", "; ".join(doubts(state, (), None)))


def folder_row(what: str, folder: Path, state_if_not: State, advice: str) -> Row:
    """Say whether `folder`, or where it would be made, can be written to."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return Row(what, state_if_not, f"{folder}: {error.strerror or error}", advice)
    return Row(what, State.FOUND, f"{folder}{'' if existing == folder else ' (will be made)'}, writable")


def _guarded(what: str, look: Callable[[], Row]) -> Row:
    try:
        return look()
    except CudaoptError as error:
        return _error_row(what, error)


def _error_row(what: str, error: CudaoptError) -> Row:
    return Row(what, State.MISSING, f"{error.what}: {error.got or ''}".rstrip(": "), error.next_step or "")


def _harness_row(environ: Mapping[str, str]) -> Row:
    process = harness.Harness(harness.locate(environ))
    try:
        version = process.version
    finally:
        process.close()
    detail = f"{process.binary}, version {version.harness}, built for {version.isa}"
    return Row("harness", State.FOUND, f"{detail}, protocol {version.protocol}")


def _nvrtc_row(environ: Mapping[str, str]) -> Row:
    found = toolchain.find_toolchain(environ)
    return Row("NVRTC", State.FOUND, f"{found.nvrtc}, version {found.version[0]}.{found.version[1]}")


def _headers_row(environ: Mapping[str, str]) -> Row:
    found = toolchain.find_toolchain(environ)
    return Row("CUDA headers", State.FOUND, ", ".join(found.include), found.mismatch or "")


def _sim_row(environ: Mapping[str, str]) -> Row:
    with open_device("sim", environ=environ) as device:
        return Row("sim", State.FOUND, f"{device.description} answers")


def _device_rows(selector: str, environ: Mapping[str, str]) -> list[Row]:
    try:
        with open_device(selector, environ=environ) as device:
            note = device.note.removeprefix("auto: ")
            rows = [Row("auto", State.FOUND, note)] if note else []
            rows.append(gpu_row(device))
            if device.limits.gpu is not None:
                rows += [_gpu_nvrtc_row(device), nvml_row(device.gpu_state())]
            return rows
    except CudaoptError as error:
        return [_error_row(selector, error)]


def _gpu_detail(device: Device, facts: GpuFacts) -> str:
    return (
        f"{device.description}, {device.limits.architecture}, {facts.memory_bytes / 2**30:.1f} GiB, "
        f"driver for CUDA {facts.driver[0]}.{facts.driver[1]}, {facts.uuid}"
    )


def _gpu_nvrtc_row(device: Device) -> Row:
    chosen = device.toolchain
    detail = f"{chosen.nvrtc}, version {chosen.version[0]}.{chosen.version[1]}"
    return Row("NVRTC for GPU", State.FOUND, detail, chosen.mismatch or "")
