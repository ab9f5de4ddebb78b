"""Five operations of which `faulty/` holds a right kernel, faulty ones and cheating ones."""

import numpy as np

from pytest_cudaopt import In, Out, Scratch, case, f32, i32, i64, integers, kernel


@kernel(
    "faulty/conv1d/correct.cu",
    launch="grid=(max(1, cdiv(n, 128))) block=(128) shared=(128 + taps - 1) * 4",
    cases=[case(n=1000, taps=7), case(n=500, taps=33)],
    atol=1e-4,
)
def conv1d(x=In(f32, "n"), w=In(f32, "taps"), y=Out(f32, "n"), n=i32, taps=i32):
    left = (taps - 1) // 2
    y[...] = np.convolve(np.pad(x, (left, taps - 1 - left)), w[::-1], mode="valid")


@kernel(
    "faulty/gather/correct.cu",
    launch="grid=(max(1, n)) block=(128)",
    cases=[case(v=100, d=64, n=20)],
)
def gather(
    table=In(f32, "v", "d"),
    idx=In(i32, "n", values=integers("0 - v", "v - 1")),
    out=Out(f32, "n", "d"),
    v=i32,
    d=i32,
    n=i32,
):
    out[...] = table[idx]


@kernel(
    "faulty/relu/correct.cu",
    entry="relu_rows",
    launch="grid=(max(1, min(cdiv(rows * cols, 256), 2048))) block=(256)",
    cases=[case(rows=20, cols=48, ldx=64)],
)
def relu(x=In(f32, "rows", "ldx"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32, ldx=i32):
    y[...] = np.maximum(x[:, :cols], 0)


@kernel(
    "faulty/scan/correct.cu",
    entry="scan_rows",
    launch="grid=(rows) block=(256)",
    cases=[case(rows=3, cols=256), case(rows=2, cols=700)],
)
def scan(x=In(i32, "rows", "cols", values=integers(-9, 9)), y=Out(i64, "rows", "cols"), rows=i32, cols=i32):
    y[...] = x.cumsum(axis=1)


@kernel(
    "faulty/sum/correct.cu",
    entry="sum_all",
    launch="grid=(max(1, min(cdiv(n, 1024), 128))) block=(256)",
    cases=[case(n=4096), case(n=9001)],
    atol=1e-3,
)
def sum(
    x=In(f32, "n"),
    partial=Scratch(f32, "max(1, min(cdiv(n, 1024), 128))"),
    out=Out(f32, 1),
    n=i32,
):
    out[0] = x.sum()
