"""Right kernels whose blocks add to common results: nothing may be found, whoever has the first turn."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scratch,
    case,
    f32,
    f64,
    i32,
    indices,
    integers,
    kernel,
    permutation,
    u32,
    u64,
)

ZERO = integers(0, 0)


@kernel("silent/last_block_of_all.cu", cases=[case(blocks=9)])
def last_block_of_all(
    x=In(i32, "blocks", 64),
    partial=Scratch(i32, "blocks", 64),
    arrived=InOut(u32, 1, values=ZERO),
    out=Out(i32, 64),
    blocks=i32,
):
    out[...] = 2 * x.sum(axis=0)


@kernel("silent/every_thread_fences.cu", cases=[case(blocks=9)])
def every_thread_fences(
    x=In(i32, "blocks", 64), partial=Scratch(i32, "blocks", 64), out=Out(i32, 64), blocks=i32
):
    out[...] = (x + 1).sum(axis=0)


@kernel("silent/grid_reduction.cu", cases=[case(n=1000, blocks=7)], atol=1e-5)
def grid_reduction(x=In(f32, "n"), y=Out(f32, "n"), partial=Scratch(f32, "blocks"), n=i32, blocks=i32):
    y[...] = (x - x.mean()) / x.std()


@kernel("silent/float_atomics.cu", cases=[case(n=1000)], atol=1e-3)
def float_atomics(
    x=In(f32, "n"), sum=InOut(f32, 1, values=ZERO), wide=InOut(f64, 1, values=ZERO, atol=1e-9), n=i32
):
    sum[0] = wide[0] = x.sum()


def with_ties(rng, sizes, drawn):
    return rng.integers(-5, 6, sizes["n"]).astype(np.float32)


@kernel("silent/argmax_packed.cu", cases=[case(n=1000)])
def argmax_packed(x=In(f32, "n", values=with_ties), best=InOut(u64, 1, values=ZERO), n=i32):
    at = int(x.argmax())
    bits = int(np.float32(x[at]).view(np.uint32)) | 1 << 31
    best[0] = bits << 32 | (~at & 0xFFFFFFFF)


def empty_table(rng, sizes, drawn):
    return np.full(512, -1, np.int32)


def not_a_table_of(keys, table, values):
    held = np.sort(table[table != -1])
    wrong = np.full(512, not np.array_equal(held, np.unique(keys)))
    return {"table": wrong, "values": np.where(table != -1, values != table + 1, False)}


@kernel("silent/hash_insert.cu", cases=[case(n=300)], accept=not_a_table_of)
def hash_insert(
    keys=In(i32, "n", values=integers(0, 400)),
    table=InOut(i32, 512, values=empty_table),
    values=InOut(i32, 512, values=ZERO),
    n=i32,
): ...


def other_components(from_, to, parent):
    def root(parents, i):
        while parents[i] != i:
            i = parents[i]
        return i

    wanted = np.arange(len(parent))
    for a, b in zip(from_, to, strict=True):
        low, high = sorted((root(wanted, a), root(wanted, b)))
        wanted[high] = low
    return np.array([root(wanted, i) != root(parent, i) for i in range(len(parent))])


@kernel("silent/union_find.cu", sizes=["nodes"], cases=[case(edges=150, nodes=200)], accept=other_components)
def union_find(
    from_=In(i32, "edges", values=indices("nodes")),
    to=In(i32, "edges", values=indices("nodes")),
    parent=InOut(i32, "nodes", values=lambda rng, sizes, drawn: np.arange(sizes["nodes"], dtype=np.int32)),
    edges=i32,
): ...


def not_the_positive_ones(x, kept, count):
    return {"kept": np.sort(kept) != np.sort(np.maximum(x, 0)), "count": count != (x > 0).sum()}


@kernel("silent/aggregated_append.cu", cases=[case(n=500)], accept=not_the_positive_ones)
def aggregated_append(
    x=In(i32, "n", values=permutation()),
    kept=InOut(i32, "n", values=ZERO),
    count=InOut(i32, 1, values=ZERO),
    n=i32,
): ...


@kernel("silent/coalesced_append.cu", cases=[case(n=500)], accept=not_the_positive_ones)
def coalesced_append(
    x=In(i32, "n", values=integers(-5, 5)),
    kept=InOut(i32, "n", values=ZERO),
    count=InOut(i32, 1, values=ZERO),
    n=i32,
): ...
