"""Batch invariance: asked for with `batch=`, a row's bits must not depend on what else is in the batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import In, InOut, Out, Scalar, case, f32, i32, indices, kernel, offsets
from pytest_cudaopt.batch import parts_of
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.from_files.fields import Field
from pytest_cudaopt.from_files.signature import read_signature
from pytest_cudaopt.from_files.written import signature
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.properties import Property

SUMS = """// @launch grid=(rows) block=(32)
extern "C" __global__ void sums(const float* x, const float* w, float* y, int rows, int cols) {
    int row = blockIdx.x;
    if (threadIdx.x) return;
    float sum = 0.0f;
    for (int i = 0; i < cols; ++i) sum += x[row * cols + i] * w[i];
    y[row] = sum;
}
"""
LOOP = "for (int i = 0; i < cols; ++i) sum += x[row * cols + i] * w[i];"
BACKWARDS = LOOP.replace("int i = 0; i < cols; ++i", "int i = cols - 1; i >= 0; --i")
# Right within any tolerance, but a few rows are added up in another order than many.
ONE_OTHERWISE = f"if (rows == 1) {BACKWARDS} else {LOOP}"
FEW_OTHERWISE = f"if (rows < 20) {BACKWARDS} else {LOOP}"
BY_PLACE = f"if (row % 2) {BACKWARDS} else {LOOP}"


def summing(folder: Path, source: str = SUMS, **declared: Any) -> Kernel:
    (folder / "sums.cu").write_text(source)

    @kernel(
        str(folder / "sums.cu"),
        cases=[case(rows=3, cols=200), case(rows=24, cols=64)],
        rtol=1e-3,
        atol=1e-3,
        ignored=["non_finite", "magnitudes"],
        **declared,
    )
    def sums(x=In(f32, "rows", "cols"), w=In(f32, "cols"), y=Out(f32, "rows"), rows=i32, cols=i32):
        y[...] = x @ w

    return sums


def judged(made: Kernel, sim: Device, loop: str = LOOP, seed: int = 5) -> Evaluation:
    candidate = made.candidate(made.read_source().replace(LOOP, loop), Path("candidate.cu"))
    stages = (Stage.COMPILE, Stage.CHECK, Stage.CONTRACT)
    plan = Plan(stages, made.cases, fuzz_seed=seed, witness=made.start(), stop_at_first=True)
    return evaluate(made, candidate, plan, sim)


def lost(evaluation: Evaluation) -> list[str]:
    return [str(one.lost) for one in evaluation.outcomes if one.lost]


@pytest.mark.parametrize("loop", [ONE_OTHERWISE, FEW_OTHERWISE, BY_PLACE], ids=["one", "few", "by place"])
def test_rows_that_are_added_up_in_another_order_in_other_batches_are_found(
    tmp_path: Path, sim: Device, loop: str
) -> None:
    made = summing(tmp_path, batch="rows")

    evaluation = judged(made, sim, loop)

    assert (evaluation.status, lost(evaluation)) == (Status.LOST_PROPERTY, ["batch_invariant"])
    assert "other bits where rows=" in evaluation.reason
    assert judged(made, sim).accepted


def test_nobody_is_asked_unless_it_is_declared(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(summing(tmp_path), sim, ONE_OTHERWISE)

    assert evaluation.accepted
    assert Property.BATCH_INVARIANT not in {one.property for one in evaluation.tried}


def test_it_is_asked_of_the_kernel_itself_too(tmp_path: Path, sim: Device) -> None:
    made = summing(tmp_path, SUMS.replace(LOOP, ONE_OTHERWISE), batch="rows")

    assert lost(judged(made, sim)) == ["batch_invariant"]


def test_the_certificate_says_how_many_batches_were_taken_apart(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(summing(tmp_path, batch="rows"), sim)

    tried = next(one for one in evaluation.tried if one.property is Property.BATCH_INVARIANT)
    assert tried.judged == 8
    assert (
        "  contract: right to the same bits whatever else is in a batch: 8 trials"
        in certificate_of(evaluation).lines
    )


def test_parts_are_one_row_two_half_and_all_but_one_of_two_batches(tmp_path: Path) -> None:
    made = summing(tmp_path, batch="rows")
    parts = parts_of(made, made.start(), 5)

    sizes = [(one.whole.by_name["rows"], one.case.by_name["rows"]) for one in parts]
    small, large = sizes[0][0], sizes[-1][0]
    assert sizes == [(of, rows) for of in (small, large) for rows in (1, 2, of // 2, of - 1)]
    assert large > 4 * small
    for one in parts:
        assert 0 <= one.first <= one.whole.by_name["rows"] - one.case.by_name["rows"]
    assert parts == parts_of(made, made.start(), 5) != parts_of(made, made.start(), 6)


def test_a_contract_without_small_batches_is_asked_for_what_it_has(tmp_path: Path) -> None:
    made = summing(tmp_path, batch="rows", where=["rows >= 3"])

    assert {one.case.by_name["rows"] for one in parts_of(made, made.start(), 5)}.isdisjoint({1, 2})


def test_where_there_is_no_batch_to_take_apart_the_certificate_says_so(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "sums.cu").write_text(SUMS)

    @kernel(str(tmp_path / "sums.cu"), cases=[case(rows=1, cols=64)], domain={"rows": (1, 1)}, batch="rows")
    def sums(x=In(f32, "rows", "cols"), w=In(f32, "cols"), y=Out(f32, "rows"), rows=i32, cols=i32):
        y[...] = x @ w

    missing = certificate_of(judged(sums, sim)).not_checked
    assert any("no batch of the contract is cheap and has more than one row" in one for one in missing)


IN_PLACE = """// @launch grid=(cols) block=(32)
extern "C" __global__ void scale(float* x, const int* rows_of, int cols, int batch) {
    int col = blockIdx.x;
    for (int i = threadIdx.x; i < batch; i += 32) x[col * batch + i] *= OTHER rows_of[i];
}
"""


@pytest.mark.parametrize(("other", "properties"), [("", []), ("(batch > 1 ? 2 : 1) *", ["batch_invariant"])])
def test_rows_may_be_the_last_dimension_and_be_updated_in_place(
    tmp_path: Path, sim: Device, other: str, properties: list[str]
) -> None:
    (tmp_path / "scale.cu").write_text(IN_PLACE.replace("OTHER", other))

    @kernel(
        str(tmp_path / "scale.cu"),
        cases=[case(cols=5, batch=40)],
        accept=lambda x: {"x": x != x},
        ignored=["non_finite", "magnitudes"],
        batch="batch",
    )
    def scale(x=InOut(f32, "cols", "batch"), rows_of=In(i32, "batch"), cols=i32, batch=i32):
        x *= rows_of

    assert lost(judged(scale, sim)) == properties


def test_a_launch_that_faults_on_a_part_is_refused(tmp_path: Path, sim: Device) -> None:
    made = summing(tmp_path, batch="rows")
    half = parts_of(made, made.start(), 5)[-2].case.by_name["rows"]

    evaluation = judged(made, sim, LOOP + f"\n    if (rows == {half}) y[row - rows] = 0.0f;")

    assert (evaluation.status, lost(evaluation)) == (Status.FAULT, ["batch_invariant"])
    assert evaluation.outcomes[-1].case.by_name["rows"] == half


SIZES = {"rows": i32, "cols": i32}


@pytest.mark.parametrize(
    ("batch", "parameters", "message"),
    [
        ("row", {}, "batch=: expected a size among rows, cols, got 'row'. Did you mean 'rows'?"),
        (3, {}, "batch=: expected a size among rows, cols, got 3"),
        ("cols", {"y": Out(f32, "rows")}, "batch=: expected an output with 'cols' as a dimension, got none"),
        ("rows", {"ends": In(i32, "rows + 1", values=offsets("cols"))}, "parameter 'ends'"),
        ("rows", {"at": In(i32, "cols", values=indices("rows"))}, "parameter 'at'"),
        ("rows", {"square": In(f32, "rows", "rows")}, "got 2 dimensions of 'rows'"),
        ("rows", {"share": Scalar(i32, "cdiv(cols, rows)")}, "parameter 'share'"),
        ("rows", {"more": In(f32, "ld")}, "parameter 'more'"),
    ],
)
def test_what_cannot_be_cut_into_batches_is_refused(
    tmp_path: Path, batch: Any, parameters: dict[str, Any], message: str
) -> None:
    (tmp_path / "sums.cu").write_text(SUMS)
    given = {"x": In(f32, "rows", "cols"), "y": Out(f32, "rows"), **parameters, **SIZES}
    namespace = {"given": given, "kernel": kernel, "case": case}
    text = ", ".join(f"{name}=given['{name}']" for name in given)
    source = f"def sums({text}):\n    pass\n"
    exec(compile(source, str(tmp_path / "test_sums.py"), "exec"), namespace)  # noqa: S102 - ours
    declare = kernel(
        str(tmp_path / "sums.cu"), cases=[case(rows=4, cols=8)], batch=batch, derive={"ld": "rows * 2"}
    )

    with pytest.raises(DeclarationError) as raised:
        declare(namespace["sums"])

    assert message in str(raised.value).replace("\n", " ")


def test_the_property_alone_does_not_say_what_a_batch_is(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"expected batch= beside 'batch_invariant'"):
        summing(tmp_path, required=["batch_invariant"])


def test_it_goes_through_files(tmp_path: Path) -> None:
    made = summing(tmp_path, batch="rows")
    written = json.loads(json.dumps(signature(made)))

    assert written["batch"] == "rows"
    read = read_signature(Field("signature.json", "", written), tmp_path)
    assert (read.batch, read.obligations) == ("rows", made.obligations)
