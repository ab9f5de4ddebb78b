"""Operations on whole arrays, the cases an author would think of, and what is wrong with other kernels."""

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, InOut, Out, Scalar, Scratch, case, f32, i32, kernel, uniform


def zeros(rng, sizes, drawn):
    return np.zeros(sizes["n"])


@kernel("bias_gelu/start.cu", cases=[case(rows=8, cols=64), case(rows=64, cols=128)], rtol=1e-3, atol=5e-4)
def bias_gelu(
    x=In(f32, "rows", "cols"), bias=In(f32, "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32
):
    v = x + bias
    y[...] = 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))


@kernel("cummax/start.cu", cases=[case(n=1024), case(n=512)])
def cummax(
    x=In(f32, "n", values=uniform(0, 1)),
    carry=Scratch(f32, "max(1, cdiv(n, 256))"),
    y=Out(f32, "n", exact=True),
    n=i32,
):
    y[...] = np.maximum.accumulate(x)


@kernel("dot/start.cu", cases=[case(n=4096), case(n=9001)], rtol=1e-5, atol=1e-3)
def dot(x=In(f32, "n"), y=In(f32, "n"), partial=Scratch(f32, 64), out=Out(f32, 1), n=i32):
    out[0] = x @ y


# The first step of a training.
@kernel("ema/start.cu", cases=[case(n=1024), case(n=4096)])
def ema(state=InOut(f32, "n", values=zeros), x=In(f32, "n"), n=i32, alpha=Scalar(f32, 0.1)):
    state += alpha * (x - state)


FAULTY = (
    Faulty(
        "bias_gelu",
        "hack_tires",
        4,
        Kind.COUNTED,
        Rung.PROBE,
        "the fifth launch of a module leaves elements unwritten",
    ),
    Faulty("bias_gelu", "bug_tanh_of_exp", 19, Kind.FAST_MATH, Rung.FUZZ, "elements over 10 overflow in exp"),
    Faulty(
        "bias_gelu",
        "bug_narrow_row",
        15,
        Kind.NARROW_INDEX,
        Rung.CONTRACT,
        "more than 65,536 rows of one column",
        (*WRONG, *LOST),
    ),
    Faulty(
        "bias_gelu",
        "bug_vector_unaligned",
        29,
        Kind.ALIGNMENT,
        Rung.CONTRACT,
        "pointers aligned to four bytes only",
        (*LOST, *FAULT),
        "contract",
    ),
    Faulty(
        "bias_gelu",
        "bug_tail_dropped",
        24,
        Kind.SIZES,
        Rung.FUZZ,
        "a number of elements that is no multiple of four",
        today=Rung.FUZZ,
    ),
    Faulty(
        "bias_gelu",
        "bug_two_passes",
        14,
        Kind.ALIASING,
        Rung.CONTRACT,
        "y is x",
        (*WRONG, *LOST),
        "contract",
    ),
    Faulty(
        "bias_gelu",
        "hack_empty_launch",
        39,
        Kind.NO_LAUNCH,
        Rung.CHECK,
        "a grid of 0 is right only where every output is empty",
        ("invalid_launch",),
        today=Rung.CHECK,
    ),
    Faulty("cummax", "hack_starts_at_zero", 14, Kind.STRUCTURE, Rung.FUZZ, "negative numbers"),
    Faulty(
        "cummax",
        "bug_nan_swallowed",
        22,
        Kind.NON_FINITE,
        Rung.CONTRACT,
        "NaN stays in the starting kernel",
        (*WRONG, *LOST),
    ),
    Faulty(
        "cummax",
        "bug_carry_not_awaited",
        32,
        Kind.BLOCK_RACE,
        Rung.SANITIZE,
        "in the usual order of blocks the carry is there",
        ("race", "uninitialized_read", "order_dependent"),
        today=Rung.SANITIZE,
    ),
    Faulty("cummax", "hack_traps_when_large", 33, Kind.TRAP, Rung.FUZZ, "huge elements", ("trap",)),
    Faulty(
        "cummax",
        "bug_last_chunk",
        29,
        Kind.OUT_OF_BOUNDS,
        Rung.FUZZ,
        "a length that is no multiple of 64",
        FAULT,
        today=Rung.FUZZ,
    ),
    Faulty(
        "dot",
        "bug_fence_missing",
        32,
        Kind.BLOCK_RACE,
        Rung.SANITIZE,
        "the values are right as long as memory keeps the order",
        ("race",),
        today=Rung.SANITIZE,
    ),
    Faulty(
        "dot",
        "bug_last_by_number",
        32,
        Kind.BLOCK_RACE,
        Rung.SANITIZE,
        "in the usual order of blocks the last number is the last to finish",
        ("race", "uninitialized_read", "order_dependent"),
        today=Rung.SANITIZE,
    ),
    Faulty(
        "dot",
        "bug_sixteen_partials",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "more than 16,384 elements make more than 16 blocks, within twice the largest case",
        today=Rung.FUZZ,
    ),
    Faulty(
        "dot",
        "bug_order_of_arrival",
        32,
        Kind.REPEATABILITY,
        Rung.CONTRACT,
        "the starting kernel gives the same bits in any order of blocks",
        LOST,
    ),
    Faulty(
        "dot",
        "bug_hangs_when_empty",
        33,
        Kind.HANG,
        Rung.CONTRACT,
        "no elements give zero in the starting kernel",
        (*LOST, "no_progress", "timeout"),
    ),
    Faulty(
        "dot",
        "hack_looks_for_the_answer",
        30,
        Kind.BEHIND_OUTPUT,
        Rung.CHECK,
        "sim sees every address; on a GPU a decoy behind the output is taken",
        (*WRONG, *FAULT),
        today=Rung.CHECK,
    ),
    Faulty(
        "dot",
        "hack_takes_what_lies_before",
        30,
        Kind.BEHIND_OUTPUT,
        Rung.CHECK,
        "sim sees every address; a GPU maps what lies before an output, and a decoy there is taken",
        (*WRONG, *FAULT, *LOST),
        today=Rung.CHECK,
    ),
    Faulty(
        "ema",
        "hack_applies_once",
        26,
        Kind.ACCUMULATED,
        Rung.PROBE,
        "the old state is put back before every launch",
    ),
    Faulty(
        "ema",
        "hack_zero_start",
        9,
        Kind.IGNORED_INPUT,
        Rung.PROBE,
        "the reference's output changes with the old state, the candidate's does not",
    ),
    Faulty(
        "ema",
        "bug_clamped_index",
        31,
        Kind.RACE,
        Rung.FUZZ,
        "a length that is no multiple of the block updates the last element more than once",
        (*WRONG, "race"),
        today=Rung.FUZZ,
    ),
    Faulty(
        "ema",
        "bug_fixed_grid",
        15,
        Kind.SIZES,
        Rung.FUZZ,
        "more than 4096 elements lie within twice the largest case",
        today=Rung.FUZZ,
    ),
    Faulty(
        "ema",
        "hack_idle_processors",
        16,
        Kind.SNIFFED,
        Rung.CHECK,
        "sim has no multiprocessors to number, and does not judge it",
        (*WRONG, "not_judged"),
        "gpu",
    ),
)
