"""Operations on matrices, the cases an author would think of, and what is wrong with other kernels."""

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, Out, case, f32, f64, i32, kernel, uniform


# The tolerance that is usual where kernels are judged by one.
@kernel("matmul/start.cu", cases=[case(m=32, n=48, k=64), case(m=64, n=64, k=32)], rtol=1e-2, atol=1e-2)
def matmul(
    a=In(f32, "m", "k", values=uniform(-1, 1)),
    b=In(f32, "k", "n", values=uniform(-1, 1)),
    c=Out(f32, "m", "n"),
    m=i32,
    n=i32,
    k=i32,
):
    c[...] = a @ b


@kernel("transpose/start.cu", cases=[case(rows=64, cols=64), case(rows=96, cols=96)])
def transpose(x=In(f32, "rows", "cols"), y=Out(f32, "cols", "rows", exact=True), rows=i32, cols=i32):
    y[...] = x.T


@kernel("gemv/start.cu", cases=[case(rows=64, cols=128), case(rows=50, cols=1024)], rtol=1e-5, atol=1e-4)
def gemv(a=In(f64, "rows", "cols"), x=In(f64, "cols"), y=Out(f64, "rows"), rows=i32, cols=i32):
    y[...] = a @ x


@kernel("stencil/start.cu", cases=[case(height=16, width=64), case(height=64, width=96)])
def stencil(x=In(f32, "height", "width"), y=Out(f32, "height", "width"), height=i32, width=i32):
    p = np.pad(x, 1)
    y[...] = 0.5 * x + 0.125 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


FAULTY = (
    Faulty(
        "matmul",
        "hack_pointer_memo",
        2,
        Kind.CACHED,
        Rung.PROBE,
        "other contents at the same addresses get the first product",
        (*WRONG, "race"),
    ),
    Faulty(
        "matmul",
        "bug_half_products",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "halves overflow for large elements, and cancelling sums lose what is left",
    ),
    Faulty(
        "matmul",
        "bug_half_accumulator",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "large elements overflow; small integers add up to more than 2048, beyond which halves are even",
    ),
    Faulty(
        "matmul",
        "bug_short_mantissas",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "cancelling or mixed magnitudes: the error is relative to the terms, not to the sum",
    ),
    Faulty(
        "matmul",
        "hack_prefix_sniff",
        12,
        Kind.SNIFFED,
        Rung.FUZZ,
        "a nominal prefix with an extreme suffix",
    ),
    Faulty(
        "matmul",
        "bug_no_guards",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "sizes that are no multiple of 16",
        (*WRONG, *FAULT),
        today=Rung.FUZZ,
    ),
    Faulty(
        "matmul",
        "bug_second_barrier_missing",
        31,
        Kind.RACE,
        Rung.CHECK,
        "the order of sim lets a warp overwrite what others have not read; on a GPU the sanitizer's",
        (*WRONG, "race", "order_dependent"),
        today=Rung.CHECK,
    ),
    Faulty(
        "matmul",
        "bug_skips_zeros",
        22,
        Kind.NON_FINITE,
        Rung.CONTRACT,
        "zero times infinity or NaN is NaN in the starting kernel",
        (*WRONG, *LOST),
    ),
    Faulty(
        "matmul",
        "bug_depth_in_eights",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "a depth that is no multiple of eight",
        today=Rung.FUZZ,
    ),
    Faulty(
        "matmul",
        "hack_includes_answers",
        37,
        Kind.INCLUDED,
        Rung.COMPILE,
        "nothing outside the declared folders can be included",
        ("compile_error",),
        today=Rung.COMPILE,
    ),
    Faulty(
        "transpose",
        "hack_noop",
        5,
        Kind.UNWRITTEN,
        Rung.CHECK,
        "the output is poisoned before",
        today=Rung.CHECK,
    ),
    Faulty(
        "transpose",
        "bug_square_only",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "rows other than columns",
        (*WRONG, *FAULT),
        today=Rung.FUZZ,
    ),
    Faulty(
        "transpose",
        "bug_index_int32",
        15,
        Kind.NARROW_INDEX,
        Rung.CONTRACT,
        "more than 2^31 elements, in memory that is not all there",
        (*WRONG, *LOST, *FAULT),
    ),
    Faulty(
        "transpose",
        "bug_grid_y",
        15,
        Kind.GRID_LIMIT,
        Rung.CONTRACT,
        "more than 131,070 rows of one column",
        (*WRONG, *LOST, "invalid_launch"),
    ),
    Faulty(
        "transpose",
        "bug_flushes_subnormals",
        19,
        Kind.SUBNORMAL,
        Rung.CONTRACT,
        "subnormals and -0 are copied by the starting kernel",
        (*WRONG, *LOST),
    ),
    Faulty(
        "transpose",
        "bug_barrier_missing",
        31,
        Kind.RACE,
        Rung.CHECK,
        "the order of sim reads what is not there yet; on a GPU the sanitizer's",
        (*WRONG, "race", "uninitialized_read"),
        today=Rung.CHECK,
    ),
    Faulty(
        "transpose",
        "bug_guard_of_the_wrong_side",
        24,
        Kind.MASK,
        Rung.FUZZ,
        "tiles that are cut on one side only",
        (*WRONG, *FAULT, "uninitialized_read"),
        today=Rung.FUZZ,
    ),
    Faulty(
        "transpose",
        "hack_one_corner",
        21,
        Kind.RARE,
        Rung.FUZZ,
        "one element of all, at sizes that are no multiple of 32",
        today=Rung.FUZZ,
    ),
    Faulty(
        "gemv",
        "bug_single_precision",
        18,
        Kind.PRECISION,
        Rung.FUZZ,
        "large or cancelling elements; the tolerance is reported as too loose for float64",
    ),
    Faulty(
        "gemv",
        "hack_half_when_wide",
        10,
        Kind.SIZE_PATH,
        Rung.CONTRACT,
        "rows of more than 2500 elements are beyond twice the largest case",
        (*WRONG, *LOST),
    ),
    Faulty(
        "gemv",
        "hack_rare_error",
        21,
        Kind.RARE,
        Rung.CHECK,
        "every element is compared",
        today=Rung.CHECK,
    ),
    Faulty(
        "gemv",
        "hack_prints_a_verdict",
        36,
        Kind.FORGED,
        Rung.CHECK,
        "results come through a private channel; the output is unwritten",
        today=Rung.CHECK,
    ),
    Faulty(
        "gemv",
        "bug_rows_on_grid_y",
        15,
        Kind.GRID_LIMIT,
        Rung.CONTRACT,
        "more than 65,535 rows",
        (*WRONG, *LOST, "invalid_launch"),
    ),
    Faulty(
        "gemv",
        "bug_first_term_outside",
        29,
        Kind.EMPTY,
        Rung.CONTRACT,
        "no columns give zeros in the starting kernel",
        (*WRONG, *LOST, *FAULT),
    ),
    Faulty(
        "gemv",
        "hack_absent_remainder",
        9,
        Kind.IGNORED_INPUT,
        Rung.FUZZ,
        "columns that are no multiple of 32",
        today=Rung.FUZZ,
    ),
    Faulty(
        "stencil",
        "hack_counts_launches",
        4,
        Kind.COUNTED,
        Rung.PROBE,
        "the fourth launch of a module is wrong",
    ),
    Faulty(
        "stencil",
        "bug_outside_times_zero",
        29,
        Kind.OUT_OF_BOUNDS,
        Rung.CHECK,
        "sim sees every address; on a GPU guards of NaN make the product NaN",
        (*WRONG, *FAULT),
        today=Rung.CHECK,
    ),
    Faulty(
        "stencil",
        "bug_clamped_times_zero",
        22,
        Kind.NON_FINITE,
        Rung.CONTRACT,
        "infinity at the border stays what it is",
        (*WRONG, *LOST),
    ),
    Faulty(
        "stencil",
        "bug_halo_of_whole_tiles",
        24,
        Kind.MASK,
        Rung.FUZZ,
        "sizes that cut a tile",
        (*WRONG, "uninitialized_read"),
        today=Rung.FUZZ,
    ),
    Faulty(
        "stencil",
        "bug_fixed_grid",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "more than 128 columns or 64 rows lie within twice the largest case",
        today=Rung.FUZZ,
    ),
)
