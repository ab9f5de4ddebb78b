"""Kernels for the gate on `sim`, each with an edit that makes it slower in one way, and what runs them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import Measured, measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.run import configure
from pytest_cudaopt.timed_case import TimedCase

COALESCED = """// @launch grid=(cdiv(cols, 32), cdiv(rows, 8)) block=(32, 8)
extern "C" __global__ void work(const float* x, float* y, int rows, int cols) {
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float value = x[row * cols + col];
    y[row * cols + col] = 2.0f * value;
}
"""
VECTORISED = """// @launch grid=(cdiv(rows * cols, 256)) block=(256)
extern "C" __global__ void work(const float* x, float* y, int rows, int cols) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 256; k += 4) {
        float4 four = *reinterpret_cast<const float4*>(x + k);
        sum += four.x + four.y + four.z + four.w;
    }
    if (i < rows * cols) y[i] = sum;
}
"""
PADDED = """// @launch grid=(cdiv(cols, 32), cdiv(rows, 32)) block=(32, 32)
extern "C" __global__ void work(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32, row = blockIdx.y * 32;
    for (int again = 0; again < 8; ++again) {
        tile[threadIdx.y][threadIdx.x] = x[(row + threadIdx.y) * cols + column + threadIdx.x] + again;
        __syncthreads();
        y[(column + threadIdx.y) * rows + row + threadIdx.x] =
            tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}
"""
TOGETHER = """// @launch grid=(cdiv(rows * cols, 256)) block=(256)
extern "C" __global__ void work(const float* x, float* y, int rows, int cols) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float value = x[i];
    int way = threadIdx.x / 32;
    if (way & 1) {
        for (int k = 0; k < 1000; ++k) value = value * 1.5f + 1.0f;
    } else {
        for (int k = 0; k < 1000; ++k) value = value * 0.5f - 1.0f;
    }
    y[i] = value;
}
"""


@dataclass(frozen=True)
class Slowed:
    """Edits (old text, new text) that make `source` slower, the counter to blame and its line after them."""

    source: str
    edits: tuple[tuple[str, str], ...]
    counter: str
    line: int

    @property
    def edited(self) -> str:
        return edited(self.source, *self.edits)


SLOWED = {
    "no coalescing": Slowed(
        COALESCED,
        (
            ("cdiv(cols, 32), cdiv(rows, 8)", "cdiv(rows, 32), cdiv(cols, 8)"),
            ("int col = blockIdx.x * 32 + threadIdx.x", "int row = blockIdx.x * 32 + threadIdx.x"),
            ("int row = blockIdx.y * 8 + threadIdx.y", "int col = blockIdx.y * 8 + threadIdx.y"),
        ),
        "global load sectors per request",
        6,
    ),
    "no vectors": Slowed(
        VECTORISED,
        (
            ("        float4 four = *reinterpret_cast<const float4*>(x + k);\n", ""),
            ("four.x + four.y + four.z + four.w", "x[k] + x[k + 1] + x[k + 2] + x[k + 3]"),
        ),
        "global load requests",
        6,
    ),
    "bank conflicts": Slowed(PADDED, (("[33]", "[32]"),), "shared wavefronts per request", 9),
    "divergence": Slowed(TOGETHER, (("threadIdx.x / 32", "threadIdx.x"),), "divergent branches", 6),
}


def edited(source: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return source


def declare(folder: Path, source: str) -> Kernel:
    """Declare `work` of 512 x 512 numbers, with `source`; what it computes does not matter to the gate."""
    (folder / "work.cu").write_text(source)

    @kernel(str(folder / "work.cu"), cases=[case(rows=512, cols=512, measure=True)])
    def work(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
        """Whatever."""
        y[...] = x

    return work


def plan_of(kernel: Kernel) -> Plan:
    return Plan((Stage.COMPILE, Stage.MEASURE), kernel.cases)


def candidate_of(kernel: Kernel, source: str) -> Candidate:
    """Return `source`, with the launch rule it has, as a version of the kernel."""
    return kernel.candidate(source, kernel.source)


def modelled(kernel: Kernel, candidate: Candidate, sim: Device, *, by_line: bool = False) -> TimedCase:
    """Model `candidate` at the kernel's case."""
    plan = plan_of(kernel)
    compiled = compile_candidate(kernel, candidate, sim, plan.budget)
    assert isinstance(compiled, Compiled), compiled
    prepared = prepare(kernel, kernel.cases[0], sim)
    launch = configure(candidate, prepared, compiled, sim)
    assert isinstance(launch, LaunchConfiguration), launch
    measured = measure(prepared, compiled, launch, sim, plan, by_line=by_line)
    assert isinstance(measured, Measured), measured
    return TimedCase(candidate, compiled, prepared, launch, measured.latency)
