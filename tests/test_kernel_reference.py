"""Kernels as references of other kernels: what they say, and what is said of wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, bf16, case, f32, i32, kernel
from pytest_cudaopt.answers import Answer, AnswerStatus
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.errors import DeclarationError, ReferenceFault
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.optimize.describe import reference_source
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.protocol import Request

pytest_plugins = ["made_up_gpu_fixtures"]

FAST = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
"""
NAIVE = """// @launch grid=(1) block=(1)
extern "C" __global__ void naive(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
"""


def declare(
    folder: Path, *edits: tuple[str, str], fast: str = FAST, reference: str = "naive.cu::naive", **out: Any
) -> Kernel:
    """Declare `twice`, whose reference is NAIVE with `edits` made to it."""
    naive = NAIVE
    for old, new in edits:
        assert old in naive
        naive = naive.replace(old, new)
    (folder / "naive.cu").write_text(naive)
    (folder / "twice.cu").write_text(fast)
    cases = [case(n=100), case(n=0)] if not out else [case(n=100)]

    @kernel(str(folder / "twice.cu"), cases=cases, reference=str(folder / reference))
    def twice(x=In(f32, "n"), y=Out(f32, "n", **out), n=i32): ...

    return twice


def judge(declared: Kernel, sim: Device) -> Evaluation:
    return evaluate(declared, declared.start(), Plan((Stage.COMPILE, Stage.CHECK), declared.cases[:1]), sim)


def test_its_outputs_are_what_a_candidate_is_held_against(tmp_path: Path, sim: Device) -> None:
    declared = declare(tmp_path)
    prepared = prepare(declared, declared.cases[0], sim)
    assert prepared.expected.arrays["y"].dtype == np.float32
    np.testing.assert_array_equal(prepared.expected.arrays["y"], 2 * prepared.arguments.arrays["x"])
    assert prepared.expected is prepare(declared, declared.cases[0], sim).expected
    assert judge(declared, sim).status is Status.ACCEPTED
    assert prepare(declared, declared.cases[1], sim).expected.arrays["y"].shape == (0,)


def test_a_candidate_that_differs_from_it_is_wrong(tmp_path: Path, sim: Device) -> None:
    declared = declare(tmp_path, fast=FAST.replace("x[i] + x[i]", "i == 7 ? 0 : x[i] + x[i]"))
    evaluation = judge(declared, sim)
    assert evaluation.status is Status.WRONG_RESULT
    assert evaluation.outcomes[0].comparisons[0].worst is not None
    assert evaluation.outcomes[0].comparisons[0].worst.index == (7,)


def test_it_says_what_follows_from_other_inputs_too(tmp_path: Path, sim: Device) -> None:
    declared = declare(tmp_path)
    prepared = prepare(declared, declared.cases[0], sim)
    contents = prepared.contents
    assert contents.expected is not None
    held_out = np.fromfile(contents.held_out["x"], np.float32)
    np.testing.assert_array_equal(contents.expected.arrays["y"], 2 * held_out)


def test_its_entry_is_the_functions_name_unless_it_says_one(tmp_path: Path, sim: Device) -> None:
    declared = declare(tmp_path, ("void naive(", "void twice("), reference="naive.cu")
    assert judge(declared, sim).status is Status.ACCEPTED


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda f: declare(f, reference="absent.cu"), "got No such file or directory"),
        (lambda f: declare(f, reference="naive.cu"), "expected to compile, with the declared signature"),
        (
            lambda f: declare(f, ("float* y, int n", "float* y, long long n")),
            "kernel 'naive' is not as declared: parameter 3 is 'long long', expected 'int'",
        ),
        (lambda f: declare(f, ("2 * x[i]", "2 * z[i]")), 'identifier "z" is undefined'),
        (
            lambda f: declare(f, ("// @launch grid=(1) block=(1)\n", "")),
            "got no '// @launch' line in naive.cu, and launch= is for the kernel alone",
        ),
        (lambda f: declare(f, reference="naive.cu"), "Name it with reference='naive.cu::ENTRY'; without,"),
        (lambda f: declare(f, ("block=(1)", "block=(5000)")), "expected a legal launch, got"),
        (lambda f: declare(f, ("i < n", "i <= n")), "expected no fault, got illegal_address"),
        (
            lambda f: declare(f, ("int i = 0", "int i = 1")),
            "expected every element written, got 1 of 100 left unwritten, the first at [0]",
        ),
    ],
)
def test_what_is_wrong_with_it_is_its_fault_and_names_it(
    tmp_path: Path, sim: Device, make: Callable[[Path], Kernel], complaint: str
) -> None:
    with pytest.raises(ReferenceFault) as caught:
        judge(make(tmp_path), sim)
    assert complaint in str(caught.value)
    assert caught.value.what.startswith("reference '")
    assert ".cu::" in caught.value.what
    assert caught.value.at is not None


@pytest.mark.parametrize(
    ("unwritten", "start", "accepted"), [("kept", 1, True), ("kept", 0, False), ("any", 0, True)]
)
def test_what_it_leaves_unwritten_is_kept_or_free(
    tmp_path: Path, sim: Device, unwritten: str, start: int, accepted: bool
) -> None:
    fast = FAST.replace("if (i < n)", f"if (i < n && i >= {start})")
    declared = declare(tmp_path, ("int i = 0", "int i = 1"), fast=fast, unwritten=unwritten)
    evaluation = judge(declared, sim)
    assert evaluation.accepted is accepted
    assert ("1 of 100 elements of 'y' were overwritten" in evaluation.reason) is not accepted


def test_a_narrow_output_is_compared_in_its_stored_dtype(tmp_path: Path, sim: Device) -> None:
    header = "#include <cuda_bf16.h>\n// @launch grid=(1) block=(n)\n"
    signature = "__global__ void narrow(const float* x, __nv_bfloat16* y, int n)"
    body = "{ y[threadIdx.x] = __float2bfloat16(x[threadIdx.x]); }"
    (tmp_path / "narrow.cu").write_text(f"{header}{signature} {body}\n")

    @kernel(str(tmp_path / "narrow.cu"), cases=[case(n=8)], reference=str(tmp_path / "narrow.cu"))
    def narrow(x=In(f32, "n"), y=Out(bf16, "n", exact=True), n=i32): ...

    assert judge(narrow, sim).status is Status.ACCEPTED


@pytest.mark.parametrize("kind", [FindingKind.UNSUPPORTED_INSTRUCTION, FindingKind.OUT_OF_MEMORY])
def test_one_that_the_device_cannot_execute_leaves_the_candidate_unjudged(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch, kind: FindingKind
) -> None:
    ask = Harness.ask

    def answer(self: Harness, request: Request) -> Answer:
        if "/reference/" not in request.id:
            return ask(self, request)
        fault = Finding(kind, "made up")
        return Answer(request.id, request.nonce, AnswerStatus.FAULT, "sim", fault=fault)

    monkeypatch.setattr(Harness, "ask", answer)
    evaluation = judge(declare(tmp_path), sim)
    assert evaluation.status is Status.NOT_JUDGED
    assert f"reference 'naive.cu::naive' of kernel 'twice': got {kind}: made up" in evaluation.reason


def test_it_cannot_be_called_and_its_source_is_its_text(tmp_path: Path) -> None:
    declared = declare(tmp_path)
    with pytest.raises(DeclarationError, match=r"got the kernel naive.cu::naive"):
        declared(x=1)
    assert reference_source(declared) == NAIVE


def declare_on_gpu(folder: Path, reference: str) -> Kernel:
    """Declare a copy; what a made-up GPU does for `reference`, whose text is the same, is in its name."""
    for name in ("copies_takes_64000_ns", reference):
        body = "int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i];"
        text = f'extern "C" __global__ void {name}(const float* x, float* y, int n) {{ {body} }}\n'
        (folder / f"{name}.cu").write_text(f"// @launch grid=(cdiv(n, 64)) block=(64)\n{text}")

    @kernel(
        str(folder / "copies_takes_64000_ns.cu"),
        entry="copies_takes_64000_ns",
        cases=[case(n=500, measure=True)],
        reference=str(folder / f"{reference}.cu::{reference}"),
    )
    def copies(x=In(f32, "n"), y=Out(f32, "n"), n=i32): ...

    return copies


def judge_on_gpu(declared: Kernel) -> Evaluation:
    with open_device("cuda:0") as device:
        plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), declared.cases)
        return evaluate(declared, declared.start(), plan, device)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("reference", "status"), [("plain_copies", Status.ACCEPTED), ("scales", Status.WRONG_RESULT)]
)
def test_on_a_gpu_it_runs_there_for_timed_launches_too(
    tmp_path: Path, reference: str, status: Status
) -> None:
    evaluation = judge_on_gpu(declare_on_gpu(tmp_path, reference))
    assert evaluation.status is status
    assert bool(evaluation.latencies) is (status is Status.ACCEPTED)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("leaves_unwritten", "got 1 of 500 left unwritten, the first at [499]"),
        ("writes_past_end", "expected no fault"),
        ("writes_before", "expected no fault, got a write near 'y', outside of it"),
        ("faults_700", "expected no fault, got illegal_address"),
    ],
)
def test_on_a_gpu_its_faults_are_its_own(tmp_path: Path, reference: str, complaint: str) -> None:
    with pytest.raises(ReferenceFault) as caught:
        judge_on_gpu(declare_on_gpu(tmp_path, reference))
    assert complaint in str(caught.value)
    assert f"reference '{reference}.cu::{reference}' of kernel 'copies'" in str(caught.value)
