"""Kernels that need more than a shape to be launched: clusters, a grid that waits, much shared memory."""

from __future__ import annotations

from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel

NEIGHBOURS = """// @launch grid=(n / 128) block=(128) cluster=(2)
#include <cooperative_groups.h>
extern "C" __global__ void neighbours(const float* x, float* y, int n) {
    __shared__ float tile[128];
    auto cluster = cooperative_groups::this_cluster();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    cluster.sync();
    y[i] = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}
"""
MIRROR = """// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK) cooperative
// @tune BLOCK = 64, 128
#include <cooperative_groups.h>
extern "C" __global__ void mirror(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
    cooperative_groups::this_grid().sync();
    float other = i < n ? y[n - 1 - i] : 0.0f;
    cooperative_groups::this_grid().sync();
    if (i < n) y[i] = other;
}
"""
# Every element goes through shared memory that 48 KiB do not hold.
REVERSE = """// @launch grid=(1) block=(256) shared=4*n
extern "C" __global__ void reverse(const float* x, float* y, int n) {
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = row[n - 1 - i];
}
"""


def neighbours(folder: Path, *cases: Case, source: str = NEIGHBOURS) -> Kernel:
    """Declare a kernel whose blocks read each other's shared memory, two in a cluster."""
    file = folder / "neighbours.cu"
    file.write_text(source)

    @kernel(str(file), cases=cases or (case(n=1024, measure=True),))
    def neighbours(x=In(f32, "n"), y=Out(f32, "n", exact=True), n=i32):
        y[...] = x.reshape(-1, 2, 128)[:, ::-1].reshape(-1)

    return neighbours


def mirror(folder: Path, *cases: Case, source: str = MIRROR) -> Kernel:
    """Declare a kernel whose blocks read what others wrote, twice the mirrored input."""
    file = folder / "mirror.cu"
    file.write_text(source)

    @kernel(str(file), cases=cases or (case(n=1), case(n=1000, measure=True)))
    def mirror(x=In(f32, "n"), y=Out(f32, "n", exact=True), n=i32):
        y[...] = 2 * x[::-1]

    return mirror


def reverse(folder: Path, *cases: Case) -> Kernel:
    """Declare a kernel of one block that needs 100 KB of dynamic shared memory."""
    file = folder / "reverse.cu"
    file.write_text(REVERSE)

    @kernel(str(file), cases=cases or (case(n=25_000, measure=True),))
    def reverse(x=In(f32, "n"), y=Out(f32, "n", exact=True), n=i32):
        y[...] = x[::-1]

    return reverse
