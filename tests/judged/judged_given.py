"""Five operations more, whose kernels the checks of `sim` are tested with too, with friendly cases alone."""

from pathlib import Path

import numpy as np
from faulty_table import FAULT, LOST, WRONG, Faulty, Kind, Rung

from pytest_cudaopt import In, Out, Scratch, case, f32, i32, i64, integers, kernel

FOLDER = Path(__file__).parent.parent / "zoo" / "faulty"


@kernel(
    "../zoo/faulty/conv1d/correct.cu",
    launch="grid=(max(1, cdiv(n, 128))) block=(128) shared=(128 + taps - 1) * 4",
    cases=[case(n=1024, taps=3), case(n=4096, taps=5), case(n=1000, taps=7)],
    rtol=1e-5,
    atol=1e-5,
)
def conv1d(x=In(f32, "n"), w=In(f32, "taps"), y=Out(f32, "n"), n=i32, taps=i32):
    left = (taps - 1) // 2
    y[...] = np.convolve(np.pad(x, (left, taps - 1 - left)), w[::-1], mode="valid")


@kernel(
    "../zoo/faulty/gather/correct.cu",
    launch="grid=(max(1, N)) block=(128)",
    cases=[case(V=1000, D=64, N=256), case(V=512, D=128, N=100)],
    rtol=0.0,
    atol=0.0,
)
def gather(
    table=In(f32, "V", "D"),
    idx=In(i32, "N", values=integers(0, "V - 1")),
    out=Out(f32, "N", "D"),
    V=i32,
    D=i32,
    N=i32,
):
    out[...] = table[idx]


@kernel(
    "../zoo/faulty/relu/correct.cu",
    entry="relu_rows",
    launch="grid=(max(1, min(cdiv(rows * cols, 256), 2048))) block=(256)",
    cases=[case(rows=64, cols=64, ldx=64), case(rows=128, cols=256, ldx=256)],
    rtol=0.0,
    atol=0.0,
)
def relu(x=In(f32, "rows", "ldx"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32, ldx=i32):
    y[...] = np.maximum(x[:, :cols], 0)


@kernel(
    "../zoo/faulty/scan/correct.cu",
    entry="scan_rows",
    launch="grid=(rows) block=(256)",
    cases=[case(rows=64, cols=128), case(rows=32, cols=256)],
)
def scan(x=In(i32, "rows", "cols", values=integers(-9, 9)), y=Out(i64, "rows", "cols"), rows=i32, cols=i32):
    y[...] = x.cumsum(axis=1)


@kernel(
    "../zoo/faulty/sum/correct.cu",
    entry="sum_all",
    launch="grid=(max(1, min(cdiv(n, 1024), 128))) block=(256)",
    cases=[case(n=4096), case(n=65536), case(n=262144)],
    rtol=2e-6,
    atol=1e-4,
)
def sum(
    x=In(f32, "n"),
    partial=Scratch(f32, "max(1, min(cdiv(n, 1024), 128))"),
    out=Out(f32, 1),
    n=i32,
):
    out[0] = x.sum()


# Where a kernel has a rule of its own.
LAUNCHES = {
    "sum/bug_power_of_two_tree": (
        "grid=(max(1, min(cdiv(n, 1024), 128))) block=(max(32, min(256, cdiv(n, 32) * 32)))"
    )
}
FAULTY = (
    Faulty("conv1d", "bug_even_taps", 24, Kind.SIZES, Rung.FUZZ, "an even number of taps"),
    Faulty("conv1d", "bug_halo_once", 15, Kind.SIZES, Rung.CONTRACT, "a halo larger than the block", LOST),
    Faulty("conv1d", "bug_missing_sync", 31, Kind.RACE, Rung.CHECK, "a barrier is missing", today=Rung.CHECK),
    Faulty(
        "conv1d",
        "bug_overread_times_zero",
        29,
        Kind.OUT_OF_BOUNDS,
        Rung.CHECK,
        "neighbours times zero",
        FAULT,
        today=Rung.CHECK,
    ),
    Faulty("conv1d", "hack_pointer_cache", 2, Kind.CACHED, Rung.PROBE, "the same addresses again", LOST),
    Faulty("gather", "bug_negative_index", 14, Kind.INTEGER_RANGE, Rung.FUZZ, "from the end", FAULT),
    Faulty("gather", "bug_offset_int32", 15, Kind.NARROW_INDEX, Rung.CONTRACT, "2^31 elements", FAULT),
    Faulty("gather", "bug_one_element_per_thread", 15, Kind.SIZES, Rung.FUZZ, "more columns than threads"),
    Faulty("gather", "bug_vector_columns", 24, Kind.SIZES, Rung.FUZZ, "an odd number of columns"),
    Faulty("relu", "bug_ignores_stride", 14, Kind.STRUCTURE, Rung.FUZZ, "rows that are not dense"),
    Faulty("relu", "bug_mask_multiply", 22, Kind.SUBNORMAL, Rung.FUZZ, "minus zero, NaN", (*WRONG, *LOST)),
    Faulty("relu", "bug_nan_swallowed", 22, Kind.NON_FINITE, Rung.FUZZ, "NaN in, zero out", (*WRONG, *LOST)),
    Faulty("relu", "bug_narrow_row_index", 15, Kind.NARROW_INDEX, Rung.CONTRACT, "65536 rows", LOST),
    Faulty("relu", "hack_noop", 5, Kind.UNWRITTEN, Rung.CHECK, "old memory may hold it", today=Rung.CHECK),
    Faulty("scan", "bug_carry_in_last_thread", 24, Kind.SIZES, Rung.FUZZ, "more than one chunk"),
    Faulty("scan", "bug_chunk_race", 31, Kind.RACE, Rung.FUZZ, "more than one chunk"),
    Faulty("scan", "bug_int_carry", 18, Kind.INTEGER_RANGE, Rung.CONTRACT, "sums beyond 32 bits", LOST),
    Faulty("scan", "bug_sweep_race", 31, Kind.RACE, Rung.CHECK, "a barrier is missing", today=Rung.CHECK),
    Faulty(
        "scan",
        "hack_zero_inputs",
        25,
        Kind.INPUT_WRITTEN,
        Rung.CHECK,
        "the reference asked afterwards agrees",
        ("write_to_input",),
        today=Rung.CHECK,
    ),
    Faulty("sum", "bug_arrival_order", 32, Kind.REPEATABILITY, Rung.PROBE, "the order of blocks", LOST),
    Faulty(
        "sum",
        "bug_output_not_zeroed",
        28,
        Kind.UNINITIALISED,
        Rung.CHECK,
        "added to what was there",
        today=Rung.CHECK,
    ),
    Faulty("sum", "bug_power_of_two_tree", 15, Kind.SIZES, Rung.FUZZ, "blocks of 96 threads"),
    Faulty("sum", "bug_shuffle_tail", 31, Kind.MASK, Rung.FUZZ, "absent lanes", ("absent_lane",)),
    Faulty("sum", "bug_ticket_not_reset", 4, Kind.COUNTED, Rung.PROBE, "launched again", LOST),
    Faulty("sum", "bug_warp_synchronous", 31, Kind.RACE, Rung.CHECK, "lanes in step", today=Rung.CHECK),
    Faulty(
        "sum",
        "hack_known_sizes",
        17,
        Kind.SIZES,
        Rung.CHECK,
        "the same sizes, other values",
        today=Rung.CHECK,
    ),
)
