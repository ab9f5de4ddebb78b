"""Tolerances that would let pass what is no result: each kind, and kernels of which nothing must be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, InOut, Out, Scalar, bf16, case, f16, f32, f64, i32, integers, kernel, uniform
from pytest_cudaopt.criterion import Criterion
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.load import kernels_in
from pytest_cudaopt.loose_tolerance import LooseKind, LooseTolerance, loose_tolerances
from pytest_cudaopt.prepare import prepare

ROOT = Path(__file__).parents[1]
SOME = (case(n=300), case(n=1))


def tripled(dtype: DType = f32, out: DType | None = None, cases: Any = SOME, **declared: Any) -> Kernel:
    @kernel("k.cu", cases=cases, **declared)
    def k(x=In(dtype, "n"), y=Out(out or dtype, "n"), n=i32):
        y[...] = 3 * x

    return k


def found(kernel: Kernel, device: Device) -> tuple[LooseTolerance, ...]:
    return loose_tolerances(prepare(kernel, one, device) for one in kernel.cases)


def kinds(kernel: Kernel, device: Device) -> list[str]:
    return [one.kind.value for one in found(kernel, device)]


ROUNDED = ["rounded_outputs", "rounded_inputs"]


@pytest.mark.parametrize(
    ("dtype", "declared", "expected"),
    [
        (f32, {}, []),
        (f32, {"rtol": 1e-4, "atol": 1e-5}, []),
        (f32, {"rtol": 1e-3}, ROUNDED),
        (f32, {"rtol": 1e-2}, ROUNDED),
        (f32, {"atol": 1e-2}, ROUNDED),
        (f32, {"atol": "1e-2 * sqrt(n)"}, ROUNDED),
        (f64, {}, []),
        (f64, {"rtol": 1e-9}, []),
        (f64, {"rtol": 1e-6}, ROUNDED),
        (f16, {}, []),
        (f16, {"rtol": 1e-2}, []),
        (f16, {"rtol": 0.1}, ROUNDED),
        (bf16, {}, []),
        (bf16, {"rtol": 0.1}, ROUNDED),
    ],
    ids=str,
)
def test_a_tolerance_that_one_precision_less_would_meet_is_too_loose(
    dtype: DType, declared: dict[str, Any], expected: list[str], sim: Device
) -> None:
    assert kinds(tripled(dtype, **declared), sim) == expected


def test_it_says_which_tolerance_would_notice(sim: Device) -> None:
    rounded, _ = found(tripled(rtol=1e-2), sim)
    assert rounded == LooseTolerance(
        LooseKind.ROUNDED_OUTPUTS,
        "y",
        "n300",
        "'y': the result rounded to bf16 would pass rtol=0.01, atol=1e-06; "
        "rtol=0.0001, atol=1e-06 would notice it",
        Criterion(1e-4, 1e-6),
    )
    # 1e-3 would notice this one, but not halves.
    (finer, _) = found(tripled(rtol=1e-3), sim)
    assert "rounded to f16 would pass" in finer.message
    assert kinds(tripled(rtol=rounded.tight.rtol if rounded.tight else 1), sim) == []


def test_the_tolerance_of_an_output_is_its_own(sim: Device) -> None:
    @kernel("k.cu", cases=SOME)
    def k(
        x=In(f32, "n"),
        y=Out(f32, "n", rtol=1e-2),
        z=Out(f32, "n"),
        w=Out(f32, "n", ulp=100_000),
        v=Out(f32, "n", exact=True),
        n=i32,
    ):
        y[...] = z[...] = w[...] = 3 * x
        v[...] = x

    assert {(one.output, one.kind.value) for one in found(k, sim)} == {(o, r) for o in "yw" for r in ROUNDED}
    assert "ulp=1e+03" in next(one.message for one in found(k, sim) if one.output == "w")


@pytest.mark.parametrize(("dtype", "out"), [(f16, f32), (bf16, f32), (f16, f16)], ids=str)
def test_halves_in_are_not_asked_for_more_than_halves(dtype: DType, out: DType, sim: Device) -> None:
    assert kinds(tripled(dtype, out, rtol=2e-3 if dtype is f16 else 1.6e-2), sim) == []
    assert kinds(tripled(dtype, out, rtol=0.1), sim)[0] == "rounded_outputs"


def test_zeros_that_would_pass_are_told(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=300)], atol=1e-3)
    def small(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 1e-4 * x

    zeros = next(one for one in found(small, sim) if one.kind is LooseKind.ZEROS)
    assert zeros.message == (
        "'y': zeros would pass rtol=1e-05, atol=0.001; rtol=1e-05, atol=0.0001 would notice it"
    )


def test_halves_whose_default_tolerance_is_larger_than_they_are_are_told(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=300)])
    def small(x=In(f16, "n"), y=Out(f16, "n"), n=i32):
        y[...] = 1e-4 * x

    assert "zeros" in kinds(small, sim)


def test_an_output_of_zeros_is_no_sign(sim: Device) -> None:
    @kernel("k.cu", cases=SOME, atol=1e-5)
    def k(x=In(f32, "n"), y=Out(f32, "n"), flags=InOut(i32, "n", values=integers(0, 0)), n=i32):
        y[...] = np.maximum(x - 5, 0) + x

    assert kinds(k, sim) == []


def test_an_output_that_barely_depends_on_its_inputs_is_told(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=5000), case(n=100_000)], atol=2e-2)
    def mean(x=In(f32, "n", values=uniform(0, 1)), y=Out(f32, 1), n=i32):
        y[0] = x.mean()

    assert [
        (one.kind.value, one.case_id) for one in found(mean, sim) if one.kind is LooseKind.OTHER_INPUTS
    ] == [
        ("other_inputs", "n5000"),
        ("other_inputs", "n100000"),
    ]


def test_integers_that_other_inputs_give_as_well_are_told(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=300)])
    def signs(x=In(f32, "n"), y=Out(i32, "n", atol=1), n=i32):
        y[...] = x > 0

    assert kinds(signs, sim) == ["zeros", "other_inputs"]
    assert found(signs, sim)[0].tight == Criterion()


def test_an_output_that_does_not_depend_on_its_inputs_is_told(sim: Device) -> None:
    @kernel("k.cu", cases=SOME)
    def k(x=In(f32, "n"), y=Out(f32, "n"), z=Out(f32, "n", exact=True), n=i32):
        y[...] = x
        z[...] = 0 * x + 1

    assert [(one.kind.value, one.output, one.tight) for one in found(k, sim)] == [
        ("any_inputs", "z", None)
    ] * 2
    assert found(k, sim)[0].message == (
        "'z': the result does not depend on the inputs, so no comparison can tell whether they were read"
    )


def test_short_rows_may_be_constant(sim: Device) -> None:
    @kernel("k.cu", cases=[case(rows=40, cols=1), case(rows=40, cols=9)])
    def softmax(x=In(f32, "rows", "cols"), y=Out(f32, "rows", "cols"), rows=i32, cols=i32):
        y[...] = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)

    assert kinds(softmax, sim) == []


def scaled(*sizes: int, atol: str) -> Kernel:
    @kernel("k.cu", cases=[case(n=n) for n in sizes], atol=atol)
    def total(x=In(f32, "n", values=uniform(1, 2)), y=Out(f32, 1), n=i32):
        y[0] = x.sum()

    return total


def test_one_number_is_judged_by_what_rounding_may_do_to_it(sim: Device) -> None:
    assert kinds(scaled(10, 2000, atol="0"), sim) == []
    assert ROUNDED[0] in kinds(scaled(10, 2000, atol="0.01 * n"), sim)


def test_few_elements_count_unless_a_case_as_large_notices(sim: Device) -> None:
    smaller = found(scaled(10, 2000, atol="0.1"), sim)
    # Loose for a sum of 15, not for one of 3000.
    assert [one.case_id for one in smaller] == []
    larger = found(scaled(10, 2000, atol="n * n / 400000"), sim)
    assert {one.case_id for one in larger} == {"n2000"}


def test_what_somebody_else_judges_is_left_to_them(sim: Device) -> None:
    judged = tripled(rtol=1e-2, accept=lambda x, y: abs(y - 3 * x) > 1e-6)
    assert kinds(judged, sim) == []


def test_elements_that_nobody_compares_do_not_count(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=300)], rtol=1e-2)
    def k(x=In(f32, "n"), y=Out(f32, "n", unwritten="any"), n=i32):
        y[:2] = x[:2]

    # Two are left, and rounding them may be exact; nothing of the rest is looked at.
    assert set(kinds(k, sim)) <= {"rounded_outputs"}


def test_a_reference_that_refuses_other_inputs_is_asked_no_more(sim: Device) -> None:
    asked: list[float] = []

    @kernel("k.cu", cases=[case(n=300)], rtol=1e-2)
    def k(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        asked.append(float(x[0]))
        if x[0] != asked[0]:
            raise ValueError("other inputs")
        y[...] = x

    assert kinds(k, sim) == ["rounded_outputs"]


def test_a_scalar_does_not_make_a_kernel_less_precise(sim: Device) -> None:
    @kernel("k.cu", cases=[case(n=300)], rtol=1e-6)
    def k(x=In(f64, "n"), y=Out(f64, "n"), n=i32, a=Scalar(f16, 0.5)):
        y[...] = x / 3

    assert kinds(k, sim) == ROUNDED


FILES = (
    *sorted((ROOT / "example_kernels").glob("test_*.py")),
    *sorted((ROOT / "tests/kernels").glob("test_*.py")),
    ROOT / "tests/zoo/faulty_kernels.py",
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_said_of_kernels_with_a_tolerance_that_means_something(file: Path, sim: Device) -> None:
    for name, declared in kernels_in(file).items():
        assert [str(one) for one in found(declared, sim)] == [], name
