"""What a candidate must survive beyond its declared cases: each property lost by a kernel made to lose it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, case, f32, i32, i64, indices, kernel
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.properties import Property

LADDER = (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.CONTRACT)
COPY = """// @launch grid=(max(1, cdiv(n, 64))) block=(64)
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}
"""
DOUBLE = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void twice(const int* x, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2LL * x[i];
}
"""
PICK = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void pick(const float* x, const int* at, float* y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = at[i];
        y[i] = x[k < 0 ? k + m : k];
    }
}
"""
IF = "    if (i < n) {\n"
# What the candidate has in place of what the start has, and what it thereby loses.
LOSSES = {
    Property.FUZZED_SIZES: [("i < n", "i < n / 64 * 64")],
    Property.STRUCTURED_VALUES: [("y[i] = x[i]", "y[i] = n > 1 && x[0] == x[n - 1] ? 0.0f : x[i]")],
    Property.MAGNITUDES: [("y[i] = x[i]", "y[i] = x[i] > 1e6f && !isinf(x[i]) ? 1e6f : x[i]")],
    Property.EXACT_INTEGERS: [("y[i] = x[i]", "y[i] = x[i] * 1.0001f")],
    Property.NON_FINITE: [("y[i] = x[i]", "y[i] = isnan(x[i]) ? 0.0f : x[i]")],
    Property.SIGNED_ZEROS: [("y[i] = x[i]", "y[i] = x[i] + 0.0f")],
    Property.SUBNORMALS: [("y[i] = x[i]", "y[i] = fabsf(x[i]) < 1.2e-38f ? 0.0f * x[i] : x[i]")],
    Property.EMPTY_SIZES: [(IF, "    if (i <= n - 1 + (n == 0)) {\n")],
    Property.LARGER_SIZES: [("y[i] = x[i]", "y[(unsigned short)i] = x[(unsigned short)i]")],
    Property.RELAUNCH: [
        ("extern", "__device__ int launches;\nextern"),
        ("y[i] = x[i];", "y[i] = launches < 5 ? x[i] : 0.0f;\n    }\n    if (i == 0) {\n launches++;"),
    ],
    Property.REPEATABLE: [
        ("extern", "__device__ unsigned ticket;\nextern"),
        (IF, IF + "        float order = float(atomicAdd(&ticket, 1)) * 1e-9f;\n"),
        ("y[i] = x[i]", "y[i] = x[i] + order"),
    ],
}
Judge = Callable[..., Evaluation]


def edited(source: str, edits: list[tuple[str, str]]) -> str:
    for old, new in edits:
        assert old in source
        source = source.replace(old, new, 1)
    return source


def candidate_of(made: Kernel, edits: list[tuple[str, str]]) -> Candidate:
    return made.candidate(edited(made.read_source(), edits), Path("candidate.cu"))


def copying(folder: Path, *, source: str = COPY, **declared: Any) -> Kernel:
    (folder / "copy.cu").write_text(source)

    @kernel(str(folder / "copy.cu"), cases=[case(n=128), case(n=1024)], **declared)
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    return copy


@pytest.fixture
def judge(sim: Device) -> Judge:
    def judged(
        made: Kernel, edits: list[tuple[str, str]], seed: int = 7, stages: tuple[Stage, ...] = LADDER
    ) -> Evaluation:
        plan = Plan(
            stages,
            made.cases,
            fuzz_examples=40,
            fuzz_seed=seed,
            witness=made.start(),
            stop_at_first=True,
        )
        return evaluate(made, candidate_of(made, edits), plan, sim)

    return judged


def lost(evaluation: Evaluation) -> Property | None:
    return next((outcome.lost for outcome in evaluation.outcomes if outcome.lost is not None), None)


# Bits are compared where a tolerance would hide what is lost.
EXACT = {"rtol": 0.0, "atol": 0.0}
LOOSE = {"rtol": 1e-2, "atol": 1e-2}
TOLERANCES = {Property.EXACT_INTEGERS: LOOSE, Property.REPEATABLE: LOOSE}


@pytest.mark.parametrize("asked", LOSSES)
def test_a_property_that_the_start_has_and_the_candidate_has_not_is_lost(
    judge: Judge, tmp_path: Path, asked: Property
) -> None:
    # What else the same mistake breaks is left out, so that this one must be seen.
    others = [str(one) for one in LOSSES if one not in (asked, Property.FUZZED_SIZES)]
    made = copying(tmp_path, ignored=others, **TOLERANCES.get(asked, EXACT))

    evaluation = judge(made, LOSSES[asked])

    assert lost(evaluation) is asked
    assert evaluation.status in (Status.LOST_PROPERTY, Status.WRONG_RESULT, Status.FAULT)
    assert not evaluation.accepted


@pytest.mark.parametrize("asked", [one for one in LOSSES if one is not Property.FUZZED_SIZES])
def test_a_property_that_is_ignored_may_be_lost(judge: Judge, tmp_path: Path, asked: Property) -> None:
    made = copying(tmp_path, ignored=[str(one) for one in LOSSES], **TOLERANCES.get(asked, EXACT))

    assert judge(made, LOSSES[asked]).accepted


@pytest.mark.parametrize("asked", [one for one in LOSSES if one is not Property.FUZZED_SIZES])
def test_what_the_start_lacks_too_is_owed_by_nobody(judge: Judge, tmp_path: Path, asked: Property) -> None:
    made = copying(tmp_path, source=edited(COPY, LOSSES[asked]), **TOLERANCES.get(asked, EXACT))

    evaluation = judge(made, [("int i =", "const int i =")])

    assert evaluation.accepted
    # Of elements that the start gets wrong itself the others are still judged.
    by_element = (Property.EXACT_INTEGERS, Property.SIGNED_ZEROS)
    assert asked in by_element or any(one.property is asked and one.discarded for one in evaluation.tried)


def test_what_is_required_is_owed_whatever_the_start_does(judge: Judge, tmp_path: Path) -> None:
    swallows = LOSSES[Property.NON_FINITE]
    made = copying(tmp_path, source=edited(COPY, swallows), required=["non_finite"])

    assert lost(judge(made, [("int i =", "const int i =")])) is Property.NON_FINITE


@pytest.mark.parametrize("seed", range(5))
def test_a_candidate_that_differs_in_form_only_is_accepted(judge: Judge, tmp_path: Path, seed: int) -> None:
    rewritten = [
        ("block=(64)", "block=(96)"),
        ("cdiv(n, 64)", "cdiv(n, 96)"),
        ("y[i] = x[i];", "float v = __ldg(x + i);\n        y[i] = v;"),
    ]

    evaluation = judge(copying(tmp_path, **EXACT), rewritten, seed)

    assert evaluation.accepted
    assert {one.property for one in evaluation.tried} >= {*LOSSES}
    assert not any(one.discarded for one in evaluation.tried)


def test_integers_beyond_what_is_declared_are_tried(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "twice.cu").write_text(DOUBLE)

    @kernel(str(tmp_path / "twice.cu"), cases=[case(n=64)])
    def twice(x=In(i32, "n"), y=Out(i64, "n"), n=i32):
        y[...] = 2 * x.astype(np.int64)

    assert lost(judge(twice, [("2LL * x[i]", "2 * x[i]")])) is Property.INTEGER_RANGE


def test_places_counted_from_the_end_are_tried(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "pick.cu").write_text(PICK)

    @kernel(str(tmp_path / "pick.cu"), cases=[case(n=64, m=100)])
    def pick(x=In(f32, "m"), at=In(i32, "n", values=indices("m")), y=Out(f32, "n"), n=i32, m=i32):
        y[...] = x[at]

    evaluation = judge(pick, [("x[k < 0 ? k + m : k]", "x[k]")])

    assert lost(evaluation) is Property.INTEGER_RANGE
    assert evaluation.status is Status.FAULT


@pytest.mark.parametrize(
    ("stage", "asked"),
    [
        (Stage.PROBE, Property.RELAUNCH),
        (Stage.PROBE, Property.REPEATABLE),
        (Stage.CONTRACT, Property.LARGER_SIZES),
        (Stage.CONTRACT, Property.EMPTY_SIZES),
    ],
)
def test_without_its_stage_a_loss_slips_through(
    judge: Judge, tmp_path: Path, stage: Stage, asked: Property
) -> None:
    ignored = ["signed_zeros", "subnormals", "structured_values", "magnitudes", "exact_integers"]
    made = copying(tmp_path, ignored=ignored, **TOLERANCES.get(asked, EXACT))
    others = tuple(one for one in LADDER if one is not stage)

    assert judge(made, LOSSES[asked], stages=others).accepted
    assert lost(judge(made, LOSSES[asked])) is asked


def test_the_smallest_case_that_fails_is_shown_and_can_be_pasted(judge: Judge, tmp_path: Path) -> None:
    evaluation = judge(copying(tmp_path), [("i < n", "i < (n % 128 ? min(n, 40) : n)")])

    (failed,) = [outcome for outcome in evaluation.outcomes if outcome.lost is not None]
    assert failed.case.by_name == {"n": 41}
    assert str(failed.case).startswith("case(n=41, seed=")
    assert evaluation.reason.startswith("case n41: 1 of 41 elements of 'y'")


def test_what_takes_too_long_at_one_larger_size_is_not_tried_at_more(tmp_path: Path, sim: Device) -> None:
    made = copying(tmp_path)
    slow = candidate_of(
        made, [(IF, "    for (volatile int k = 0; n > 3000 && k < 10000000;) k = k + 1;\n" + IF)]
    )
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.CONTRACT), made.cases, witness=made.start())
    evaluation = evaluate(made, slow, plan, sim)

    assert evaluation.accepted
    (larger,) = (one for one in evaluation.tried if one.property is Property.LARGER_SIZES)
    assert (larger.judged, larger.discarded) == (0, 1)
