"""Normalisations of rows: one that updates two arrays in place, and one with an optional bias."""

import numpy as np

from pytest_cudaopt import In, InOut, Out, Scalar, bf16, case, f32, i32, kernel, normal, product, work


@kernel(
    "csrc/fused_add_rms_norm.cu",
    include=["csrc/include"],
    cases=[
        *product(tokens=[1, 5], width=[1, 8, 261]),
        case(tokens=3, width=2048),
        case(tokens=64, width=2048, measure=True),
    ],
    domain={"tokens": (1, 4096), "width": (1, 16384)},
    work=work(bytes="8 * tokens * width"),
)
def fused_add_rms_norm(
    hidden=InOut(bf16, "tokens", "width"),
    residual=InOut(bf16, "tokens", "width"),
    weight=In(f32, "width", values=normal(1, 0.1)),
    epsilon=Scalar(f32, 1e-6),
    tokens=i32,
    width=i32,
):
    """Add `hidden` to `residual`, and leave the sum over its root mean square in `hidden`."""
    residual += hidden
    hidden[...] = residual / np.sqrt((residual**2).mean(axis=1, keepdims=True) + epsilon) * weight


@kernel(
    "csrc/layer_norm.cu",
    entry="normalisation::layer_norm<{T}>",
    types={"T": (f32, bf16)},
    include=["csrc/include"],
    cases=[
        case(rows=1, cols=16),
        case(rows=7, cols=129),
        case(rows=7, cols=129, bias=None),
        case(rows=128, cols=1024, T=f32, measure=True),
    ],
    # A few columns may be nearly equal, and what is left of such a row is rounding.
    domain={"rows": (1, 4096), "cols": (16, 8192)},
)
def layer_norm(
    x=In("T", "rows", "cols", values=normal(1, 2)),
    weight=In("T", "cols"),
    bias=In("T", "cols", optional=True),
    y=Out("T", "rows", "cols"),
    epsilon=Scalar(f32, 1e-5),
    rows=i32,
    cols=i32,
):
    """Normalise every row to mean 0 and variance 1, then scale it and shift it by `bias` if there is one."""
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * weight
    y[...] = scaled if bias is None else scaled + bias
