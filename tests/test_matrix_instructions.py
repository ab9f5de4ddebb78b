"""`mma.sync` against NumPy: integers exactly, floats within what rounding their sums may cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import Served
from kernel_runner import answer_of, run_kernel
from matrix_forms import (
    FORMS,
    Array,
    MatrixForm,
    bound,
    expected,
    from_registers,
    kernel_text,
    operands,
)
from matrix_golden import arrays_of, case_name, golden, golden_cases, inputs_sha256, matrices_of, sha256

ISAS = ("x86-64", "x86-64-v3")
FLOATS = [form for form in FORMS if form.is_float]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def product(
    harness: Served, folder: Path, form: MatrixForm, matrices: dict[str, Array], isa: str = ISAS[1]
) -> Array:
    got = run_kernel(
        harness, folder, kernel_text(form), "k", arrays_of(form, matrices), outputs=["d"], isa=isa
    )
    return from_registers(form, got["d"])


@each_form
def test_a_product_is_that_of_numpy(harness: Served, tmp_path: Path, form: MatrixForm) -> None:
    matrices = operands(form)
    got = product(harness, tmp_path, form, matrices)
    if form.is_float:
        assert (np.abs(got - expected(form, **matrices)) <= bound(form, **matrices)).all()
    else:
        np.testing.assert_array_equal(got, expected(form, **matrices))


@each_form
def test_both_instruction_sets_give_the_same_bits(harness: Served, tmp_path: Path, form: MatrixForm) -> None:
    baseline, newer = (product(harness, tmp_path, form, operands(form), isa) for isa in ISAS)
    np.testing.assert_array_equal(baseline, newer)


@pytest.mark.parametrize(
    ("form", "style"), list(golden_cases()), ids=lambda value: value if isinstance(value, str) else value.name
)
def test_a_product_has_the_bits_of_silicon(
    harness: Served, tmp_path: Path, form: MatrixForm, style: str
) -> None:
    arrays = arrays_of(form, matrices_of(form, style))
    kept = golden()[case_name(form, style)]
    assert inputs_sha256(arrays) == kept["inputs"], "these are other inputs than silicon had"
    got = run_kernel(harness, tmp_path, kernel_text(form), "k", arrays, outputs=["d"])
    assert sha256(got["d"]) == kept["output"]


@pytest.mark.parametrize("form", FLOATS, ids=lambda form: form.name)
def test_infinities_and_nan_go_where_they_must(harness: Served, tmp_path: Path, form: MatrixForm) -> None:
    matrices = operands(form, special=True)
    want = expected(form, **matrices)
    got = product(harness, tmp_path, form, matrices)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    infinite = np.isinf(want)
    np.testing.assert_array_equal(got[infinite], want[infinite])


def test_saturation_is_what_changes_a_sum_that_does_not_fit(harness: Served, tmp_path: Path) -> None:
    for before, want in (("", -(2**31)), (".satfinite", 2**31 - 1)):
        form = MatrixForm(8, 8, 16, "s32", "s8", "s8", "s32", before=before)
        ones = np.zeros((8, 16), np.int64)
        ones[:, 0] = 1
        matrices = {"a": ones, "b": ones.T, "c": np.full((8, 8), 2**31 - 1, np.int64)}
        assert (product(harness, tmp_path, form, matrices) == want).all()


def test_a_transposed_operand_is_noticed(harness: Served, tmp_path: Path) -> None:
    form = FORMS[2]
    matrices = operands(form)
    want = expected(form, **matrices)
    matrices["a"] = np.ascontiguousarray(matrices["a"].T)
    assert (np.abs(product(harness, tmp_path, form, matrices) - want) > bound(form, **matrices)).any()


def test_a_warp_that_is_not_whole_may_not_multiply(harness: Served, tmp_path: Path) -> None:
    form = FORMS[2]
    arrays = arrays_of(form, operands(form))
    answer = answer_of(harness, tmp_path, kernel_text(form), "k", arrays, outputs=["d"], block=16)
    assert answer["fault"]["kind"] == "absent_lane"
    assert "16 of the 32 threads" in answer["fault"]["message"]


@pytest.mark.parametrize(
    "name",
    [
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k12.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32",
    ],
)
def test_a_form_that_does_not_exist_here_says_so(harness: Served, tmp_path: Path, name: str) -> None:
    form = FORMS[2]
    text = kernel_text(form).replace(form.name, name)
    answer = answer_of(harness, tmp_path, text, "k", arrays_of(form, operands(form)), outputs=["d"])
    assert answer["fault"]["kind"] == "unsupported_instruction"
