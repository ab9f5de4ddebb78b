"""Whether tests can run on a GPU here, and if not, what is missing."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Mapping

# Asks the driver in a process of its own: what it prints is what is missing, if anything.
_LOOK_FOR_GPU = """
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int()
code = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
if code:
    print(f"the CUDA driver ({sys.argv[1]}) cannot be used: error {code}")
elif count.value == 0:
    print(f"the CUDA driver ({sys.argv[1]}) sees no GPU (CUDA_VISIBLE_DEVICES hides them?)")
"""


def missing_for_gpu(environ: Mapping[str, str]) -> str | None:
    """Return what keeps tests from running on a GPU; None if nothing does."""
    driver = environ.get("CUDAOPT_DRIVER") or "libcuda.so.1"
    try:
        # Opened and not initialised: a process that was cannot be forked.
        ctypes.CDLL(driver)
    except OSError:
        return f"no CUDA driver ({driver})"
    asked = subprocess.run(
        [sys.executable, "-c", _LOOK_FOR_GPU, driver],
        capture_output=True, text=True, check=False, env=dict(environ),
    )  # fmt: skip
    if asked.returncode:
        last = (asked.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return f"the CUDA driver ({driver}) cannot be asked: {last}"
    return asked.stdout.strip() or None
