"""What this machine has and lacks: checks that look, change nothing, and return rows."""

from __future__ import annotations

import ctypes
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pytest_cudaopt import __version__, harness, toolchain
from pytest_cudaopt.cache import cache_folder
from pytest_cudaopt.device import open_device
from pytest_cudaopt.errors import CudaoptError

_LEAST_PYTHON = (3, 11)
_DRIVER = "libcuda.so.1"
_CUDA_SUCCESS = 0


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


def examine(results: Path, environ: Mapping[str, str]) -> list[Row]:
    """Look for everything this package needs or can use; `results` is the folder runs go to."""
    needed = [
        python_row(sys.version_info[:2]),
        _guarded("harness", lambda: _harness_row(environ)),
        _guarded("NVRTC", lambda: _nvrtc_row(environ)),
        _guarded("CUDA headers", lambda: _headers_row(environ)),
    ]
    # Without these it cannot answer, which would only repeat their advice.
    sim = [_guarded("sim", lambda: _sim_row(environ))] if is_healthy(needed) else []
    return [
        *needed,
        *sim,
        driver_row(),
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


def driver_row(library: str = _DRIVER) -> Row:
    """Ask the CUDA driver for GPUs; without one, kernels run on `sim`."""
    without = "kernels run on sim"
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return Row("GPU", State.ABSENT, f"no CUDA driver ({library}): {without}")
    count = ctypes.c_int(0)
    if driver.cuInit(0) != _CUDA_SUCCESS or driver.cuDeviceGetCount(ctypes.byref(count)) != _CUDA_SUCCESS:
        return Row("GPU", State.ABSENT, f"the CUDA driver finds none: {without}")
    detail = f"{count.value} behind {library}; this version does not use them: {without}"
    return Row("GPU", State.FOUND if count.value else State.ABSENT, detail)


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
        return Row(
            what, State.MISSING, f"{error.what}: {error.got or ''}".rstrip(": "), error.next_step or ""
        )


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
