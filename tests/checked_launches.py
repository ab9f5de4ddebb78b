"""Launches with checks: a kernel's source, what it is given, and what `sim` finds in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness_client import COMPILE, LOAD, Json, Served, module, request

MARK = "// FINDS "


@dataclass(frozen=True)
class Planted:
    """A kernel `k(const T* x, T* y)` with a mistake at the marked lines, mended where MENDED is defined."""

    name: str
    source: str
    block: int = 64
    grid: int = 1
    dtype: str = "int32"
    access: str = "write"  # of y
    elements: int = 4096

    def marks(self) -> dict[int, str]:
        """Return the kind expected at each marked line."""
        lines = enumerate(self.source.splitlines(), start=1)
        return {number: line.split(MARK)[1].split()[0] for number, line in lines if MARK in line}


def findings(
    served: Served, folder: Path, planted: Planted, *defines: str, order: str = "forward"
) -> list[Json]:
    """Launch the kernel on x = 0, 1, 2, ... and return what was found."""
    dtype = np.dtype(planted.dtype)
    size = planted.elements * dtype.itemsize
    contents = folder / "x.bin"
    contents.write_bytes(np.arange(planted.elements).astype(dtype).tobytes())
    y: Json = {"name": "y", "bytes": size, "element_bytes": dtype.itemsize, "access": planted.access}
    if planted.access == "read_write":
        y["initial_file"] = str(contents)
    x: Json = {"name": "x", "bytes": size, "element_bytes": dtype.itemsize, "access": "read"}
    step: Json = {
        "do": "launch",
        "module": "m",
        "entry": "k",
        "grid": [planted.grid, 1, 1],
        "block": [planted.block, 1, 1],
        "arguments": [{"buffer": "x"}, {"buffer": "y"}],
        "checks": {"accesses": True},
        "order": order,
    }
    options = ["-lineinfo", *(f"-D{define}" for define in defines)]
    answer = served.ask(
        request(
            COMPILE,
            LOAD,
            step,
            modules=[module(planted.source, "k", options=options)],
            buffers=[x | {"initial_file": str(contents)}, y],
        )
    )
    assert answer["status"] == "ok", answer["fault"]
    found: list[Json] = answer["steps"][-1].get("findings", [])
    return found
