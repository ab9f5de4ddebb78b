"""Matrices: products judged by NumPy and by a naive kernel, a batch in a struct, and a transpose."""

import numpy as np

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scalar,
    Scratch,
    Struct,
    case,
    f16,
    f32,
    i32,
    i64,
    integers,
    kernel,
    product,
    u8,
    u32,
    work,
)


@kernel(
    "csrc/split_k_gemm.cu",
    choices={"splits": (1, 2, 4)},
    cases=[
        case(m=1, n=1, k=1, splits=1),
        *product(m=[5, 33], n=20, k=100, splits=[2, 4]),
        case(m=64, n=64, k=512, splits=4, measure=True),
    ],
    # Terms of both signs cancel: the error is that of the terms, not of the small sum they leave.
    rtol=1e-5,
    atol="2e-6 * sqrt(k)",
    work=work(flops="2 * m * n * k", bytes="4 * (m * k + k * n + m * n)"),
)
def split_k_gemm(
    a=In(f32, "m", "k"),
    b=In(f32, "k", "n"),
    c=Out(f32, "m", "n"),
    partial=Scratch(f32, "splits", "m", "n"),
    # As many as the smallest tile needs; the kernel leaves them as it found them.
    arrived=InOut(u32, "cdiv(m, 8) * cdiv(n, 8)", values=integers(0, 0)),
    m=i32,
    n=i32,
    k=i32,
    splits=i32,
):
    """Multiply `a` by `b`, `splits` blocks sharing the sum of each element."""
    c[...] = a @ b


@kernel(
    "csrc/batched_gemv.cu",
    entry="blas::batched_gemv",
    include=["csrc/include"],
    sizes=["batch"],
    derive={"ld": "cols + 3"},
    cases=[
        *product(batch=[1, 3], rows=[1, 10], cols=[1, 70]),
        case(batch=8, rows=64, cols=256, measure=True),
    ],
    rtol=1e-5,
    atol="1e-6 * sqrt(cols)",
)
def batched_gemv(
    params=Struct(
        "blas::BatchedGemv",
        matrix=In(f16, "batch", "rows", "cols", strides=("rows * ld", "ld", 1)),
        vector=In(f16, "batch", "cols"),
        out=Out(f32, "batch", "rows"),
        batch_stride=Scalar(i64, derive="rows * ld"),
        row_stride=Scalar(i64, derive="ld"),
        rows=i32,
        cols=i32,
        alpha=Scalar(f32, 0.5),
    ),
    *,
    matrix,
    vector,
    out,
    alpha,
    **_,
):
    """Multiply every matrix of the batch by its vector and by `alpha`."""
    out[...] = alpha * np.einsum("brc,bc->br", matrix, vector)


@kernel(
    "csrc/transpose.cu",
    entry="transpose<{T}>",
    types={"T": (f32, u8)},
    cases=[*product(rows=[1, 33], cols=[1, 70]), case(rows=512, cols=300, T=f32, measure=True)],
)
def transpose(x=In("T", "rows", "cols"), y=Out("T", "cols", "rows", exact=True), rows=i32, cols=i32):
    """Exchange rows and columns."""
    y[...] = x.T


@kernel(
    "csrc/half_gemm.cu",
    reference="csrc/naive_gemm.cu::naive_gemm",
    cases=[
        case(m=1, n=1, k=1),
        *product(m=[31, 33], n=40, k=[8, 100]),
        case(m=128, n=96, k=256, measure=True),
    ],
    # Both are rounded to half precision, and may be rounded apart.
    rtol=2e-3,
    atol="1e-3 * sqrt(k)",
)
def half_gemm(a=In(f16, "m", "k"), b=In(f16, "k", "n"), c=Out(f16, "m", "n"), m=i32, n=i32, k=i32):
    """Multiply `a` by `b`."""
    ...
