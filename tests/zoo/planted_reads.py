"""Reads of memory nobody wrote, and of copies nobody waited for."""

import numpy as np

from pytest_cudaopt import In, Out, Scratch, case, f32, i32, integers, kernel, uniform


@kernel("planted/halo_not_filled.cu", cases=[case(n=300)])
def halo_not_filled(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    padded = np.concatenate([[0], x, [0]])
    y[...] = padded[:-2] + padded[1:-1] + padded[2:]


@kernel("planted/output_accumulated.cu", cases=[case(rows=70, cols=9)])
def output_accumulated(x=In(f32, "rows", "cols"), sums=Out(f32, "rows"), rows=i32, cols=i32):
    sums[...] = x.sum(axis=1)


@kernel("planted/atomic_output.cu", cases=[case(rows=3)])
def atomic_output(x=In(i32, "rows", 32), sums=Out(i32, "rows"), rows=i32):
    sums[...] = x.sum(axis=1)


@kernel("planted/best_of_few.cu", cases=[case(rows=20)])
def best_of_few(
    x=In(f32, "rows", 8, values=uniform(0, 1)),
    lengths=In(i32, "rows", values=integers(1, 8)),
    best=Out(f32, "rows", 4),
    rows=i32,
):
    filled = np.where(np.arange(8) < lengths[:, None], x, -1)
    best[...] = -np.sort(-filled, axis=1)[:, :4]


@kernel("planted/partial_of_nobody.cu", cases=[case(n=50)])
def partial_of_nobody(x=In(f32, "n"), partial=Scratch(f32, 32), out=Out(f32, 1, atol=1e-4), n=i32):
    out[0] = x.sum()


@kernel("planted/totals_of_absent_warps.cu", cases=[case(n=512)])
def totals_of_absent_warps(x=In(i32, "n"), y=Out(i32, "n"), n=i32):
    y[...] = x.reshape(-1, 256).cumsum(axis=1).reshape(-1)


@kernel("planted/flag_never_cleared.cu", cases=[case(rows=3)])
def flag_never_cleared(x=In(f32, "rows", 64, values=uniform(0, 1)), y=Out(f32, "rows", 64), rows=i32):
    y[...] = x


@kernel("planted/bins_not_zeroed.cu", cases=[case(n=500, bins=20)])
def bins_not_zeroed(x=In(i32, "n", values=integers(0, "bins - 1")), counts=Out(i32, "bins"), n=i32, bins=i32):
    counts[...] = np.bincount(x, minlength=bins)


@kernel("planted/idle_warps_partial.cu", cases=[case(rows=3, cols=40)])
def idle_warps_partial(x=In(f32, "rows", "cols"), most=Out(f32, "rows"), rows=i32, cols=i32):
    most[...] = x.max(axis=1)


@kernel("planted/copy_without_wait.cu", cases=[case(rows=3)])
def copy_without_wait(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = x[:, ::-1]


@kernel("planted/one_group_too_few.cu", cases=[case(rows=3, tiles=4)], atol=1e-4)
def one_group_too_few(x=In(f32, "rows", "tiles", 64), y=Out(f32, "rows", 64), rows=i32, tiles=i32):
    y[...] = np.einsum("rkt,k->rt", x[:, :, ::-1], np.arange(1, tiles + 1))


@kernel("planted/wait_after_barrier.cu", cases=[case(rows=3)])
def wait_after_barrier(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = x[:, ::-1]
