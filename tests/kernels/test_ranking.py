"""Order: the largest elements, with any or the first of equals, keys that sort as floats do, and buckets."""

import numpy as np

from pytest_cudaopt import (
    In,
    Out,
    case,
    f16,
    f32,
    i32,
    i64,
    integers,
    kernel,
    normal,
    permutation,
    product,
    sorted_,
    u32,
)


def is_top_k(x, values, places, rows, cols):
    """Return what is wrong: not the next largest value, a place that does not hold it or is used twice."""
    count = values.shape[1]
    wanted = -np.sort(-x, axis=1)[:, :count]
    exists = (places >= 0) & (places < cols)
    held = np.take_along_axis(x, np.where(exists, places, 0), axis=1)
    same_place = places[:, :, None] == places[:, None, :]
    is_repeated = (same_place & np.tri(count, k=-1, dtype=bool)).any(axis=2)
    return {"values": values != wanted, "places": ~exists | (held != values) | is_repeated}


@kernel(
    "csrc/top_k.cu",
    entry="top_k<{k}>",
    include=["csrc/include"],
    sizes=["k"],
    choices={"k": (1, 4, 8)},
    where=["k <= cols"],
    cases=[
        case(rows=1, cols=1, k=1),
        case(rows=5, cols=8, k=8),
        case(rows=6, cols=77, k=4),
        case(rows=256, cols=256, k=4, measure=True),
    ],
    accept=is_top_k,
)
def top_k(
    # Seventeen different values: ties in nearly every row.
    x=In(f32, "rows", "cols", values=integers(-8, 8)),
    values=Out(f32, "rows", "k"),
    places=Out(i32, "rows", "k"),
    rows=i32,
    cols=i32,
):
    """Find the `k` largest elements of every row, in descending order, and where they stand."""
    ...


@kernel(
    "csrc/row_argmax.cu",
    include=["csrc/include"],
    cases=[*product(rows=[1, 6], cols=[1, 31, 300]), case(rows=256, cols=1000, measure=True)],
)
def row_argmax(
    x=In(f16, "rows", "cols", values=integers(-20, 20)),
    largest=Out(f32, "rows", exact=True),
    index=Out(i64, "rows"),
    rows=i32,
    cols=i32,
):
    """Find the largest element of every row and the first place that holds it."""
    largest[...] = x.max(axis=1)
    index[...] = x.argmax(axis=1)


@kernel("csrc/sort_keys.cu", cases=[case(n=1), case(n=1000), case(n=100_000, measure=True)])
def sort_keys(x=In(f32, "n", oracle="stored"), keys=Out(u32, "n"), n=i32):
    """Turn floats into integers that are in the same order."""
    bits = x.view(np.uint32)
    keys[...] = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))


@kernel(
    "csrc/bucketise.cu",
    cases=[*product(n=[1, 300], m=[1, 2, 37]), case(n=50_000, m=255, measure=True)],
)
def bucketise(
    x=In(f32, "n"),
    bounds=In(f32, "m", values=sorted_(normal())),
    bucket=Out(i64, "n"),
    n=i32,
    m=i32,
):
    """Count the bounds below each element."""
    bucket[...] = np.searchsorted(bounds, x)


@kernel(
    "csrc/permute_rows.cu",
    cases=[*product(rows=[1, 33], width=[1, 70]), case(rows=256, width=512, measure=True)],
)
def permute_rows(
    x=In(f16, "rows", "width"),
    target=In(i32, "rows", values=permutation()),
    y=Out(f16, "rows", "width", exact=True),
    inverse=Out(i32, "rows"),
    rows=i32,
    width=i32,
):
    """Move every row to its target, and say where each came from."""
    y[target] = x
    inverse[target] = np.arange(rows)
