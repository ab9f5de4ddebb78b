"""Races: shared and global memory, within a warp, between warps, between blocks."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scratch,
    bool_,
    case,
    f32,
    i32,
    indices,
    integers,
    kernel,
    offsets,
    u8,
)

ZERO = integers(0, 0)


@kernel("planted/pair_swap.cu", cases=[case(n=64)])
def pair_swap(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x.reshape(-1, 2)[:, ::-1].reshape(-1)


@kernel("planted/reversed_tile.cu", cases=[case(n=512)])
def reversed_tile(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x.reshape(-1, 256)[:, ::-1].reshape(-1)


@kernel("planted/tile_reuse.cu", cases=[case(n=40)])
def tile_reuse(a=In(f32, "n", "n"), b=In(f32, "n", "n"), c=Out(f32, "n", "n"), n=i32):
    c[...] = a @ b


@kernel("planted/shared_ends.cu", cases=[case(n=300, segments=5)])
def shared_ends(
    starts=In(i32, "segments + 1", values=offsets("n", empty=False)),
    owner=Out(i32, "n"),
    segments=i32,
    n=i32,
):
    owner[...] = np.repeat(np.arange(segments), np.diff(starts))


@kernel("planted/stencil_in_place.cu", cases=[case(rows=2)])
def stencil_in_place(u=InOut(f32, "rows", 256), rows=i32):
    before = u.copy()
    u[:, 1:-1] = 0.25 * before[:, :-2] + 0.5 * before[:, 1:-1] + 0.25 * before[:, 2:]


@kernel("planted/two_sweeps.cu", cases=[case(n=300)])
def two_sweeps(u=In(f32, "n"), v=Out(f32, "n"), w=Out(f32, "n"), n=i32):
    for before, after in ((u, v), (v, w)):
        after[...] = before
        after[1:-1] = 0.5 * (before[:-2] + before[2:])


@kernel("planted/row_maximum_reused.cu", cases=[case(rows=2, cols=200)])
def row_maximum_reused(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    y[...] = powers / powers.sum(axis=1, keepdims=True)


@kernel("planted/total_read_early.cu", cases=[case(rows=2)])
def total_read_early(x=In(i32, "rows", 256), y=Out(i32, "rows", 256), rows=i32):
    y[...] = x.sum(axis=1, keepdims=True) - x


@kernel("planted/warp_tail.cu", cases=[case(rows=3)])
def warp_tail(x=In(f32, "rows", 128), sums=Out(f32, "rows", atol=1e-4), rows=i32):
    sums[...] = x.sum(axis=1)


@kernel("planted/last_block_sum.cu", cases=[case(n=3000, blocks=9)])
def last_block_sum(
    x=In(f32, "n"), partial=Scratch(f32, "blocks"), out=Out(f32, 1, atol=1e-3), n=i32, blocks=i32
):
    out[0] = x.sum()


@kernel("planted/one_buffer.cu", cases=[case(rows=2, tiles=3)], atol=1e-2)
def one_buffer(x=In(f32, "rows", "tiles", 64), y=Out(f32, "rows", 64), rows=i32, tiles=i32):
    y[...] = np.einsum("rkj,jt->rt", x, np.add.outer(np.arange(64.0), np.arange(64.0)))


@kernel("planted/histogram_shared.cu", cases=[case(n=1000)])
def histogram_shared(x=In(i32, "n", values=integers(0, 63)), bins=InOut(i32, 64, values=ZERO), n=i32):
    bins += np.bincount(x, minlength=64)


@kernel("planted/histogram_global.cu", cases=[case(n=1000)])
def histogram_global(x=In(i32, "n", values=integers(0, 63)), bins=InOut(i32, 64, values=ZERO), n=i32):
    bins += np.bincount(x, minlength=64)


@kernel("planted/any_positive.cu", cases=[case(rows=20, cols=30)])
def any_positive(x=In(f32, "rows", "cols"), found=InOut(bool_, "cols", values=ZERO), rows=i32, cols=i32):
    found[...] = (x > 0).any(axis=0)


@kernel("planted/packed_nibbles.cu", cases=[case(n=500)])
def packed_nibbles(x=In(u8, "n", values=integers(0, 15)), packed=InOut(u8, "n // 2", values=ZERO), n=i32):
    packed[...] = x[::2] | x[1::2] << 4


@kernel("planted/scan_step.cu", cases=[case(rows=2)])
def scan_step(x=In(i32, "rows", 256), y=Out(i32, "rows", 256), rows=i32):
    y[...] = x.cumsum(axis=1)


@kernel("planted/bitonic_sort.cu", cases=[case(rows=2)])
def bitonic_sort(x=In(f32, "rows", 256), y=Out(f32, "rows", 256), rows=i32):
    y[...] = np.sort(x, axis=1)


@kernel("planted/argmax_ties.cu", cases=[case(rows=4)])
def argmax_ties(x=In(i32, "rows", 128, values=integers(0, 5)), index=Out(i32, "rows"), rows=i32):
    index[...] = x.argmax(axis=1)


def not_the_positive_ones(x, kept, count):
    return {"kept": np.sort(kept) != np.sort(np.maximum(x, 0)), "count": count != (x > 0).sum()}


@kernel("planted/append.cu", cases=[case(n=200)], accept=not_the_positive_ones)
def append(
    x=In(i32, "n", values=integers(-5, 5)),
    kept=InOut(i32, "n", values=ZERO),
    count=InOut(i32, 1, values=ZERO),
    n=i32,
): ...


@kernel("planted/transpose_in_place.cu", cases=[case(n=40)])
def transpose_in_place(a=InOut(f32, "n", "n"), n=i32):
    a[...] = a.T.copy()


@kernel("planted/scatter_add.cu", sizes=["rows"], cases=[case(n=50, rows=7)], atol=1e-4)
def scatter_add(
    x=In(f32, "n", 32),
    index=In(i32, "n", values=indices("rows")),
    sums=InOut(f32, "rows", 32),
    n=i32,
    *,
    rows,
):
    np.add.at(sums, index, x)


@kernel("planted/flag_between_blocks.cu", cases=[case(blocks=5)])
def flag_between_blocks(
    x=In(f32, 64),
    shared_row=Scratch(f32, 64),
    flag=InOut(i32, 1, values=ZERO),
    y=Out(f32, "blocks", 64),
    blocks=i32,
):
    flag[0] = 1
    y[...] = 2 * x[::-1]


@kernel("planted/work_queue.cu", cases=[case(tiles=10)])
def work_queue(x=In(f32, "tiles", 128), y=Out(f32, "tiles", 128), next=InOut(i32, 1, values=ZERO), tiles=i32):
    y[...] = 3 * x
    next[0] = tiles + 3


@kernel("planted/producer_warp.cu", cases=[case(rows=3)])
def producer_warp(x=In(f32, "rows", 32), y=Out(f32, "rows", 32), rows=i32):
    y[...] = 2 * x[:, ::-1]


@kernel("planted/unfenced_lock.cu", cases=[case(blocks=12)])
def unfenced_lock(x=In(i32, "blocks"), lock=InOut(i32, 1, values=ZERO), total=InOut(i32, 1), blocks=i32):
    total += x.sum()


@kernel("planted/counter_read_early.cu", cases=[case(rows=3)])
def counter_read_early(x=In(f32, "rows", 128), y=Out(i32, "rows", 128), rows=i32):
    y[...] = (x > 0).sum(axis=1, keepdims=True)


@kernel("planted/zeroed_late.cu", cases=[case(rows=3)])
def zeroed_late(x=In(i32, "rows", 256, values=integers(0, 255)), y=Out(i32, "rows", 256), rows=i32):
    for row, counts in zip(x, y, strict=True):
        counts[...] = np.bincount(row, minlength=256)


@kernel("planted/shift_left.cu", cases=[case(n=300)])
def shift_left(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[:-1] = x[1:]
    y[-1] = 0


@kernel("planted/overrun_into_next.cu", cases=[case(rows=3)])
def overrun_into_next(x=In(f32, "rows", 96), y=Out(f32, "rows", 96), rows=i32):
    y[...] = x
    y[:, :64] = -x[:, 63::-1]


@kernel("planted/storage_reused.cu", cases=[case(rows=3)])
def storage_reused(x=In(i32, "rows", 128), y=Out(i32, "rows", 128), sums=Out(i32, "rows"), rows=i32):
    y[...] = x.cumsum(axis=1) - x
    sums[...] = x.sum(axis=1)


@kernel("planted/async_tile_unsynced.cu", cases=[case(rows=3)])
def async_tile_unsynced(x=In(f32, "rows", 128), y=Out(f32, "rows", 128), rows=i32):
    y[...] = x[:, ::-1]


@kernel("planted/reused_while_copying.cu", cases=[case(rows=3, tiles=4)], atol=1e-4)
def reused_while_copying(x=In(f32, "rows", "tiles", 64), y=Out(f32, "rows", 64), rows=i32, tiles=i32):
    y[...] = np.einsum("rkt,k->rt", x[:, :, ::-1], np.arange(1, tiles + 1))
