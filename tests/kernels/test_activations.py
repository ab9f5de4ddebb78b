"""Elementwise kernels: a gated activation, a mask that is repeated, and two out of one PyTorch extension."""

import numpy as np

from pytest_cudaopt import (
    In,
    Out,
    Scalar,
    bf16,
    bool_,
    case,
    f16,
    f32,
    i32,
    i64,
    kernel,
    normal,
    product,
    work,
)


@kernel(
    "csrc/swiglu.cu",
    domain={"rows": (1, 65535)},
    cases=[*product(rows=[1, 4], width=[1, 2, 255, 1000]), case(rows=64, width=2048, measure=True)],
    work=work(bytes="6 * rows * width"),
)
def swiglu(
    x=In(f16, "rows", "2 * width", values=normal(0, 2)), y=Out(f16, "rows", "width"), rows=i32, width=i32
):
    """Multiply silu of the left half of every row by its right half."""
    gate, up = x[:, :width], x[:, width:]
    y[...] = gate / (1 + np.exp(-gate)) * up


@kernel(
    "csrc/masked_fill.cu",
    sizes=["batch"],
    domain={"batch": (1, 65535), "rows": (1, 65535)},
    cases=[*product(batch=[1, 3], rows=5, cols=[1, 150]), case(batch=8, rows=64, cols=256, measure=True)],
)
def masked_fill(
    x=In(f32, "batch", "rows", "cols"),
    mask=In(bool_, "batch", "rows", "cols", strides=(0, "cols", 1)),
    y=Out(f32, "batch", "rows", "cols", exact=True),
    value=Scalar(f32, -1e4),
    mask_batch_stride=Scalar(i64, 0),
    mask_row_stride=Scalar(i64, derive="cols"),
    rows=i32,
    cols=i32,
):
    """Replace what the mask covers, the same in the whole batch, by `value`."""
    y[...] = np.where(mask, value, x)


ROOT_2_OVER_PI = np.sqrt(2 / np.pi)


@kernel(
    "csrc/bias_gelu.cu",
    entry="fused::bias_gelu_kernel<{T}>",
    types={"T": (f16, bf16)},
    include=["csrc/include"],
    stub=["c10/*"],
    domain={"rows": (1, 65535)},
    cases=[*product(rows=[1, 3], cols=[1, 200]), case(rows=64, cols=1024, T=f16, measure=True)],
)
def bias_gelu(
    x=In("T", "rows", "cols"), bias=In("T", "cols"), y=Out("T", "rows", "cols"), rows=i32, cols=i32
):
    """Add the bias and apply GELU in its approximation with tanh."""
    z = x + bias
    y[...] = z / 2 * (1 + np.tanh(ROOT_2_OVER_PI * (z + 0.044715 * z**3)))


@kernel(
    "csrc/bias_gelu.cu",
    entry="fused::bias_gelu_gradient_kernel<{T}>",
    types={"T": (f16, bf16)},
    include=["csrc/include"],
    stub=["c10/*"],
    domain={"rows": (1, 65535)},
    cases=[*product(rows=[1, 3], cols=[1, 200]), case(rows=64, cols=1024, T=f16, measure=True)],
)
def bias_gelu_gradient(
    gradient=In("T", "rows", "cols"),
    x=In("T", "rows", "cols"),
    bias=In("T", "cols"),
    out=Out("T", "rows", "cols"),
    rows=i32,
    cols=i32,
):
    """Multiply the gradient by the slope of GELU at x + bias."""
    z = x + bias
    t = np.tanh(ROOT_2_OVER_PI * (z + 0.044715 * z**3))
    slope = (1 + t) / 2 + z / 2 * (1 - t**2) * ROOT_2_OVER_PI * (1 + 3 * 0.044715 * z**2)
    out[...] = gradient * slope
