"""How fast `sim` executes: lane-instructions per second on one core, bounds checked, counters on.

Run `python tests/bench/sim_speed.py [--against LIBRARY.so]` with the package installed. Each kernel is
launched once and again several times in one request; the difference, divided, is the time of a launch
without reading files or decoding. `--against` times another executor of the same PTX in the same run, in
turn with ours: a shared library with `sim_load(ptx, kernel)` and `sim_launch(...)` as described at `Other`.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.dtypes import i32
from pytest_cudaopt.protocol import (
    Access,
    Argument,
    Buffer,
    BufferArgument,
    Checks,
    Compile,
    Entry,
    Launch,
    Load,
    Module,
    ScalarArgument,
    Step,
)

KERNELS = Path(__file__).parent / "kernels"
REPEATS, LAUNCHES = 5, 8
NOTHING = Checks()


@dataclass(frozen=True)
class Workload:
    """One launch of a square matrix product."""

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    size: int = 512
    checks: Checks = NOTHING


WORKLOADS = (
    Workload("sgemm_tiled", (16, 16, 1), (32, 32, 1)),
    Workload("sgemm_reg", (8, 8, 1), (256, 1, 1)),
    Workload("sgemm_naive", (16, 64, 1), (32, 8, 1)),
)


class Ours:
    """The harness, one thread."""

    def __init__(self, device: Device, source: str) -> None:
        self._device = device
        self._source = source

    def ptx(self, folder: Path) -> bytes:
        """Compile once; return the PTX both executors run."""
        self._ptx_file = folder / "sgemm.ptx"
        entries = tuple(Entry(workload.entry) for workload in WORKLOADS)
        module = Module(
            "m",
            file="sgemm.cu",
            source=self._source,
            options=("-std=c++17",),
            entries=entries,
            ptx_file=str(self._ptx_file),
        )
        self._ask((module,), (), (Compile("m"),))
        return self._ptx_file.read_bytes()

    def seconds(self, workload: Workload) -> tuple[float, int]:
        """Return the seconds of one launch and its warp instructions."""
        arrays = workload.size**2 * 4
        buffers = tuple(
            Buffer(name, arrays, access=access, element_bytes=4)
            for name, access in (("a", Access.READ), ("b", Access.READ), ("c", Access.READ_WRITE))
        )
        size = ScalarArgument.of(i32, np.int32(workload.size))
        arguments: tuple[Argument, ...] = (*(BufferArgument(name) for name in "abc"), size, size, size)
        launch = Launch(
            "m",
            workload.entry,
            workload.grid,
            workload.block,
            arguments=arguments,
            checks=workload.checks,
        )
        module = Module("m", file="sgemm.cu", ptx_file=str(self._ptx_file), entries=(Entry(workload.entry),))
        once, _ = self._time((module,), buffers, (Load("m"), launch))
        often, instructions = self._time((module,), buffers, (Load("m"), *[launch] * (1 + LAUNCHES)))
        return (often - once) / LAUNCHES, instructions

    def _time(
        self, modules: tuple[Module, ...], buffers: tuple[Buffer, ...], steps: tuple[Step, ...]
    ) -> tuple[float, int]:
        start = time.perf_counter()
        counters = self._ask(modules, buffers, steps)
        return time.perf_counter() - start, sum(counters["warp_instructions"].values())

    def _ask(
        self, modules: tuple[Module, ...], buffers: tuple[Buffer, ...], steps: tuple[Step, ...]
    ) -> Mapping[str, Any]:
        request = self._device.new_request("bench")
        answer = self._device.ask(replace(request, modules=modules, buffers=buffers, steps=steps))
        if answer.fault is not None:
            sys.exit(f"bench: {answer.fault.message}")
        return answer.steps[-1].counters or {}


class Other:
    """A shared library: `void* sim_load(const char* ptx, const char* kernel)` and

    `int sim_launch(void*, const uint32_t grid[3], const uint32_t block[3], int arrays, void** hosts,
    const uint64_t* bytes, const uint8_t* read_only, const uint8_t* parameters, int parameter_bytes,
    int threads, uint64_t stats[8], double** shadow, uint32_t max_blocks)`; array i has address (i + 1) << 40.
    """

    def __init__(self, library: Path, ptx: bytes) -> None:
        self._library = ctypes.CDLL(str(library.resolve()))
        self._library.sim_load.restype = ctypes.c_void_p
        self._handles = {w.entry: self._library.sim_load(ptx, w.entry.encode()) for w in WORKLOADS}

    def seconds(self, workload: Workload) -> float:
        """Return the seconds of one launch."""
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            self._launch(workload)
        return (time.perf_counter() - start) / LAUNCHES

    def _launch(self, workload: Workload) -> None:
        arrays = [np.zeros((workload.size, workload.size), "f4") for _ in range(3)]
        pointers = (ctypes.c_void_p * 3)(*[array.ctypes.data for array in arrays])
        nbytes = (ctypes.c_uint64 * 3)(*[array.nbytes for array in arrays])
        parameters = b"".join(((i + 1) << 40).to_bytes(8, "little") for i in range(3))
        parameters += workload.size.to_bytes(4, "little") * 3
        status = self._library.sim_launch(
            ctypes.c_void_p(self._handles[workload.entry]),
            (ctypes.c_uint32 * 3)(*workload.grid),
            (ctypes.c_uint32 * 3)(*workload.block),
            3,
            pointers,
            nbytes,
            (ctypes.c_uint8 * 3)(1, 1, 0),
            parameters,
            len(parameters),
            1,
            (ctypes.c_uint64 * 8)(),
            None,
            0,
        )
        if status:
            sys.exit(f"bench: the other executor failed on {workload.entry}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, metavar="LIBRARY.so")
    against = parser.parse_args().against
    with open_device("sim", threads=1) as device:
        ours = Ours(device, (KERNELS / "sgemm.cu").read_text())
        ptx = ours.ptx(device.scratch)
        other = Other(against, ptx) if against else None
        for workload in WORKLOADS:
            report(workload, ours, other)


def report(workload: Workload, ours: Ours, other: Other | None) -> None:
    """Time both in turn and print medians; the ratio is taken pair by pair."""
    pairs: list[tuple[float, float]] = []
    instructions = 0
    for _ in range(REPEATS):
        seconds, instructions = ours.seconds(workload)
        pairs.append((seconds, other.seconds(workload) if other else seconds))
    median = statistics.median(seconds for seconds, _ in pairs)
    rate = 32 * instructions / median
    name = f"{workload.entry:12s} {workload.size}"
    line = f"{name}: {median * 1e3:6.1f} ms, {rate / 1e9:.2f} G lane-instructions/s"
    if other:
        ratio = statistics.median(mine / theirs for mine, theirs in pairs)
        line += f", {ratio:.2f}x the time of the other"
    print(line)  # noqa: T201 - a script


if __name__ == "__main__":
    main()
