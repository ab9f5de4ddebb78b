"""How soon `sim` executes: from PTX to the first instruction, and a fuzzed case of 65,536 elements.

Run `python tests/bench/sim_start.py` with the package installed. Every number is the median of many requests,
the median of requests that do nothing taken off.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.protocol import (
    Access,
    Argument,
    Buffer,
    BufferArgument,
    Checks,
    Compile,
    Entry,
    Fill,
    Launch,
    Load,
    Module,
    Step,
)

REPEATS = 41
ELEMENTS = 65_536
BLOCK = 256
ROWS, COLUMNS = 256, 256  # a block per row

# What a front end makes of loops, shared memory, shuffles and transcendental functions.
SOURCE = """
extern "C" __global__ void softmax(const float* x, float* y) {
    __shared__ float part[8];
    const int n = 256, row = blockIdx.x, t = threadIdx.x;
    float most = -INFINITY, sum = 0.f;
    for (int i = t; i < n; i += blockDim.x) most = fmaxf(most, x[row * n + i]);
    for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    if (t % 32 == 0) part[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < 8; ++w) most = fmaxf(most, part[w]);
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) sum += expf(x[row * n + i] - most);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = 0.f;
    for (int w = 0; w < 8; ++w) sum += part[w];
    for (int i = t; i < n; i += blockDim.x) y[row * n + i] = expf(x[row * n + i] - most) / sum;
}
extern "C" __global__ void gelu(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    y[i] = 0.5f * v * (1.f + erff(v * 0.70710678f));
}
"""
SOURCE = "#define INFINITY __int_as_float(0x7f800000)\n" + SOURCE
ENTRIES = ("softmax", "gelu")
GRIDS = {"softmax": ROWS, "gelu": ELEMENTS // BLOCK}


class Bench:
    """Requests of two kernels on arrays of 65,536 elements, one thread."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._ptx_file = device.scratch / "start.ptx"
        entries = tuple(Entry(entry) for entry in ENTRIES)
        self._module = Module("m", file="start.cu", ptx_file=str(self._ptx_file), entries=entries)
        source = replace(self._module, source=SOURCE, options=("-std=c++17",))
        self._ask(source, (), (Compile("m"),))
        values = np.random.default_rng(1).normal(size=ELEMENTS).astype(np.float32)
        (device.scratch / "x.bin").write_bytes(values.tobytes())
        x = Buffer("x", 4 * ELEMENTS, access=Access.READ, initial_file="x.bin", element_bytes=4)
        self._buffers = (x, Buffer("y", 4 * ELEMENTS, access=Access.WRITE, element_bytes=4))

    def launch(self, entry: str, checks: Checks) -> Launch:
        arguments: tuple[Argument, ...] = (BufferArgument("x"), BufferArgument("y"))
        grid, block = (GRIDS[entry], 1, 1), (BLOCK, 1, 1)
        return Launch("m", entry, grid, block, arguments=arguments, checks=checks)

    def median_ms(self, *steps: Step) -> float:
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            self._ask(self._module, self._buffers, steps)
            times.append(time.perf_counter() - start)
        return 1e3 * statistics.median(times)

    def _ask(self, module: Module, buffers: tuple[Buffer, ...], steps: tuple[Step, ...]) -> Mapping[str, Any]:
        request = self._device.new_request("bench")
        answer = self._device.ask(replace(request, modules=(module,), buffers=buffers, steps=steps))
        if answer.fault is not None:
            sys.exit(f"bench: {answer.fault.message}")
        return answer.steps[-1].counters or {} if answer.steps else {}


def main() -> None:
    with open_device("sim", threads=1) as device:
        bench = Bench(device)
        nothing = bench.median_ms(Fill("y", "00"))
        loaded = bench.median_ms(Load("m"))
        report(f"PTX of {len(ENTRIES)} kernels to the first instruction", loaded - nothing)
        for entry in ENTRIES:
            for label, checks in (
                ("unchecked", Checks()),
                ("accesses", Checks(accesses=True)),
                ("accesses and rounding", Checks(accesses=True, rounding=True)),
            ):
                launch = bench.launch(entry, checks)
                once = bench.median_ms(Load("m"), launch)
                twice = bench.median_ms(Load("m"), launch, launch)
                report(f"{entry} of {ELEMENTS} elements, {label}", twice - once)


def report(what: str, milliseconds: float) -> None:
    print(f"{what:58s} {milliseconds:7.2f} ms")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
