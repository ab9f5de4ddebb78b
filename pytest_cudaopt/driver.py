"""The CUDA driver, as far as one can ask it without touching a GPU: which library it is, and its version."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

VARIABLE = "CUDAOPT_DRIVER"
OLDEST = (12, 0)
_LIBRARY = "libcuda.so.1"
_CUDA_SUCCESS = 0


def library(environ: Mapping[str, str] = os.environ) -> str:
    """Return the driver library's name, or the path CUDAOPT_DRIVER gives."""
    return environ.get(VARIABLE) or _LIBRARY


def driver_version(environ: Mapping[str, str] = os.environ) -> tuple[int, int] | None:
    """Return the newest CUDA version the driver supports; None without a driver that works.

    It does not initialise the driver, which would take 0.2 s and forbid CUDA in forked children.
    """
    number = ctypes.c_int(0)
    try:
        status = ctypes.CDLL(library(environ)).cuDriverGetVersion(ctypes.byref(number))
    except (OSError, AttributeError):
        return None
    # A toolkit's stub library answers with an error, or with no version.
    if status != _CUDA_SUCCESS or number.value <= 0:
        return None
    return number.value // 1000, number.value % 1000 // 10


def visible_count(environ: Mapping[str, str] = os.environ) -> int | None:
    """Return how many GPUs CUDA_VISIBLE_DEVICES lists; None if it is not set. There may be fewer."""
    listed = environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return None
    entries = [entry.strip() for entry in listed.split(",")]
    # The driver reads up to the first entry that names no GPU.
    ends = (i for i, entry in enumerate(entries) if not entry or entry.startswith("-"))
    return next(ends, len(entries))
