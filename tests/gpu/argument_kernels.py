"""Kernels whose arguments are of many types, and one whose result depends on the order of its atomics."""

from __future__ import annotations

import numpy as np

from pytest_cudaopt import In, InOut, Out, bf16, bool_, case, f16, f32, f64, i32, kernel, uniform


@kernel("kernels/halves.cu", cases=[case(n=1), case(n=333), case(n=1 << 18, measure=True)])
def halves(
    h=In(f16, "n"),
    b=In(bf16, "n"),
    total=InOut(f64, "n"),
    as_half=Out(f16, "n"),
    as_bfloat=Out(bf16, "n"),
    positive=Out(bool_, "n"),
    n=i32,
):
    sum = np.float32(h + b)
    as_half[...] = sum
    as_bfloat[...] = sum
    total += sum
    positive[...] = total > 0


@kernel("kernels/adds_atomically.cu", cases=[case(n=100_003), case(n=1 << 20, measure=True)], rtol=1e-4)
def adds_atomically(x=In(f32, "n", values=uniform(0, 1)), total=InOut(f32, 1), n=i32):
    total[...] += x.sum()
