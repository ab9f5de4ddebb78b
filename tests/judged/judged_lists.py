"""Operations on lists, the cases an author would think of, and what is wrong with other kernels."""

from itertools import pairwise

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, Out, case, f32, i32, i64, integers, kernel, offsets


@kernel(
    "sort_rows/start.cu",
    domain={"cols": (1, 1024)},
    cases=[case(rows=3, cols=64), case(rows=2, cols=100)],
)
def sort_rows(
    x=In(i32, "rows", "cols", values=integers(-10_000_000, 10_000_000)),
    y=Out(i32, "rows", "cols"),
    rows=i32,
    cols=i32,
):
    y[...] = np.sort(x, axis=1)


@kernel(
    "top_k/start.cu", where=["k <= cols"], cases=[case(rows=4, cols=200, k=2), case(rows=3, cols=1000, k=4)]
)
def top_k(x=In(f32, "rows", "cols"), values=Out(f32, "rows", "k", exact=True), rows=i32, cols=i32, k=i32):
    values[...] = -np.sort(-x, axis=1)[:, :k]


@kernel("histogram/start.cu", cases=[case(rows=3, n=500, bins=64), case(rows=2, n=1000, bins=100)])
def histogram(
    x=In(i32, "rows", "n", values=integers(0, "bins - 1")),
    counts=Out(i32, "rows", "bins"),
    rows=i32,
    n=i32,
    bins=i32,
):
    for row, out in zip(x, counts, strict=True):
        out[...] = np.bincount(row[(row >= 0) & (row < bins)], minlength=bins)


@kernel(
    "segment_sum/start.cu",
    sizes=["total", "segments"],
    cases=[case(total=200, segments=20, width=32), case(total=300, segments=12, width=64)],
    rtol=1e-5,
    atol=1e-4,
)
def segment_sum(
    x=In(f32, "total", "width"),
    ends=In(i64, "segments + 1", values=offsets("total", empty=False)),
    out=Out(f32, "segments", "width"),
    width=i32,
):
    for segment, (first, last) in enumerate(pairwise(ends)):
        out[segment] = x[first:last].sum(axis=0)


FAULTY = (
    Faulty(
        "sort_rows",
        "bug_padding",
        14,
        Kind.INTEGER_RANGE,
        Rung.CONTRACT,
        "integers over 2^24, beyond those declared, are right in the starting kernel",
        (*WRONG, *LOST),
    ),
    Faulty(
        "sort_rows",
        "bug_difference_overflows",
        14,
        Kind.INTEGER_RANGE,
        Rung.CONTRACT,
        "integers whose difference has 33 bits",
        (*WRONG, *LOST),
    ),
    Faulty(
        "sort_rows",
        "bug_float_keys",
        18,
        Kind.PRECISION,
        Rung.CONTRACT,
        "integers over 2^24 that are no floats",
        (*WRONG, *LOST),
    ),
    Faulty("sort_rows", "bug_rank_of_equals", 15, Kind.TIES, Rung.FUZZ, "duplicates"),
    Faulty(
        "sort_rows",
        "bug_waits_for_a_free_place",
        33,
        Kind.HANG,
        Rung.FUZZ,
        "duplicates",
        ("no_progress", "timeout"),
    ),
    Faulty(
        "sort_rows",
        "bug_steps_of_a_warp",
        31,
        Kind.RACE,
        Rung.SANITIZE,
        "the lanes of a warp go in step on sim, and often on a GPU",
        ("race",),
        today=Rung.SANITIZE,
    ),
    Faulty(
        "sort_rows",
        "hack_sorts_the_input",
        25,
        Kind.INPUT_WRITTEN,
        Rung.CHECK,
        "inputs are read-only on sim, and compared on a GPU",
        ("write_to_input",),
        today=Rung.CHECK,
    ),
    Faulty(
        "top_k",
        "hack_fitted_threshold",
        13,
        Kind.FITTED,
        Rung.FUZZ,
        "constants, clusters, or nothing above the threshold",
        today=Rung.FUZZ,
    ),
    Faulty(
        "top_k",
        "hack_prefix_threshold",
        12,
        Kind.SNIFFED,
        Rung.FUZZ,
        "a prefix of small numbers, or rows in ascending order, let too many through",
    ),
    Faulty("top_k", "bug_equals_dropped", 15, Kind.TIES, Rung.FUZZ, "duplicates"),
    Faulty(
        "top_k",
        "bug_two_per_lane",
        13,
        Kind.FITTED,
        Rung.FUZZ,
        "few columns, a larger k, or clusters in one lane",
    ),
    Faulty(
        "histogram",
        "bug_not_zeroed",
        28,
        Kind.UNINITIALISED,
        Rung.CHECK,
        "shared memory holds garbage",
        (*WRONG, "uninitialized_read"),
        today=Rung.CHECK,
    ),
    Faulty(
        "histogram",
        "bug_bins_of_a_block",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "more than 128 bins lie within twice the largest case",
        (*WRONG, "uninitialized_read"),
        today=Rung.FUZZ,
    ),
    Faulty(
        "histogram",
        "bug_byte_counters",
        13,
        Kind.FITTED,
        Rung.FUZZ,
        "few bins, or one value only",
        today=Rung.FUZZ,
    ),
    Faulty(
        "histogram",
        "bug_no_range_check",
        29,
        Kind.INTEGER_RANGE,
        Rung.CONTRACT,
        "values that are no bin are left out by the starting kernel",
        (*WRONG, *LOST, *FAULT),
    ),
    Faulty(
        "histogram",
        "hack_sampled",
        10,
        Kind.IGNORED_INPUT,
        Rung.FUZZ,
        "rows of more than 1200 elements lie within twice the largest case",
    ),
    Faulty(
        "histogram",
        "bug_output_not_zeroed",
        28,
        Kind.UNINITIALISED,
        Rung.CHECK,
        "the output is poisoned before",
        today=Rung.CHECK,
    ),
    Faulty(
        "histogram",
        "bug_plain_increments",
        31,
        Kind.RACE,
        Rung.CHECK,
        "lanes of one warp lose each other's counts",
        (*WRONG, "race"),
        today=Rung.CHECK,
    ),
    Faulty(
        "segment_sum",
        "hack_short_segments",
        13,
        Kind.FITTED,
        Rung.FUZZ,
        "one segment of all rows",
        today=Rung.FUZZ,
    ),
    Faulty(
        "segment_sum",
        "bug_empty_segment",
        14,
        Kind.STRUCTURE,
        Rung.CONTRACT,
        "empty segments, which the declared offsets never have, give zeros in the starting kernel",
        (*WRONG, *LOST, *FAULT),
    ),
    Faulty(
        "segment_sum",
        "bug_output_not_zeroed",
        28,
        Kind.UNINITIALISED,
        Rung.CHECK,
        "the output is poisoned before",
        today=Rung.CHECK,
    ),
    Faulty(
        "segment_sum",
        "bug_columns_of_a_block",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "more than 64 columns lie within twice the largest case",
        today=Rung.FUZZ,
    ),
    Faulty(
        "segment_sum",
        "bug_vector_columns",
        29,
        Kind.SIZES,
        Rung.FUZZ,
        "columns that are no multiple of four",
        (*WRONG, *FAULT),
        today=Rung.FUZZ,
    ),
    Faulty(
        "segment_sum",
        "bug_neighbour_in_pairs",
        24,
        Kind.MASK,
        Rung.CHECK,
        "every odd segment brings a row of the next along",
        (*WRONG, *FAULT),
        today=Rung.CHECK,
    ),
)
