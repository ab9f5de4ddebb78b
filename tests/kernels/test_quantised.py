"""Four-bit and eight-bit weights with scales per group and per channel."""

import numpy as np

from pytest_cudaopt import (
    In,
    Out,
    bf16,
    case,
    f16,
    f32,
    i8,
    i32,
    integers,
    kernel,
    product,
    u8,
    uniform,
    work,
)


@kernel(
    "csrc/int4_gemv.cu",
    include=["csrc/include"],
    choices={"group": (32, 64, 128)},
    where=["cols % group == 0"],
    cases=[
        case(rows=1, cols=32, group=32),
        *product(rows=[3, 10], cols=384, group=[32, 128]),
        case(rows=256, cols=1024, group=128, measure=True),
    ],
    # Terms of both signs cancel; the sum itself is rounded to half precision.
    rtol=2e-3,
    atol="1e-3 * sqrt(cols)",
    work=work(flops="2 * rows * cols", bytes="rows * cols // 2 + 2 * rows * (cols // group) + 2 * cols"),
)
def int4_gemv(
    weights=In(u8, "rows", "cols // 2", values=integers(0, 255)),
    scales=In(f16, "rows", "cols // group", values=uniform(0.01, 0.1)),
    x=In(f16, "cols"),
    y=Out(f16, "rows"),
    rows=i32,
    cols=i32,
    group=i32,
):
    """Multiply by a matrix of numbers -8..7, two in a byte, times the scale of their group."""
    halves = np.stack([weights & 0xF, weights >> 4], axis=2).reshape(rows, cols)
    y[...] = ((halves.astype(np.float64) - 8) * np.repeat(scales, group, axis=1)) @ x


@kernel(
    "csrc/dequantise.cu",
    entry="dequantise<{T}>",
    types={"T": (f16, bf16)},
    include=["csrc/include"],
    cases=[
        case(rows=1, cols=1),
        *product(rows=[3, 20], cols=[9, 64]),
        case(rows=256, cols=1024, T=f16, measure=True),
    ],
)
def dequantise(
    q=In(i8, "rows", "cols", values=integers(-128, 127)),
    zeros=In(i8, "cols", values=integers(-10, 10)),
    scales=In(f32, "cols", values=uniform(0.001, 0.1)),
    out=Out("T", "rows", "cols"),
    rows=i32,
    cols=i32,
):
    """Turn integers into numbers with a zero point and a scale for every column."""
    out[...] = (q.astype(np.float64) - zeros) * scales
