"""Kernels whose blocks wait for each other: all of them, or those of a cluster."""

import numpy as np

from pytest_cudaopt import In, Out, Scalar, Scratch, case, f32, i32, kernel, normal, product


@kernel(
    "csrc/standardise.cu",
    include=["csrc/include"],
    cases=[case(n=16), case(n=1000), case(n=5001), case(n=200_000, measure=True)],
    # A few elements may be nearly equal, and what is left of them is rounding.
    domain={"n": (16, 1_000_000)},
    atol=1e-5,
)
def standardise(
    x=In(f32, "n", values=normal(1, 3)),
    y=Out(f32, "n"),
    partial=Scratch(f32, 2, 64),
    epsilon=Scalar(f32, 1e-5),
    n=i32,
):
    """Bring the whole array to mean 0 and variance 1."""
    centred = x - x.mean()
    y[...] = centred / np.sqrt((centred**2).mean() + epsilon)


@kernel(
    "csrc/scale_rows.cu",
    include=["csrc/include"],
    cases=[*product(rows=[1, 5], cols=[1, 777]), case(rows=64, cols=4096, measure=True)],
)
def scale_rows(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
    """Divide every row by its largest magnitude."""
    y[...] = x / np.abs(x).max(axis=1, keepdims=True)
