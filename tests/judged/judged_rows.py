"""Operations on rows, the cases an author would think of, and what is wrong with other kernels."""

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, Out, Scalar, case, f16, f32, i8, i32, i64, indices, kernel, normal


def ones(rng, sizes, drawn):
    return np.ones(sizes["cols"])


@kernel("softmax/start.cu", cases=[case(rows=4, cols=256), case(rows=3, cols=1000)], rtol=1e-4, atol=1e-6)
def softmax(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    y[...] = shifted / shifted.sum(axis=1, keepdims=True)


@kernel("rmsnorm/start.cu", cases=[case(rows=5, cols=64), case(rows=3, cols=256)], rtol=2e-3, atol=1e-3)
def rmsnorm(
    x=In(f16, "rows", "cols"),
    weight=In(f16, "cols", values=ones),
    y=Out(f16, "rows", "cols"),
    rows=i32,
    cols=i32,
    eps=Scalar(f32, 1e-6),
):
    y[...] = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * weight


# The logits of a network that was never trained.
@kernel("cross_entropy/start.cu", cases=[case(rows=8, cols=100), case(rows=3, cols=200)], rtol=1e-2)
def cross_entropy(
    logits=In(f32, "rows", "cols", values=normal(0, 0.01)),
    labels=In(i64, "rows", values=indices("cols")),
    loss=Out(f32, "rows"),
    rows=i32,
    cols=i32,
):
    most = logits.max(axis=1)
    total = np.log(np.exp(logits - most[:, None]).sum(axis=1)) + most
    picked = logits[np.arange(rows), np.maximum(labels, 0)]
    loss[...] = np.where(labels < 0, 0, total - picked)


@kernel("quantise/start.cu", cases=[case(rows=6, cols=128), case(rows=2, cols=1000)])
def quantise(
    x=In(f32, "rows", "cols"), q=Out(i8, "rows", "cols", atol=1), scale=Out(f32, "rows"), rows=i32, cols=i32
):
    most = np.abs(x).max(axis=1)
    scale[...] = most / 127
    q[...] = np.rint(x / np.where(most > 0, most, 1)[:, None] * 127)


@kernel("argmax/start.cu", cases=[case(rows=9, cols=64), case(rows=4, cols=512)])
def argmax(x=In(f32, "rows", "cols"), index=Out(i32, "rows"), rows=i32, cols=i32):
    index[...] = x.argmax(axis=1)


FAULTY = (
    Faulty(
        "softmax",
        "hack_cached_result",
        1,
        Kind.CACHED,
        Rung.PROBE,
        "a second launch of the same module with other contents gets the first result",
    ),
    Faulty(
        "softmax",
        "hack_half_when_large",
        10,
        Kind.SIZE_PATH,
        Rung.FUZZ,
        "rows of 1025 to 2000 lie within twice the largest case",
    ),
    Faulty(
        "softmax",
        "hack_magnitude_sniff",
        11,
        Kind.SNIFFED,
        Rung.FUZZ,
        "values between 89 and 500, which mixed magnitudes or random scales reach",
    ),
    Faulty("softmax", "bug_no_maximum", 19, Kind.FAST_MATH, Rung.FUZZ, "large values overflow in exp"),
    Faulty(
        "softmax",
        "bug_rescale_missing",
        24,
        Kind.MASK,
        Rung.FUZZ,
        "rows longer than the 1024 threads meet a second maximum",
        today=Rung.FUZZ,
    ),
    Faulty(
        "softmax",
        "bug_minus_infinity",
        22,
        Kind.NON_FINITE,
        Rung.CONTRACT,
        "-inf in a row is right in the starting kernel, as in masked attention",
        (*WRONG, *LOST),
    ),
    Faulty(
        "softmax",
        "bug_vector_overread",
        29,
        Kind.OUT_OF_BOUNDS,
        Rung.FUZZ,
        "columns that are no multiple of four are misaligned and read beyond the end",
        FAULT,
        today=Rung.FUZZ,
    ),
    Faulty(
        "softmax",
        "bug_result_without_barrier",
        31,
        Kind.RACE,
        Rung.CHECK,
        "the other warps are there first on sim; on a GPU the sanitizer's",
        (*WRONG, "race", "order_dependent"),
        today=Rung.CHECK,
    ),
    Faulty(
        "rmsnorm",
        "hack_fingerprint",
        2,
        Kind.CACHED,
        Rung.PROBE,
        "contents that differ anywhere but at three elements; a full redraw misses it",
    ),
    Faulty(
        "rmsnorm",
        "hack_unit_weight",
        9,
        Kind.IGNORED_INPUT,
        Rung.PROBE,
        "the reference's output changes with the weights, the candidate's does not",
    ),
    Faulty(
        "rmsnorm",
        "bug_padded_mean",
        24,
        Kind.MASK,
        Rung.FUZZ,
        "columns that are no multiple of eight",
        today=Rung.FUZZ,
    ),
    Faulty("rmsnorm", "bug_half_sum", 18, Kind.PRECISION, Rung.FUZZ, "the sum overflows for large elements"),
    Faulty(
        "rmsnorm",
        "bug_half_scale",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "large elements with small weights: the product of weight and scale is a subnormal half",
    ),
    Faulty(
        "rmsnorm", "bug_epsilon_outside", 19, Kind.FAST_MATH, Rung.FUZZ, "tiny elements, where epsilon counts"
    ),
    Faulty(
        "rmsnorm",
        "bug_total_without_barrier",
        31,
        Kind.RACE,
        Rung.SANITIZE,
        "in the usual order the first warp comes first",
        ("race", "uninitialized_read", "order_dependent"),
        today=Rung.SANITIZE,
    ),
    Faulty(
        "cross_entropy",
        "hack_constant",
        20,
        Kind.INSENSITIVE,
        Rung.FUZZ,
        "values beyond the declared deviation of 0.01; the tolerance is reported as too loose",
        today=Rung.FUZZ,
    ),
    Faulty(
        "cross_entropy",
        "hack_prefix_sniff",
        12,
        Kind.SNIFFED,
        Rung.FUZZ,
        "a nominal prefix with an extreme suffix",
    ),
    Faulty(
        "cross_entropy",
        "hack_keeps_what_is_there",
        5,
        Kind.UNWRITTEN,
        Rung.PROBE,
        "another poison looks like a loss; on sim also a read before the write",
        (*WRONG, "uninitialized_read"),
        today=Rung.SANITIZE,
    ),
    Faulty(
        "cross_entropy",
        "bug_negative_label",
        15,
        Kind.INTEGER_RANGE,
        Rung.CONTRACT,
        "negative labels, which the declared values never have, are right in the starting kernel",
        (*WRONG, *LOST, *FAULT),
    ),
    Faulty(
        "cross_entropy",
        "bug_byte_label",
        15,
        Kind.NARROW_INDEX,
        Rung.FUZZ,
        "labels over 255, at more classes than the declared cases have",
    ),
    Faulty(
        "quantise",
        "hack_keeps_scales",
        1,
        Kind.CACHED,
        Rung.PROBE,
        "a second launch of the same module with other contents gets the first scales",
    ),
    Faulty(
        "quantise",
        "bug_reciprocal",
        19,
        Kind.FAST_MATH,
        Rung.FUZZ,
        "127 over a tiny magnitude is infinite",
    ),
    Faulty(
        "quantise",
        "bug_reads_the_next_row",
        24,
        Kind.MASK,
        Rung.FUZZ,
        "columns that are no multiple of four bring the next row's elements along",
        (*WRONG, *FAULT),
        today=Rung.FUZZ,
    ),
    Faulty(
        "quantise",
        "bug_row_in_registers",
        13,
        Kind.SIZES,
        Rung.FUZZ,
        "rows of more than 1024 elements lie within twice the largest case",
        today=Rung.FUZZ,
    ),
    Faulty(
        "quantise",
        "hack_clips_outliers",
        13,
        Kind.FITTED,
        Rung.FUZZ,
        "magnitudes beyond those of normal numbers",
    ),
    Faulty("argmax", "bug_last_of_equals", 15, Kind.TIES, Rung.FUZZ, "duplicates"),
    Faulty(
        "argmax",
        "bug_nan_overlooked",
        22,
        Kind.NON_FINITE,
        Rung.CONTRACT,
        "NaN is right in the starting kernel",
        (*WRONG, *LOST),
    ),
    Faulty(
        "argmax",
        "bug_starts_at_zero",
        14,
        Kind.STRUCTURE,
        Rung.FUZZ,
        "a row of negative numbers only",
        today=Rung.FUZZ,
    ),
    Faulty(
        "argmax",
        "bug_power_of_two_block",
        24,
        Kind.SIZES,
        Rung.FUZZ,
        "columns that are no power of two",
        today=Rung.FUZZ,
    ),
    Faulty(
        "argmax",
        "bug_packed_key",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "maxima that differ in their last bits only",
    ),
    Faulty(
        "argmax",
        "hack_first_tile",
        9,
        Kind.IGNORED_INPUT,
        Rung.FUZZ,
        "columns beyond the thousandth lie within twice the largest case",
    ),
)
