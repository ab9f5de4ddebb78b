"""Kernels led by indices: embedding, scattered and segmented sums, and a histogram."""

from itertools import pairwise

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    bf16,
    case,
    f32,
    i32,
    i64,
    indices,
    integers,
    kernel,
    offsets,
    product,
    u8,
    u32,
)


@kernel(
    "csrc/embedding.cu",
    include=["csrc/include"],
    sizes=["tokens", "vocabulary"],
    cases=[
        *product(tokens=[1, 40], vocabulary=[1, 100], width=[5, 13, 64]),
        case(tokens=256, vocabulary=1000, width=512, measure=True),
    ],
)
def embedding(
    table=In(bf16, "vocabulary", "width"),
    ids=In(i64, "tokens", values=indices("vocabulary", skip=-1, share=0.2)),
    out=Out(bf16, "tokens", "width", exact=True),
    width=i32,
):
    """Look up every token's row; padding gets zeros."""
    out[...] = np.where(ids[:, None] < 0, 0, table[ids])


@kernel(
    "csrc/scatter_add.cu",
    sizes=["targets"],
    cases=[
        *product(rows=[1, 70], targets=[1, 9], width=[1, 33]),
        case(rows=1000, targets=100, width=128, measure=True),
    ],
    # The order of the additions is not fixed.
    rtol=1e-5,
    atol="1e-6 * sqrt(rows)",
)
def scatter_add(
    x=In(f32, "rows", "width"),
    index=In(i64, "rows", values=indices("targets")),
    out=InOut(f32, "targets", "width"),
    rows=i64,
    width=i64,
):
    """Add every row of `x` to the row of `out` that its index names."""
    np.add.at(out, index, x)


@kernel(
    "csrc/segmented_sum.cu",
    sizes=["total", "segments"],
    domain={"segments": (1, 65535)},
    cases=[
        *product(total=[1, 50], segments=[1, 20], width=[1, 40]),
        case(total=2000, segments=100, width=64, measure=True),
    ],
    rtol=1e-5,
    atol="1e-6 * sqrt(total)",
)
def segmented_sum(
    x=In(f32, "total", "width"),
    offsets=In(i64, "segments + 1", values=offsets("total")),
    out=Out(f32, "segments", "width"),
    width=i32,
):
    """Sum the rows from each offset to the next; a segment without rows gives zeros."""
    for segment, (start, end) in enumerate(pairwise(offsets)):
        out[segment] = x[start:end].sum(axis=0)


@kernel(
    "csrc/histogram.cu",
    cases=[case(n=1), case(n=3), case(n=4096), case(n=10_001), case(n=200_000, measure=True)],
)
def histogram(
    bytes=In(u8, "n", values=integers(0, 255)), counts=InOut(u32, 256, values=integers(0, 1000)), n=i32
):
    """Count every byte into the bin of its value."""
    counts += np.bincount(bytes, minlength=256).astype(np.uint32)
