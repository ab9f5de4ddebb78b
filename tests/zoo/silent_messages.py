"""Right kernels whose blocks wait for each other, by flags, locks and queues: nothing may be found."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scratch,
    case,
    f32,
    i32,
    integers,
    kernel,
    u32,
    u64,
)

ZERO = integers(0, 0)


@kernel("silent/look_back_scan.cu", cases=[case(n=3000)])
def look_back_scan(
    x=In(i32, "n"),
    y=Out(i32, "n"),
    ticket=InOut(i32, 1, values=ZERO),
    state=InOut(u64, "(n + 127) // 128", values=ZERO),
    n=i32,
):
    y[...] = x.cumsum()
    ticket[0] = len(state)
    state[...] = (y[np.minimum(np.arange(1, len(state) + 1) * 128, n) - 1].astype(np.uint64) & 0xFFFFFFFF) | (
        2 << 32
    )


@kernel("silent/look_back_fenced.cu", cases=[case(n=1500)])
def look_back_fenced(
    x=In(i32, "n"),
    y=Out(i32, "n"),
    ticket=InOut(i32, 1, values=ZERO),
    prefixes=Scratch(i32, "(n + 63) // 64"),
    flags=InOut(i32, "(n + 63) // 64", values=ZERO),
    n=i32,
):
    y[...] = x.cumsum()
    ticket[0] = len(flags)
    flags[...] = 1


@kernel("silent/grid_barrier.cu", cases=[case(blocks=6)])
def grid_barrier(
    x=In(f32, "blocks * 96"),
    a=Out(f32, "blocks * 96"),
    b=Out(f32, "blocks * 96"),
    arrived=InOut(u32, 1, values=ZERO),
    blocks=i32,
):
    a[...] = x
    for _ in range(3):
        b[...] = 0.5 * (np.roll(a, -1) + np.roll(a, 1))
        a[...] = np.roll(b, -48)
    arrived[0] = 6 * blocks


@kernel("silent/ticket_lock.cu", cases=[case(blocks=20)])
def ticket_lock(
    x=In(i32, "blocks"),
    tickets=InOut(i32, 1, values=ZERO),
    serving=InOut(i32, 1, values=ZERO),
    sums=InOut(i32, 2),
    blocks=i32,
):
    tickets[0] = serving[0] = blocks
    sums += [x.sum(), -x.sum()]


@kernel("silent/lock_per_lane.cu", cases=[case(n=200)])
def lock_per_lane(x=In(i32, "n"), lock=InOut(i32, 1, values=ZERO), most=InOut(i32, 1), n=i32):
    most[0] = max(most[0], x.max())


@kernel("silent/acquire_release.cu", cases=[case(blocks=5)])
def acquire_release(
    x=In(i32, 32),
    message=Scratch(i32, 32),
    flag=InOut(i32, 1, values=ZERO),
    y=Out(i32, "blocks", 32),
    blocks=i32,
):
    flag[0] = 1
    y[...] = 7 * x[::-1]


@kernel("silent/tiles_with_flags.cu", cases=[case(tiles=5)], atol=1e-4)
def tiles_with_flags(
    x=In(f32, "tiles", 32, 64),
    y=Out(f32, "tiles", 64),
    half_done=Scratch(f32, "tiles", 64),
    flags=InOut(i32, "tiles", values=ZERO),
    tiles=i32,
):
    y[...] = x.sum(axis=1)
    flags[...] = 2


def one_item(rng, sizes, drawn):
    items = np.zeros(63, np.int32)
    items[0] = 6
    return items


def other_items(items):
    depths = np.repeat(np.arange(1, 7), 2 ** np.arange(5, -1, -1))
    return {"items": np.sort(items) != depths}


@kernel("silent/queue_of_work.cu", cases=[case()], accept=other_items)
def queue_of_work(
    items=InOut(i32, 63, values=one_item),
    head=InOut(i32, 1, values=ZERO),
    tail=InOut(i32, 1, values=integers(1, 1)),
    pending=InOut(i32, 1, values=integers(1, 1)),
    leaves=InOut(i32, 1, values=ZERO),
):
    head[0] = tail[0] = 63
    pending[0] = 0
    leaves[0] = 32


@kernel("silent/last_block_by_order.cu", cases=[case(blocks=9)])
def last_block_by_order(
    x=In(i32, "blocks", 64),
    partial=Scratch(i32, "blocks", 64),
    arrived=InOut(i32, 1, values=ZERO),
    out=Out(i32, 64),
    blocks=i32,
):
    arrived[0] = blocks
    out[...] = 5 * x.sum(axis=0)


@kernel("silent/fences_around_relaxed.cu", cases=[case(blocks=5)])
def fences_around_relaxed(
    x=In(i32, 32),
    message=Scratch(i32, 32),
    flag=InOut(i32, 1, values=ZERO),
    y=Out(i32, "blocks", 32),
    blocks=i32,
):
    flag[0] = 1
    y[...] = 7 * x


@kernel("silent/ring_between_blocks.cu", cases=[case(tiles=7)])
def ring_between_blocks(
    x=In(f32, "tiles", 32),
    ring=Scratch(f32, 2, 32),
    produced=InOut(i32, 1, values=ZERO),
    consumed=InOut(i32, 1, values=ZERO),
    y=Out(f32, "tiles", 32),
    tiles=i32,
):
    produced[0] = consumed[0] = tiles
    y[...] = 2 * x


@kernel("silent/message_passed_on.cu", cases=[case(blocks=7)])
def message_passed_on(
    x=In(i32, "blocks", 32),
    ticket=InOut(i32, 1, values=ZERO),
    flags=InOut(i32, "blocks", values=ZERO),
    messages=Scratch(i32, "blocks", 32),
    y=Out(i32, 32),
    blocks=i32,
):
    ticket[0] = blocks
    flags[...] = 1
    y[...] = x.sum(axis=0)
