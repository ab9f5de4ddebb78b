"""The stage after compiling: where a kernel is defined, and what is judged of a candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from judged_kernels import axpy, full_plan

from pytest_cudaopt import limits, waive
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.judge_limits import entry_line
from pytest_cudaopt.optimize import describe, plain_reader
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.plans import ladder_stages
from pytest_cudaopt.verdict_json import evaluation_json

STAGES = (Stage.COMPILE, Stage.LIMITS, Stage.CHECK)
SHARED = ("block=(BLOCK)", "block=(BLOCK) shared=8*n")


@pytest.mark.parametrize(
    ("source", "entry", "line"),
    [
        ('extern "C" __global__ void f(int* x) {}', "f", 1),
        ("\n__global__ void\n__launch_bounds__(256, 2)\nf(int* x)\n{\n}", "f", 4),
        ("__global__ void f(int*);\n__global__ void f(int* x) {}", "f", 2),
        ("// __global__ void f(int* x) {}\n__global__ void f(int* x) {}", "f", 2),
        ("__global__ void g(int* x) { f(x); }\n__global__ void f(int* x) {}", "f", 2),
        ("__global__ void ff(int* x) {}\n__global__ void f (int* x) {}", "f", 2),
        ("template <int N>\n__global__ void f(int* x) {}", "ns::f<64, __half>", 2),
        ("\n__global__ void f(int* x) {}", "static_cast<void (*)(int*)>(ns::f)", 2),
        ("\n__global__ void f(int* x) {}", "static_cast<void (*)(int*)>(ns::f<ns::T>)", 2),
        ("#define KERNEL(name) __global__ void name(int* x) {}\nKERNEL(f)", "f", None),
        ("__device__ void f(int* x) {}", "f", None),
        ("", "f", None),
    ],
)
def test_the_line_of_a_kernel_is_that_of_its_name(source: str, entry: str, line: int | None) -> None:
    assert entry_line(source, entry) == line


def test_what_keeps_its_limits_goes_on_to_the_checks(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path, limits=limits(registers=64, spill_bytes=0))
    evaluation = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    assert evaluation.accepted
    assert len(evaluation.outcomes) == len(one.cases)
    assert evaluation.limits is not None
    (used,) = evaluation.limits.taken
    assert used.registers == evaluation.resources["axpy"].registers
    assert evaluation.limits.compiled_for.startswith(f"{sim.limits.architecture}, NVRTC ")


def test_what_exceeds_a_limit_is_refused_before_any_launch(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path, limits=limits(registers=1, spill_bytes=0))
    evaluation = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    assert evaluation.status is Status.FINDING
    assert evaluation.outcomes == ()
    assert [(one.kind, one.file, one.line) for one in evaluation.findings] == [
        (FindingKind.REGISTERS_EXCEEDED, "axpy.cu", 3)
    ]
    assert evaluation.reason == evaluation.findings[0].message
    assert [stage for stage, _ in evaluation.seconds] == ["compile", "limits"]


def test_a_plan_without_the_stage_does_not_ask_for_limits(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path, limits=limits(registers=1))
    evaluation = evaluate(one, one.start(), full_plan(one), sim)
    assert evaluation.accepted
    assert evaluation.limits is None


def test_a_kernel_without_limits_is_not_held_against_any(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path)
    evaluation = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    assert evaluation.accepted
    assert evaluation.limits is None
    assert "limits" not in dict(evaluation.seconds)


def test_limits_are_the_first_thing_a_candidate_is_held_against() -> None:
    assert ladder_stages(10, 10)[:3] == (Stage.COMPILE, Stage.LIMITS, Stage.SCAN)


def test_dynamic_shared_memory_counts_by_the_launch_rule_of_the_candidate(
    sim: Device, tmp_path: Path
) -> None:
    one = axpy(tmp_path, SHARED, limits=limits(shared_bytes=8000))
    plan = Plan(STAGES, one.cases)
    assert evaluate(one, one.start(), plan, sim).accepted
    more = one.start().source.replace("8*n", "8*n + 4")
    refused = evaluate(one, one.candidate(more, tmp_path / "more.cu"), plan, sim)
    assert refused.reason.startswith(
        "8004 bytes of shared memory per block (0 static) at n1000, limits() allows"
    )


def test_several_findings_are_counted_in_the_reason(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path, SHARED, limits=limits(registers=1, shared_bytes=8))
    refused = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    assert refused.reason.endswith("(and 1 more finding)")


def test_a_case_whose_launch_is_impossible_is_for_the_check_to_report(sim: Device, tmp_path: Path) -> None:
    edit = ("block=(BLOCK)", "block=(BLOCK) shared=8*n - 80")
    one = axpy(tmp_path, edit, limits=limits(shared_bytes=8000))
    judged = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    assert judged.status is Status.FAULT
    assert judged.limits is not None
    assert judged.limits.no_launch == ("n1",)


def test_a_waiver_holds_for_a_candidate_where_the_same_line_defines_the_kernel(
    sim: Device, tmp_path: Path
) -> None:
    waivers = [waive("registers_exceeded", at="axpy.cu:3", reason="until it is split")]
    one = axpy(tmp_path, limits=limits(registers=1), waivers=waivers)
    plan = Plan(STAGES, one.cases)
    moved = one.candidate("\n" + one.start().source, tmp_path / "moved.cu")
    renamed = one.candidate(
        one.start().source.replace("const float* x", "const float* values").replace("x[i]", "values[i]"),
        tmp_path / "renamed.cu",
    )
    assert evaluate(one, one.start(), plan, sim).accepted
    assert evaluate(one, moved, plan, sim).accepted
    assert evaluate(one, renamed, plan, sim).status is Status.FINDING


def test_what_is_waived_stays_in_the_verdict_and_in_the_certificate(sim: Device, tmp_path: Path) -> None:
    waivers = [waive("registers_exceeded", at="axpy.cu", reason="until it is split")]
    one = axpy(tmp_path, limits=limits(registers=1, spill_bytes=0), waivers=waivers)
    evaluation = evaluate(one, one.start(), Plan(STAGES, one.cases), sim)
    (waived,) = evaluation_json(evaluation)["waived"]
    assert (waived["kind"], waived["at"], waived["reason"]) == (
        "registers_exceeded",
        "axpy.cu",
        "until it is split",
    )
    (line,) = [text for text in certificate_of(evaluation).proved if text.startswith("keeps")]
    assert line.startswith("keeps limits(registers=1, spill_bytes=0) but for what is waived (sm_90, NVRTC ")


def test_the_verdict_has_the_numbers_of_each_instance(sim: Device, tmp_path: Path) -> None:
    one = axpy(tmp_path, SHARED, limits=limits(shared_bytes=8000))
    judged = evaluation_json(evaluate(one, one.start(), Plan(STAGES, one.cases), sim))["limits"]
    assert judged["declared"] == {"shared_bytes": 8000}
    assert [(one["entry"], one["shared_bytes"], one["largest_case"]) for one in judged["taken"]] == [
        ("axpy", 8000, "n1000")
    ]


def test_a_refused_attempt_is_read_back_from_its_record(sim: Device, tmp_path: Path) -> None:
    waivers = [waive("registers_exceeded", at="axpy.cu", reason="known")]
    one = axpy(tmp_path, SHARED, limits=limits(registers=1, shared_bytes=8), waivers=waivers)
    evaluation = replace(evaluate(one, one.start(), Plan(STAGES, one.cases), sim), seconds=())
    assert evaluation.limits is not None
    assert evaluation.limits.waived
    assert plain_reader.read(Evaluation, describe.plain(evaluation), "evaluation.json") == evaluation
