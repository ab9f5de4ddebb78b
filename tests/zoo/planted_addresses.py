"""Addresses out of bounds or between elements, and writes to inputs."""

import numpy as np

from pytest_cudaopt import In, Out, Scratch, case, f16, f32, i32, integers, kernel, u32


@kernel("planted/no_guard.cu", cases=[case(n=1000)])
def no_guard(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = 2 * x


@kernel("planted/guard_off_by_one.cu", cases=[case(n=1000)])
def guard_off_by_one(y=Out(i32, "n"), n=i32):
    y[...] = np.arange(n)


@kernel("planted/halo_outside.cu", cases=[case(n=1000)])
def halo_outside(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    padded = np.concatenate([[0], x, [0]])
    y[...] = padded[:-2] + padded[2:]


def with_padding(rng, sizes, drawn):
    index = rng.integers(0, 10, sizes["tokens"])
    index[3] = -1
    return index.astype(np.int32)


@kernel("planted/padding_index.cu", cases=[case(tokens=8, cols=40)])
def padding_index(
    table=In(f32, 10, "cols"),
    index=In(i32, "tokens", values=with_padding),
    out=Out(f32, "tokens", "cols"),
    tokens=i32,
    cols=i32,
):
    out[...] = np.where(index[:, None] < 0, 0, table[index])


@kernel("planted/shared_off_by_one.cu", cases=[case(rows=3)])
def shared_off_by_one(x=In(f32, "rows", 128), y=Out(f32, "rows", 128), rows=i32):
    y[...] = np.pad(x, ((0, 0), (0, 1)))[:, 1:] - x


@kernel("planted/too_little_shared.cu", cases=[case(n=100)])
def too_little_shared(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x * x[::-1]


def digits_reversed(number):
    return int(str(number)[::-1])


@kernel("planted/local_overrun.cu", cases=[case(n=100)])
def local_overrun(x=In(i32, "n", values=integers(10_000, 99_999)), reversed=Out(i32, "n"), n=i32):
    reversed[...] = [digits_reversed(number) for number in x]


@kernel("planted/absent_bias.cu", cases=[case(n=100, bias=None)])
def absent_bias(x=In(f32, "n"), bias=In(f32, "n", optional=True), y=Out(f32, "n"), n=i32):
    y[...] = x if bias is None else x + bias


@kernel("planted/unsigned_end.cu", cases=[case(n=3)])
def unsigned_end(x=In(f32, "n"), y=Out(f32, 1), n=u32):
    y[0] = x[: max(n - 4, 0)].sum()


@kernel("planted/odd_rows_as_vectors.cu", cases=[case(rows=4, cols=33)])
def odd_rows_as_vectors(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
    y[...] = 2 * x


@kernel("planted/shared_after_header.cu", cases=[case(rows=3)])
def shared_after_header(x=In(f32, "rows", 64, 2), y=Out(f32, "rows", 64), rows=i32):
    y[...] = 2 * (x[:, ::-1, 0] + x[:, :, 1])


@kernel("planted/half_pairs_from_odd.cu", cases=[case(n=201)])
def half_pairs_from_odd(x=In(f16, "n"), y=Out(f16, "n"), n=i32):
    y[0] = x[0]
    y[1:] = np.diff(x)


@kernel("planted/normalised_in_place.cu", cases=[case(rows=3, cols=50)], atol=1e-5)
def normalised_in_place(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
    y[...] = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


@kernel("planted/swapped_once_too_often.cu", cases=[case(n=100)])
def swapped_once_too_often(x=In(f32, "n"), y=Out(f32, "n"), spare=Scratch(f32, "n"), n=i32):
    once = 0.5 * (x + np.concatenate([x[:1], x[:-1]]))
    y[...] = 0.5 * (once + np.concatenate([once[:1], once[:-1]]))
