"""Arrays that begin after an aligned address, and outputs that lie over inputs: asked for, and told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import Constant, In, InOut, Out, case, f32, f64, i32, kernel
from pytest_cudaopt.cases import Case, case_ids
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import CaseStatus, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.properties import Property

# Four elements at a time, as long as the compiler is told that they may be read so.
BY_FOUR = """// @launch grid=(cdiv(n, 256)) block=(64)
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = 4 * (blockIdx.x * 64 + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *reinterpret_cast<const float4*>(x + i);
        *reinterpret_cast<float4*>(y + i) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
    } else {
        for (; i < n; i++) y[i] = 2 * x[i];
    }
}
"""
BY_ONE = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
# The first half is overwritten before the second one reads it.
BOTH_WAYS = """// @launch grid=(1) block=(64)
extern "C" __global__ void reverse(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n / 2; i += 64) y[i] = x[n - 1 - i];
    __syncthreads();
    for (int i = n / 2 + threadIdx.x; i < n; i += 64) y[i] = x[n - 1 - i];
}
"""
# Both of a pair are read before one is written.
BY_PAIRS = """// @launch grid=(1) block=(64)
extern "C" __global__ void reverse(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < (n + 1) / 2; i += 64) {
        float first = x[i], last = x[n - 1 - i];
        y[i] = last;
        y[n - 1 - i] = first;
    }
}
"""
ELSEWHERE = (case(n=1000, misaligned={"x": 1}), case(n=1000, misaligned={"y": 3}))
IN_PLACE = case(n=1000, alias={"y": "x"})


def twice(folder: Path, source: str, *cases: Case, **declared: Any) -> Kernel:
    (folder / "twice.cu").write_text(source)

    @kernel(str(folder / "twice.cu"), cases=cases or [case(n=1000)], **declared)
    def twice(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return twice


def reverse(folder: Path, source: str, *cases: Case, **declared: Any) -> Kernel:
    (folder / "reverse.cu").write_text(source)

    @kernel(str(folder / "reverse.cu"), cases=cases or [case(n=1000)], **declared)
    def reverse(x=In(f32, "n"), y=Out(f32, "n", exact=True), n=i32):
        y[...] = x[::-1]

    return reverse


def judged(made: Kernel, device: Device, *stages: Stage) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, *stages), made.cases, witness=made.start())
    return evaluate(made, made.start(), plan, device)


def test_a_kernel_by_single_elements_is_right_wherever_its_arrays_begin(tmp_path: Path, sim: Device) -> None:
    assert judged(twice(tmp_path, BY_ONE, *ELSEWHERE), sim).accepted


def test_vectors_at_addresses_they_may_not_have_are_faults(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(twice(tmp_path, BY_FOUR, case(n=1000), *ELSEWHERE), sim)

    assert evaluation.status is Status.FAULT
    assert [outcome.status for outcome in evaluation.outcomes] == [
        CaseStatus.PASSED,
        CaseStatus.FAULT,
        CaseStatus.FAULT,
    ]
    found = [outcome.finding for outcome in evaluation.outcomes[1:]]
    assert [(one.kind, one.buffer) for one in found if one is not None] == [
        (FindingKind.MISALIGNED, "x"),
        (FindingKind.MISALIGNED, "y"),
    ]


def test_four_elements_on_are_an_address_for_four_again(tmp_path: Path, sim: Device) -> None:
    assert judged(twice(tmp_path, BY_FOUR, case(n=1000, misaligned={"x": 4, "y": 8})), sim).accepted


def test_a_misaligned_array_ends_where_it_would(tmp_path: Path, sim: Device) -> None:
    beyond = BY_ONE.replace("i < n", "i <= n")
    evaluation = judged(twice(tmp_path, beyond, case(n=1000, misaligned={"x": 1})), sim)

    assert "reads x[1000]" in evaluation.reason


@pytest.mark.parametrize(("source", "accepted"), [(BY_PAIRS, True), (BOTH_WAYS, False)])
def test_in_place_a_kernel_must_not_read_what_it_wrote(
    tmp_path: Path, sim: Device, source: str, accepted: bool
) -> None:
    apart, in_place = judged(reverse(tmp_path, source, case(n=1000), IN_PLACE), sim).outcomes

    assert apart.status is CaseStatus.PASSED
    assert in_place.status is (CaseStatus.PASSED if accepted else CaseStatus.WRONG)
    # The other half of what it reads is still there.
    assert accepted or in_place.comparisons[0].mismatched in range(400, 501)


def test_in_place_every_launch_finds_the_input_as_it_was(tmp_path: Path, sim: Device) -> None:
    assert judged(twice(tmp_path, BY_ONE, IN_PLACE), sim, Stage.PROBE).accepted


def test_in_place_a_write_beyond_the_array_is_still_a_fault(tmp_path: Path, sim: Device) -> None:
    beyond = BY_ONE.replace(
        "if (i < n) y[i] = 2 * x[i];", "if (i < n) y[i] = 2 * x[i]; if (i == n) y[i] = 0;"
    )

    assert judged(twice(tmp_path, beyond, IN_PLACE), sim).status is Status.FAULT


@pytest.mark.parametrize(
    ("required", "source", "lost"),
    [
        ("unaligned", BY_FOUR, Property.UNALIGNED),
        ("unaligned", BY_ONE, None),
        ("aliasing", BY_ONE, None),
    ],
)
def test_where_that_is_required_it_is_asked_for(
    tmp_path: Path, sim: Device, required: str, source: str, lost: Property | None
) -> None:
    evaluation = judged(twice(tmp_path, source, required=[required]), sim, Stage.CONTRACT)

    assert [one.lost for one in evaluation.outcomes if one.lost is not None] == ([lost] if lost else [])
    assert Property(required) in {one.property for one in evaluation.tried}


def test_an_in_place_kernel_that_is_required_and_wrong_has_lost_it(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(reverse(tmp_path, BOTH_WAYS, required=["aliasing"]), sim, Stage.CONTRACT)

    (lost,) = [one for one in evaluation.outcomes if one.lost is not None]
    assert (lost.lost, lost.status) == (Property.ALIASING, CaseStatus.LOST)
    assert dict(lost.case.alias) == {"y": "x"}
    assert judged(reverse(tmp_path, BY_PAIRS, required=["aliasing"]), sim, Stage.CONTRACT).accepted


def test_nobody_owes_it_unasked(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(reverse(tmp_path, BOTH_WAYS), sim, Stage.CONTRACT)

    assert evaluation.accepted
    asked = {one.property for one in evaluation.tried}
    assert asked.isdisjoint({Property.UNALIGNED, Property.ALIASING})


def test_ids_and_pasted_cases_say_where_arrays_lie() -> None:
    cases = (case(n=9, misaligned={"y": 2, "x": 1}), case(n=9, alias={"y": "x"}))

    assert case_ids(cases) == ("n9-x+1-y+2", "n9-y_is_x")
    assert [eval(str(one), {"case": case}) for one in cases] == list(cases)  # noqa: S307 - our own


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (case(n=9, misaligned={"z": 1}), "misaligned=: expected arrays among a, x, w, y, got 'z'"),
        (case(n=9, misaligned={"n": 1}), "misaligned=: expected arrays among a, x, w, y, got 'n'"),
        (case(n=9, misaligned={"taps": 1}), "misaligned=: expected arrays .*, got 'taps'"),
        (case(n=9, alias={"y": "xx"}), "alias=: expected arrays .*, got 'xx'. Did you mean 'x'?"),
        (case(n=9, alias={"x": "y"}), "alias=: expected an Out, over an In, got .*alias={'y': 'x'}"),
        (case(n=9, alias={"w": "x"}), "alias=: expected an Out, over an In, got 'w' .*inout.* over 'x'"),
        (case(n=9, alias={"y": "a"}), "alias=: expected arrays of one shape and dtype, got f32 n over f64 n"),
        (case(n=9, values="negative"), "values=: expected a family that an array .*: .*huge.*'negative'"),
    ],
)
def test_what_no_array_can_be_is_refused(one: Case, words: str) -> None:
    def declare() -> Kernel:
        @kernel("k.cu", cases=[case(n=9), one])
        def k(
            a=In(f64, "n"),
            x=In(f32, "n"),
            w=InOut(f32, "n"),
            y=Out(f32, "n"),
            taps=Constant(f32, 2),
            n=i32,
        ): ...

        return k

    with pytest.raises(DeclarationError, match=r"cases\[1\]: " + words):
        declare()


@pytest.mark.parametrize("elements", [0, 256, -1, True, 1.5])
def test_an_array_begins_a_few_elements_on(elements: Any) -> None:
    with pytest.raises(DeclarationError, match="elements, from 1 to 255"):
        case(n=9, misaligned={"x": elements})
