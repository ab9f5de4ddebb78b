"""Barriers, warp instructions and waits that not everybody comes to, and launches that end themselves."""

import numpy as np

from pytest_cudaopt import In, InOut, Out, case, f32, i32, integers, kernel, u32, uniform

ZERO = integers(0, 0)


@kernel("planted/odd_threads_wait.cu", cases=[case(n=128)])
def odd_threads_wait(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    summed = x.copy()
    summed[1::2] += x[::2]
    y[...] = summed.reshape(-1, 64)[:, ::-1].reshape(-1)


@kernel("planted/odd_threads_store.cu", cases=[case(n=128)])
def odd_threads_store(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x
    y[1::2] += x[::2]


@kernel("planted/first_warp_waits.cu", cases=[case(rows=3)])
def first_warp_waits(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    y[...] = np.where(np.arange(64) < 32, x[:, ::-1], 0)
    for k in range(4):
        y[...] = 0.5 * y + np.roll(x, -k, axis=1)


@kernel("planted/own_trip_counts.cu", cases=[case(most=9)])
def own_trip_counts(lengths=In(i32, 64, values=integers(0, "most")), sums=Out(i32, 64), most=i32):
    sums[...] = lengths * (lengths + 1) // 2


@kernel("planted/two_barriers.cu", cases=[case(rows=3)])
def two_barriers(x=In(f32, "rows", 64), y=Out(f32, "rows", 64), rows=i32):
    even = np.arange(64) % 2 == 0
    y[...] = np.where(even, 1, 2) * np.where(even, x, -x)[:, ::-1]


@kernel("planted/half_a_warp_shuffles.cu", cases=[case(rows=3)])
def half_a_warp_shuffles(x=In(f32, "rows", 32), y=Out(f32, "rows", 32), rows=i32):
    y[...] = x
    y[:, :16] += x[:, np.arange(16) ^ 8]


@kernel("planted/shuffle_after_return.cu", cases=[case(n=80)], atol=1e-5)
def shuffle_after_return(x=In(f32, "n"), sums=Out(f32, "(n + 31) // 32"), n=i32):
    sums[...] = np.pad(x, (0, -n % 32)).reshape(-1, 32).sum(axis=1)


@kernel("planted/maximum_after_return.cu", cases=[case(n=80)])
def maximum_after_return(x=In(f32, "n"), greatest=Out(f32, "(n + 31) // 32"), n=i32):
    greatest[...] = np.pad(x, (0, -n % 32), constant_values=-1).reshape(-1, 32).max(axis=1)


@kernel("planted/warp_sums_after_return.cu", cases=[case(n=80)], atol=1e-4)
def warp_sums_after_return(x=In(f32, "n"), sum=Out(f32, 1), n=i32):
    sum[0] = x.sum()


@kernel("planted/vote_in_a_branch.cu", cases=[case(rows=3)])
def vote_in_a_branch(x=In(f32, "rows", 64), masks=Out(u32, "rows"), rows=i32):
    masks[...] = ((x[:, :32] > 1) << np.arange(32, dtype=np.uint64)).sum(axis=1)


@kernel("planted/shuffle_in_tail.cu", cases=[case(n=80)])
def shuffle_in_tail(x=In(f32, "n"), sum=Out(f32, 1, atol=1e-4), n=i32):
    sum[0] = x.sum()


@kernel("planted/lock_never_released.cu", cases=[case(blocks=12)])
def lock_never_released(
    x=In(i32, "blocks", values=integers(0, 2)),
    lock=InOut(i32, 1, values=ZERO),
    total=InOut(i32, 1),
    blocks=i32,
):
    total += x.sum()


@kernel("planted/flag_behind_barrier.cu", cases=[case()])
def flag_behind_barrier(x=In(f32, 64), y=Out(f32, 64)):
    y[...] = x[::-1]


# More blocks than an H200 holds at once: 2 of 1024 threads on each of 132 multiprocessors.
@kernel("planted/all_wait_for_the_last.cu", cases=[case(blocks=300)])
def all_wait_for_the_last(
    ticket=InOut(i32, 1, values=ZERO),
    done=InOut(i32, "blocks", values=ZERO),
    y=Out(i32, "blocks"),
    blocks=i32,
):
    ticket[0] = blocks
    done[...] = 1
    y[...] = np.arange(-1, blocks - 1)


@kernel("planted/too_few_arrive.cu", cases=[case()])
def too_few_arrive(x=In(f32, 32), y=Out(f32, 96)):
    y[...] = np.tile(x[::-1], 3)


@kernel("planted/assertion.cu", cases=[case(n=100)])
def assertion(x=In(i32, "n", values=integers(0, 9)), y=Out(i32, "n"), n=i32):
    y[...] = x * x


@kernel("planted/trapped.cu", cases=[case(n=100)])
def trapped(x=In(f32, "n", values=uniform(-1, 1)), y=Out(f32, "n"), n=i32):
    y[...] = np.sqrt(np.maximum(x, 0))
