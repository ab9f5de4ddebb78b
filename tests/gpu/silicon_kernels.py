"""Right and wrong kernels, declared for both devices. The wrong ones are modelled on bugs of real projects.

Kernels whose only fault is a race are left out: silicon gives the right answer to most of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_cudaopt import In, Out, Scratch, case, f32, i32, i64, integers, kernel, normal
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.values import ValueCallable, ValueSource

Values = ValueSource | ValueCallable
# As bugs of real projects are, in one place for both devices.
FAULTY = "../zoo/faulty"
BLOCKS = "max(1, min(cdiv(n, 1024), 128))"


def conv1d(source: str, *cases: Case) -> Kernel:
    """Declare a one-dimensional convolution with zero padding."""

    @kernel(
        f"{FAULTY}/conv1d/{source}.cu",
        cases=cases,
        launch="grid=(max(1, cdiv(n, 128))) block=(128) shared=4*(128+taps-1)",
        rtol=1e-5,
        atol=1e-4,
    )
    def conv1d(
        x=In(f32, "n", values=normal()), w=In(f32, "taps", values=normal()), y=Out(f32, "n"), n=i32, taps=i32
    ):
        left = (taps - 1) // 2
        padded = np.concatenate([np.zeros(left), x, np.zeros(taps - 1 - left)])
        y[...] = sum(w[k] * padded[k : k + n] for k in range(taps))

    return conv1d


def gather(source: str, *cases: Case) -> Kernel:
    """Declare a lookup of rows; negative indices count from the end."""

    @kernel(f"{FAULTY}/gather/{source}.cu", cases=cases, launch="grid=(max(1, N)) block=(128)")
    def gather(
        table=In(f32, "V", "D", values=normal()),
        idx=In(i32, "N", values=integers("0 - 2", "V - 1")),
        out=Out(f32, "N", "D", exact=True),
        V=i32,
        D=i32,
        N=i32,
    ):
        out[...] = table[idx]

    return gather


def relu(source: str, *cases: Case, values: Values | None = None) -> Kernel:
    """Declare a rectifier over rows of a wider array; a NaN stays one."""

    @kernel(
        f"{FAULTY}/relu/{source}.cu",
        cases=cases,
        entry="relu_rows",
        launch="grid=(max(1, min(cdiv(rows * cols, 256), 2048))) block=(256)",
    )
    def relu(
        x=In(f32, "rows", "ldx", values=values or normal()),
        y=Out(f32, "rows", "cols", exact=True),
        rows=i32,
        cols=i32,
        ldx=i32,
    ):
        v = x[:, :cols]
        y[...] = np.where(v > 0, v, np.where(np.isnan(v), v, 0))

    return relu


def scan(source: str, *cases: Case, values: Values | None = None) -> Kernel:
    """Declare a prefix sum along rows."""

    @kernel(f"{FAULTY}/scan/{source}.cu", cases=cases, entry="scan_rows", launch="grid=(rows) block=(256)")
    def scan(
        x=In(i32, "rows", "cols", values=values or integers(-9, 9)),
        y=Out(i64, "rows", "cols"),
        rows=i32,
        cols=i32,
    ):
        y[...] = np.cumsum(x, axis=1, dtype=np.int64)

    return scan


def sum_all(source: str, *cases: Case, block: str = "256") -> Kernel:
    """Declare a sum in one launch: the block that arrives last adds up the others' sums."""

    @kernel(
        f"{FAULTY}/sum/{source}.cu",
        cases=cases,
        launch=f"grid=({BLOCKS}) block=({block})",
        rtol=2e-6,
        atol=1e-4,
    )
    def sum_all(
        x=In(f32, "n", values=normal()), partial=Scratch(f32, BLOCKS), out=Out(f32, 1), n=i32
    ):  # fmt: skip
        out[...] = x.sum()

    return sum_all


def with_specials(rng: np.random.Generator, sizes: dict[str, int], drawn: dict[str, Any]) -> Any:
    """Return normal values with a few NaNs and infinities among them."""
    values = rng.normal(size=(sizes["rows"], sizes["ldx"])).astype(np.float32)
    values.flat[[5, 400]] = np.nan
    values.flat[[7, 300]] = -np.inf
    values.flat[9] = np.inf
    return values


def right_kernels() -> list[Kernel]:
    """Return the right kernels at sizes that exercise their edges, one of them measured."""
    return [
        conv1d("correct", case(n=1000, taps=7), case(n=1000, taps=4), case(n=65536, taps=33, measure=True)),
        gather("correct", case(V=100, D=3, N=64), case(V=30000, D=128, N=4096, measure=True)),
        relu(
            "correct",
            case(rows=64, cols=48, ldx=64),
            case(rows=2048, cols=1024, ldx=1024, measure=True),
            values=with_specials,
        ),
        scan("correct", case(rows=4, cols=700), case(rows=512, cols=1024, measure=True)),
        sum_all("correct", case(n=1), case(n=4099), case(n=1 << 20, measure=True)),
    ]


@dataclass(frozen=True)
class Wrong:
    """A kernel with a bug that its case brings to light, and how its judgement must end on every device."""

    kernel: Kernel
    status: Status
    kind: FindingKind | None = None

    @property
    def name(self) -> str:
        return f"{self.kernel.name}-{self.kernel.source.stem}-{self.kernel.case_ids[0]}"


def wrong_kernels() -> list[Wrong]:
    """Return kernels with bugs."""
    large = integers(1_000_000_000, 2_000_000_000)
    wide = case(rows=64, cols=48, ldx=64)
    square = case(rows=64, cols=64, ldx=64)
    shrinking = "max(32, min(256, cdiv(n, 32) * 32))"
    wrong, fault = Status.WRONG_RESULT, Status.FAULT
    return [
        Wrong(conv1d("bug_even_taps", case(n=1000, taps=4)), wrong),
        # Unwritten shared memory holds NaNs on silicon.
        Wrong(conv1d("bug_halo_once", case(n=1000, taps=201)), wrong),
        Wrong(conv1d("bug_overread_times_zero", case(n=1000, taps=7)), fault, FindingKind.ILLEGAL_ADDRESS),
        # In front of an array is no unmapped page, only a zone of NaNs.
        Wrong(
            gather("bug_negative_index", case(V=100, D=8, N=1024)),
            fault,
            FindingKind.ILLEGAL_ADDRESS,
        ),
        Wrong(gather("bug_one_element_per_thread", case(V=100, D=200, N=16)), wrong),
        Wrong(gather("bug_vector_columns", case(V=100, D=1, N=64)), wrong),
        Wrong(gather("bug_vector_columns", case(V=100, D=3, N=64)), fault, FindingKind.MISALIGNED),
        Wrong(relu("bug_ignores_stride", wide), wrong),
        Wrong(relu("bug_nan_swallowed", square, values=with_specials), wrong),
        Wrong(relu("bug_mask_multiply", square, values=with_specials), wrong),
        Wrong(relu("bug_narrow_row_index", case(rows=66000, cols=2, ldx=2)), wrong),
        Wrong(relu("hack_noop", square), wrong),
        Wrong(scan("bug_int_carry", case(rows=4, cols=700), values=large), wrong),
        Wrong(scan("bug_carry_in_last_thread", case(rows=4, cols=300)), wrong),
        Wrong(scan("hack_zero_inputs", case(rows=64, cols=128)), fault, FindingKind.WRITE_TO_INPUT),
        Wrong(sum_all("bug_output_not_zeroed", case(n=4096)), wrong),
        Wrong(sum_all("bug_power_of_two_tree", case(n=96), block=shrinking), wrong),
        Wrong(sum_all("hack_known_sizes", case(n=4096)), wrong),
    ]
