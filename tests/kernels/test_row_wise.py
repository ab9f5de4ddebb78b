"""Softmax, running sum and sorting of rows."""

import numpy as np

from pytest_cudaopt import In, Out, case, f32, i32, kernel, normal, product


@kernel(
    "csrc/online_softmax.cu",
    include=["csrc/include"],
    cases=[*product(rows=[1, 9], cols=[1, 33, 700]), case(rows=256, cols=1024, measure=True)],
    rtol=1e-5,
    atol=1e-7,
)
def online_softmax(
    x=In(f32, "rows", "cols", values=normal(0, 3)), y=Out(f32, "rows", "cols"), rows=i32, cols=i32
):
    """Row-wise softmax."""
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    y[...] = shifted / shifted.sum(axis=1, keepdims=True)


@kernel(
    "csrc/row_cumsum.cu",
    include=["csrc/include"],
    choices={"exclusive": (0, 1)},
    cases=[
        *product(rows=2, cols=[1, 32, 301], exclusive=[0, 1]),
        case(rows=64, cols=4000, exclusive=0, measure=True),
    ],
    # Neighbours of both signs may cancel, so that the error is that of the terms.
    rtol="1e-6 * sqrt(cols)",
    atol="1e-6 * sqrt(cols)",
)
def row_cumsum(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), exclusive=i32, rows=i32, cols=i32):
    """Sum every row up to each element, which counts itself unless `exclusive`."""
    y[...] = np.cumsum(x, axis=1) - (x if exclusive else 0)


@kernel(
    "csrc/sort_rows.cu",
    cases=[
        *product(rows=[1, 3], cols=[1, 2, 1000]),
        # 64 KB of dynamic shared memory.
        case(rows=1, cols=8193),
        case(rows=16, cols=1024, measure=True),
    ],
    # Beyond this a row leaves the 227 KB that a block may ask for.
    domain={"cols": (1, 32768)},
)
def sort_rows(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols", exact=True), rows=i32, cols=i32):
    """Sort every row, the smallest first."""
    y[...] = np.sort(x, axis=1)
