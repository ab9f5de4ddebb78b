"""Right kernels whose threads keep to themselves, in ways a check could stumble over."""

import itertools
import math

import numpy as np

from pytest_cudaopt import In, InOut, Out, case, f32, i32, indices, integers, kernel, offsets, u8, uniform


@kernel("silent/bits_in_place.cu", cases=[case(n=333)])
def bits_in_place(x=InOut(u8, "n"), n=i32):
    x ^= 0x55


@kernel("silent/in_place.cu", cases=[case(n=1000)])
def in_place(x=InOut(f32, "n"), n=i32):
    x[...] = x.reshape(-1, 4)[:, ::-1].reshape(-1)


def mixed(number, thread):
    counts = list(range(8))
    while number > 0:
        counts[number % 8] += 10
        number //= 8
    total = 0
    for k in range(8):
        total = 3 * total + counts[(k + thread) % 8]
    return total


@kernel("silent/local_table.cu", cases=[case(n=100)])
def local_table(x=In(i32, "n", values=integers(0, 1_000_000)), y=Out(i32, "n"), n=i32):
    y[...] = [mixed(int(number), thread) for thread, number in enumerate(x)]


@kernel("silent/through_the_cache.cu", cases=[case(n=200)])
def through_the_cache(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    padded = np.concatenate([[0], x, [0]])
    y[...] = 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]


@kernel("silent/mathematics.cu", cases=[case(n=200)], rtol=1e-5, atol=1e-5)
def mathematics(x=In(f32, "n"), y=Out(f32, "n", 8), n=i32):
    size = np.abs(x) + 0.1
    y[:, 0] = np.exp(x)
    y[:, 1] = [math.erf(v) for v in x]
    y[:, 2] = np.tanh(x)
    y[:, 3] = np.log(size)
    y[:, 4] = np.sin((x.astype(np.float32) * np.float32(30000)).astype(np.float64))
    y[:, 5] = size**x
    y[:, 6] = np.cos(x)
    y[:, 7] = 1 / np.sqrt(size) + np.cbrt(x)


@kernel("silent/compensated_sum.cu", cases=[case(rows=5, cols=300)], atol=1e-5)
def compensated_sum(x=In(f32, "rows", "cols"), sums=Out(f32, "rows"), rows=i32, cols=i32):
    sums[...] = x.sum(axis=1)


@kernel("silent/sparse_rows.cu", sizes=["width"], cases=[case(rows=30, total=400, width=50)], atol=1e-4)
def sparse_rows(
    starts=In(i32, "rows + 1", values=offsets("total")),
    columns=In(i32, "total", values=indices("width")),
    values=In(f32, "total"),
    x=In(f32, "width", values=uniform(-1, 1)),
    y=Out(f32, "rows"),
    rows=i32,
    total=i32,
):
    for row, (first, last) in enumerate(itertools.pairwise(starts)):
        y[row] = (values[first:last] * x[columns[first:last]]).sum()
