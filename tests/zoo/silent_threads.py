"""Right kernels whose threads work together within a block: nothing may be found in them."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scratch,
    bool_,
    case,
    f16,
    f32,
    i32,
    integers,
    kernel,
    u8,
    u32,
    uniform,
)


@kernel("silent/half_warps_apart.cu", cases=[case(rows=3)])
def half_warps_apart(x=In(i32, "rows", 32), y=Out(i32, "rows", 32), rows=i32):
    lanes = np.arange(32)
    y[...] = x[:, lanes ^ 15]
    y[:, :16] = x[:, (lanes[:16] ^ 1) ^ 15] + 1


@kernel("silent/warp_scan_in_shared.cu", cases=[case(n=256)])
def warp_scan_in_shared(x=In(i32, "n"), y=Out(i32, "n"), n=i32):
    y[...] = x.reshape(-1, 32).cumsum(axis=1).reshape(-1)


@kernel("silent/same_shuffle_in_both_arms.cu", cases=[case(rows=3)])
def same_shuffle_in_both_arms(x=In(i32, "rows", 32), y=Out(i32, "rows", 32), rows=i32):
    y[:, ::2] = 2 * (x[:, 1::2] - 3)
    y[:, 1::2] = 3 * (x[:, ::2] + 5)


@kernel("silent/vote_after_return.cu", cases=[case(n=80)])
def vote_after_return(x=In(f32, "n"), masks=Out(u32, "(n + 31) // 32"), n=i32):
    positive = np.pad(x > 0, (0, -n % 32)).reshape(-1, 32)
    masks[...] = (positive << np.arange(32, dtype=np.uint64)).sum(axis=1)


@kernel("silent/barrier_after_return.cu", cases=[case(n=300)])
def barrier_after_return(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = 2 * x


@kernel("silent/ended_between_barriers.cu", cases=[case(rows=3)])
def ended_between_barriers(
    x=In(f32, "rows", 64), kept=In(i32, "rows", 64, values=integers(0, 1)), y=Out(f32, "rows", 64), rows=i32
):
    y[...] = np.where(kept == 0, x, x + x[:, ::-1] + x[:, np.arange(64) ^ 1])


@kernel("silent/neighbours_after_return.cu", cases=[case(n=80)], atol=1e-5)
def neighbours_after_return(x=In(f32, "n"), y=Out(f32, "n"), rises=Out(i32, "n"), n=i32):
    last = (np.arange(n) % 32 == 31) | (np.arange(n) == n - 1)
    step = np.append(x[1:], 0) - x
    rises[...] = ~last & (step > 0)
    y[...] = np.where(last, x, x + 1.5 * step)


@kernel("silent/padded_vectors.cu", cases=[case(rows=3)], atol=1e-5)
def padded_vectors(
    x=In(f32, "rows", 32),
    chosen=In(i32, "rows", 32, values=integers(0, 3)),
    y=Out(f32, "rows", 32),
    rows=i32,
):
    y[...] = (x + chosen + x * chosen + chosen)[:, ::-1]


@kernel("silent/barrier_by_warp.cu", cases=[case(rows=3)])
def barrier_by_warp(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = (x * np.where(np.arange(64) < 32, 1, 2))[:, ::-1]


@kernel("silent/named_barriers.cu", cases=[case(rows=3, tiles=5)], atol=1e-4)
def named_barriers(x=In(f32, "rows", "tiles", 32), y=Out(f32, "rows", 32), rows=i32, tiles=i32):
    y[...] = np.einsum("rkt,k->rt", x[:, :, ::-1], np.arange(1, tiles + 1))


@kernel("silent/reduced_at_barrier.cu", cases=[case(rows=3)])
def reduced_at_barrier(x=In(i32, "rows", 96), y=Out(i32, "rows", 96), rows=i32):
    counts = (x > 0).sum(axis=1) + np.where((x > 5).any(axis=1), 1000, 0)
    y[...] = x[:, ::-1] + counts[:, None]


@kernel("silent/flag_between_warps.cu", cases=[case(rows=3)])
def flag_between_warps(x=In(f32, "rows", 32), y=Out(f32, "rows", 32), rows=i32):
    y[...] = 3 * x[:, ::-1]


@kernel("silent/mask_of_bools.cu", cases=[case(rows=3)])
def mask_of_bools(x=In(f32, "rows", 64), mask=Out(bool_, "rows", 64), counts=Out(i32, "rows", 8), rows=i32):
    mask[...] = x > 0
    counts[...] = mask.reshape(rows, 8, 8).sum(axis=2)


@kernel("silent/padded_words.cu", cases=[case(rows=3, cols=41), case(rows=2, cols=3)])
def padded_words(x=In(u8, "rows", "cols"), sums=Out(i32, "rows"), rows=i32, cols=i32):
    sums[...] = x.sum(axis=1)


@kernel("silent/structs_with_gaps.cu", cases=[case(rows=3)])
def structs_with_gaps(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = np.maximum(x, 0)


@kernel("silent/vectors_and_elements.cu", cases=[case(rows=3)])
def vectors_and_elements(x=In(f32, "rows", 128), y=Out(f32, "rows", 128), rows=i32):
    y[...] = x[:, ::-1]


@kernel("silent/memory_reused.cu", cases=[case(rows=3)])
def memory_reused(x=In(f32, "rows", 64), y=Out(i32, "rows", 64), rows=i32):
    y[...] = x.argsort(axis=1).argsort(axis=1)[:, ::-1]


@kernel("silent/scratch_in_global.cu", cases=[case(rows=3)])
def scratch_in_global(
    x=In(i32, "rows", 128), scratch=Scratch(i32, "rows", 128), y=Out(i32, "rows", 128), rows=i32
):
    y[...] = x.sum(axis=1, keepdims=True) - x.cumsum(axis=1)


@kernel("silent/same_value_by_all.cu", cases=[case(rows=3)])
def same_value_by_all(x=In(i32, "rows", values=integers(0, 64)), y=Out(i32, "rows", 64), rows=i32):
    y[...] = np.where(np.arange(64) < x[:, None], x[:, None], -1)


@kernel("silent/register_tiles.cu", cases=[case(n=64)], atol=1e-4)
def register_tiles(a=In(f32, "n", "n"), b=In(f32, "n", "n"), c=Out(f32, "n", "n"), n=i32):
    c[...] = a @ b


@kernel("silent/bytes_of_neighbours.cu", cases=[case(n=300)])
def bytes_of_neighbours(x=In(f32, "n", values=uniform(0, 1), oracle="stored"), y=Out(u8, "n"), n=i32):
    levels = np.zeros((n + 127) // 128 * 128, np.uint8)
    levels[:n] = np.float32(255) * x
    tiles = levels.reshape(-1, 128)
    y[...] = (tiles // 2 + tiles[:, ::-1] // 2).reshape(-1)[:n]


@kernel("silent/halves_of_neighbours.cu", cases=[case(n=1000)])
def halves_of_neighbours(x=In(f16, "n"), y=Out(f16, "n"), n=i32):
    y[...] = 2 * x


def one_empty(rng, sizes, drawn):
    return rng.permutation(np.linspace(0, 64, sizes["rows"])).astype(np.int32)


@kernel("silent/guarded_reads.cu", cases=[case(rows=6)], atol=1e-5)
def guarded_reads(
    x=In(f32, "rows", 64),
    lengths=In(i32, "rows", values=one_empty),
    y=Out(f32, "rows", 64),
    rows=i32,
):
    for row, length, sums in zip(x, lengths, y, strict=True):
        start = row[0] if length > 0 else -1
        sums[...] = [start + np.sort(row[t:length:5])[-4:].sum() for t in range(64)]


@kernel("silent/only_the_leader_reads.cu", cases=[case(rows=3)], atol=1e-5)
def only_the_leader_reads(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = x.reshape(rows, 2, 32).sum(axis=2).repeat(32, axis=1)
    y[:, 0] -= x[:, 0]


@kernel("silent/grouped_by_key.cu", cases=[case(n=300)])
def grouped_by_key(
    keys=In(i32, "n", values=integers(0, 5)), counts=InOut(i32, 6, values=integers(0, 0)), n=i32
):
    counts += np.bincount(keys, minlength=6)


@kernel("silent/active_only.cu", cases=[case(n=300)])
def active_only(x=In(i32, "n"), y=Out(i32, "n"), n=i32):
    y[...] = np.where(x % 3 != 0, 0, np.arange(n) % 32)


def not_the_positive_ones(x, kept, count):
    return {"kept": np.sort(kept) != np.sort(np.maximum(x, 0)), "count": count != (x > 0).sum()}


@kernel("silent/warp_queue.cu", cases=[case(n=1000)], accept=not_the_positive_ones)
def warp_queue(
    x=In(i32, "n", values=integers(-5, 5)),
    kept=InOut(i32, "n", values=integers(0, 0)),
    count=InOut(i32, 1, values=integers(0, 0)),
    n=i32,
): ...


@kernel("silent/until_nothing_changes.cu", cases=[case(rows=3)])
def until_nothing_changes(
    x=In(i32, "rows", 64, values=integers(-1, 5)), labels=Out(i32, "rows", 64), rows=i32
):
    for row, out in zip(x, labels, strict=True):
        first = 64
        for t in range(64):
            first = 64 if row[t] <= 0 else min(first, t)
            out[t] = first


@kernel("silent/cube_of_threads.cu", cases=[case(rows=3)])
def cube_of_threads(x=In(i32, "rows", 6, 5, 4), y=Out(i32, "rows", 6, 5, 4), rows=i32):
    y[...] = x[:, ::-1, ::-1] + 1


def at_the_start(rng, sizes, drawn):
    return np.full(1, sizes["start"], np.int32)


@kernel("silent/written_last_time.cu", sizes=["start"], cases=[case(start=0)])
def written_last_time(
    x=In(i32, 64),
    turn=InOut(i32, 1, values=at_the_start),
    scratch=Scratch(i32, 64),
    y=Out(i32, 64),
):
    y[...] = 0 if turn[0] == 0 else x[::-1]
    turn += 1
