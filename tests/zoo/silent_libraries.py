"""Right kernels that leave the working together to libraries and to special instructions."""

import numpy as np

from pytest_cudaopt import In, InOut, Out, case, f16, f32, i32, integers, kernel, u32

ZERO = integers(0, 0)


@kernel("silent/tiled_groups.cu", cases=[case(rows=3)], atol=1e-5)
def tiled_groups(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), sums=Out(f32, "rows", 8), rows=i32):
    tiles = x.reshape(rows, 8, 8)
    y[...] = 2 * np.roll(tiles, -3, axis=2)[:, :, ::-1].reshape(rows, 64)
    sums[...] = tiles.sum(axis=2)


@kernel("silent/radix_sort_of_cub.cu", cases=[case(rows=2)])
def radix_sort_of_cub(
    x=In(u32, "rows", 256), sorted=Out(u32, "rows", 256), sums=Out(u32, "rows", 256), rows=i32
):
    sorted[...] = np.sort(x, axis=1)
    sums[...] = sorted.cumsum(axis=1)


@kernel("silent/exchanges_of_cub.cu", cases=[case(rows=2, cols=256), case(rows=3, cols=201)])
def exchanges_of_cub(
    x=In(i32, "rows", "cols"), y=Out(i32, "rows", "cols"), sums=Out(i32, "rows", 2), rows=i32, cols=i32
):
    y[...] = x + 10 * (np.arange(cols) % 4)
    sums[...] = np.pad(x, ((0, 0), (0, 256 - cols))).reshape(rows, 2, 128).sum(axis=2)


@kernel("silent/barrier_object.cu", cases=[case(rows=2)])
def barrier_object(x=In(f32, "rows", 3, 64), y=Out(f32, "rows", 3, 64), rows=i32):
    y[...] = x[:, :, ::-1]


@kernel("silent/pipeline_object.cu", cases=[case(rows=3, tiles=5)], atol=1e-4)
def pipeline_object(x=In(f32, "rows", "tiles", 64), y=Out(f32, "rows", 64), rows=i32, tiles=i32):
    y[...] = np.einsum("rkt,k->rt", x[:, :, ::-1], np.arange(1, tiles + 1))


@kernel("silent/copies_of_a_group.cu", cases=[case(rows=3)])
def copies_of_a_group(x=In(f32, "rows", 200), y=Out(f32, "rows", 200), rows=i32):
    y[...] = x[:, ::-1]


@kernel("silent/tensor_tiles.cu", cases=[case(m=64, n=32, k=48)], atol=1e-3)
def tensor_tiles(a=In(f16, "m", "k"), b=In(f16, "k", "n"), c=Out(f32, "m", "n"), m=i32, n=i32, k=i32):
    c[...] = np.maximum(a @ b, 0)


@kernel("silent/packed_atomics.cu", cases=[case(n=100)], atol=0.2)
def packed_atomics(x=In(f16, "n", 2), sums=InOut(f16, 4, 2, values=ZERO), n=i32):
    for k in range(4):
        sums[k] = x[k::4].sum(axis=0)
