"""The judge, on the simulator: right kernels, every kind of wrong one, and what is nobody's fault."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_kernels import ALL_STAGES, AXPY, axpy, full_plan
from pretend_gpu import pretend

from pytest_cudaopt import (
    In,
    InOut,
    Out,
    Scalar,
    Scratch,
    bf16,
    bool_,
    case,
    contents,
    f16,
    f32,
    f64,
    i32,
    kernel,
)
from pytest_cudaopt.answers import Answer, AnswerStatus
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault, ReferenceFault
from pytest_cudaopt.evaluation import Budget, CaseStatus, Evaluation, LatencyKind, Plan, Stage, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import Launch, Request


def judge(kernel: Kernel, sim: Device, **changes: Any) -> Evaluation:
    return evaluate(kernel, kernel.start(), full_plan(kernel, **changes), sim)


def test_a_right_kernel_is_accepted_with_latencies_of_measured_cases(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    evaluation = judge(kernel, sim)
    assert evaluation.status is Status.ACCEPTED
    assert evaluation.reason == "right on 3 cases, latency modelled on 1 case"
    assert evaluation.device == sim.description
    assert evaluation.candidate == kernel.start().digest
    assert [(o.case_id, o.status) for o in evaluation.outcomes] == [
        (name, CaseStatus.PASSED) for name in ("n100", "n1", "n1000")
    ]
    assert list(evaluation.latencies) == ["n1000"]
    assert evaluation.latencies["n1000"].kind is LatencyKind.MODELLED
    assert evaluation.latencies["n1000"].bound
    assert [stage for stage, _ in evaluation.seconds] == ["compile", "check", "measure"]
    assert evaluation.resources is not None


def test_comparisons_and_counters_come_with_a_right_case(tmp_path: Path, sim: Device) -> None:
    outcome = judge(axpy(tmp_path, rtol=1e-4, atol=1e-5), sim).outcomes[0]
    (comparison,) = outcome.comparisons
    assert (comparison.output, comparison.elements, comparison.mismatched) == ("y", 100, 0)
    assert (comparison.rtol, comparison.atol) == (1e-4, 1e-5)
    assert str(outcome.launch) == "grid=2 block=64"
    assert outcome.counters is not None
    assert outcome.counters["threads"] == 128


def test_the_same_candidate_gets_the_same_latency(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    assert judge(kernel, sim).latencies == judge(kernel, sim).latencies


def test_a_wrong_kernel_is_told_where_and_by_how_much(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("+ 1.0f", "+ (i == 70 ? 2.0f : 1.0f)")), sim)
    assert evaluation.status is Status.WRONG_RESULT
    assert evaluation.reason.startswith("case n100: 1 of 100 elements of 'y' differ, worst at [70]: expected")
    assert [o.status for o in evaluation.outcomes] == [CaseStatus.WRONG, CaseStatus.PASSED, CaseStatus.WRONG]
    worst = evaluation.outcomes[0].comparisons[0].worst
    assert worst is not None
    assert worst.absolute == pytest.approx(1.0, abs=1e-6)
    assert evaluation.latencies == {}


def test_an_element_left_unwritten_is_wrong(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("i < n", "i < n - 1")), sim)
    assert evaluation.status is Status.WRONG_RESULT
    assert evaluation.outcomes[1].comparisons[0].mismatched == 1


def test_stopping_at_the_first_failure_leaves_the_rest_out(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("+ 1.0f", "+ 2.0f")), sim, stop_at_first=True)
    assert [o.case_id for o in evaluation.outcomes] == ["n100"]


def test_reading_past_the_end_is_a_fault_with_its_place(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("i < n", "i <= n")), sim)
    assert evaluation.status is Status.FAULT
    finding = evaluation.finding
    assert finding is not None
    assert finding.kind is FindingKind.ILLEGAL_ADDRESS
    assert (finding.file, finding.line, finding.buffer) == ("axpy.cu", 6, "x")
    assert (finding.element, finding.elements) == (100, 100)
    assert evaluation.reason == f"case n100: {finding.message}"
    assert [o.status for o in evaluation.outcomes] == [CaseStatus.FAULT] * 3


def test_writing_to_an_input_is_a_fault(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("y[i] =", "const_cast<float*>(x)[i] =")), sim)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.WRITE_TO_INPUT


def test_a_kernel_that_never_ends_exhausts_its_budget(tmp_path: Path, sim: Device) -> None:
    loop = ("y[i] =", "for (volatile unsigned j = 0; j < 4000000000u; j++) {} y[i] =")
    evaluation = judge(
        axpy(tmp_path, loop), sim, budget=Budget(block_instructions=10_000), stop_at_first=True
    )
    assert evaluation.status is Status.FAULT
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.TIMEOUT


def test_a_budget_that_is_enough_changes_nothing(tmp_path: Path, sim: Device) -> None:
    assert judge(axpy(tmp_path), sim, budget=Budget(block_instructions=10_000)).accepted


def test_a_compile_error_is_no_fault_and_runs_nothing(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, ("a * x[i]", "a * z[i]")), sim)
    assert evaluation.status is Status.COMPILE_ERROR
    assert evaluation.reason.startswith("axpy.cu:6")
    assert evaluation.diagnostics[0].severity == "error"
    assert evaluation.outcomes == ()


def test_an_unknown_entry_is_a_compile_error(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, entry="nothing"), sim)
    assert evaluation.status is Status.COMPILE_ERROR
    assert "axpy" in evaluation.reason


@pytest.mark.parametrize(
    ("launch", "complaint"),
    [
        ("grid=(1) block=(BLOCK * 32)", "gives grid=1 block=2048: 2048 threads per block"),
        ("grid=(1, 65536) block=(1)", "grid.y is 65536"),
        ("grid=(1) block=(1, 1, 65)", "block.z is 65"),
        ("grid=(1) block=(1) shared=300000", "300000 bytes of shared memory per block (0 static)"),
        ("grid=(cdiv(n, BLOCK)) block=(n - n)", "block=(n - n): expected at least 1, got 0"),
        ("grid=(4294967296) block=(1)", "grid.x is 4294967296"),
        ("grid=(n - 1) block=(n / (n - 1))", "a division by zero (n=1)"),
        ("grid=(n - n) block=(1)", "launches nothing, but the outputs are not empty"),
    ],
)
def test_an_impossible_launch_names_the_rule_and_what_it_breaks(
    launch: str, complaint: str, tmp_path: Path, sim: Device
) -> None:
    kernel = axpy(
        tmp_path,
        ("// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)", f"// @launch {launch}"),
        cases=[case(n=1)],
    )
    evaluation = judge(kernel, sim)
    assert evaluation.status is Status.FAULT
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.INVALID_LAUNCH
    assert complaint in evaluation.reason


def test_an_empty_grid_is_right_if_there_is_nothing_to_write(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, cases=[case(n=0, measure=True)]), sim)
    assert evaluation.accepted
    assert evaluation.outcomes[0].launch is not None
    assert evaluation.outcomes[0].launch.is_empty
    assert evaluation.latencies == {}


def test_an_empty_case_may_be_launched_all_the_same(tmp_path: Path, sim: Device) -> None:
    rule = ("grid=(cdiv(n, BLOCK))", "grid=(max(1, cdiv(n, BLOCK)))")
    assert judge(axpy(tmp_path, rule, cases=[case(n=0)]), sim).accepted


@pytest.mark.parametrize("kind", [FindingKind.UNSUPPORTED_INSTRUCTION, FindingKind.OUT_OF_MEMORY])
def test_what_the_device_cannot_execute_is_not_judged(kind: FindingKind, tmp_path: Path, sim: Device) -> None:
    evaluation = _with_fault(axpy(tmp_path), kind, sim)
    assert evaluation.status is Status.NOT_JUDGED
    assert evaluation.outcomes[0].status is CaseStatus.UNSUPPORTED


def test_a_wrong_case_decides_before_one_that_could_not_be_judged(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = axpy(tmp_path, ("+ 1.0f", "+ 2.0f"))
    _break_launches(monkeypatch, FindingKind.UNSUPPORTED_INSTRUCTION, only_first=True)
    evaluation = judge(kernel, sim)
    assert [o.status for o in evaluation.outcomes] == [
        CaseStatus.UNSUPPORTED,
        CaseStatus.WRONG,
        CaseStatus.WRONG,
    ]
    assert evaluation.status is Status.WRONG_RESULT


@pytest.mark.parametrize("kind", [FindingKind.HARNESS_CRASH, FindingKind.TRAP, FindingKind.TIMEOUT])
def test_a_harness_that_dies_is_the_candidates_fault(kind: FindingKind, tmp_path: Path, sim: Device) -> None:
    assert _with_fault(axpy(tmp_path), kind, sim).status is Status.FAULT


@pytest.mark.parametrize("kind", [FindingKind.NO_NVRTC, FindingKind.NO_DEVICE])
def test_a_missing_toolchain_or_device_raises(kind: FindingKind, tmp_path: Path, sim: Device) -> None:
    with pytest.raises(EnvironmentFault):
        _with_fault(axpy(tmp_path), kind, sim)


def test_a_reference_that_raises_is_not_the_kernels_fault(tmp_path: Path, sim: Device) -> None:
    with pytest.raises(ReferenceFault, match="ZeroDivisionError"):
        judge(axpy(tmp_path, reference=lambda **named: 1 / 0), sim)


def test_inputs_that_cannot_be_drawn_are_not_the_kernels_fault(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "axpy.cu").write_text(AXPY)

    @kernel(str(tmp_path / "axpy.cu"), cases=[case(n=4)])
    def axpy(x=In(f32, "n", values=lambda *_: np.zeros(3)), y=Out(f32, "n"), n=i32, a=Scalar(f32, 0.5)):
        y[...] = a * x + 1

    with pytest.raises(DeclarationError, match=r"axpy\.x at case\(n=4\): values= callable"):
        judge(axpy, sim)


def test_a_one_stage_plan_runs_one_stage(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    only_compiled = evaluate(kernel, kernel.start(), Plan((Stage.COMPILE,), kernel.cases), sim)
    assert (only_compiled.accepted, only_compiled.outcomes, only_compiled.reason) == (True, (), "compiled")
    measured = evaluate(kernel, kernel.start(), Plan((Stage.MEASURE,), kernel.cases), sim)
    assert measured.reason == "latency modelled on 1 case"
    assert [o.case_id for o in measured.outcomes] == ["n1000"]


def test_measuring_a_faulty_kernel_is_a_fault(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path, ("i < n", "i <= n"))
    evaluation = evaluate(kernel, kernel.start(), Plan((Stage.MEASURE,), kernel.cases), sim)
    assert evaluation.status is Status.FAULT


def test_measuring_an_impossible_launch_is_a_fault(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    candidate = kernel.start().with_tunables({"BLOCK": 2048})
    evaluation = evaluate(kernel, candidate, Plan((Stage.MEASURE,), kernel.cases), sim)
    assert evaluation.finding is not None
    assert evaluation.finding.kind is FindingKind.INVALID_LAUNCH


def test_a_case_nobody_declared_is_named_by_its_sizes(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    evaluation = evaluate(kernel, kernel.start(), Plan(ALL_STAGES, (case(n=33),)), sim)
    assert [o.case_id for o in evaluation.outcomes] == ["n33"]


def test_outputs_leave_no_files_behind(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    judge(kernel, sim)
    before = set(sim.scratch.iterdir())
    judge(kernel, sim)
    assert set(sim.scratch.iterdir()) == before


def test_a_damaged_guard_is_a_fault(tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Harness.ask

    def damage(self: Harness, request: Request) -> Answer:
        answer = ask(self, request)
        steps = tuple(replace(s, intact=False) if s.do == "read_guards" else s for s in answer.steps)
        return replace(answer, steps=steps)

    monkeypatch.setattr(Harness, "ask", damage)
    evaluation = judge(axpy(tmp_path), sim)
    assert evaluation.status is Status.FAULT
    assert "wrote within 256 bytes before or after 'y'" in evaluation.reason


def test_a_gpu_judges_like_sim_and_says_measured(tmp_path: Path, sim: Device) -> None:
    gpu, _ = pretend(sim)
    evaluation = judge(axpy(tmp_path), gpu)
    assert evaluation.accepted
    assert evaluation.reason == "right on 3 cases, latency measured on 1 case"
    assert evaluation.latencies["n1000"].samples_ns == (1.0, 2.0, 3.0)


def test_a_launch_that_is_wrong_only_when_timed_is_a_wrong_result(tmp_path: Path, sim: Device) -> None:
    gpu, _ = pretend(sim, remembers=True)
    evaluation = judge(axpy(tmp_path), gpu)
    assert evaluation.status is Status.WRONG_RESULT
    assert re.match(
        r"case n1000: a timed launch, on inputs it had not seen, is wrong \(case\(n=1000, seed=\d+, "
        r"measure=True\) draws them\): 1000 of 1000 elements of 'y' differ",
        evaluation.reason,
    )
    outcome = evaluation.outcomes[2]
    assert (outcome.status, outcome.latency) == (CaseStatus.WRONG, None)
    assert not outcome.comparisons[0].matches
    assert [o.status for o in evaluation.outcomes[:2]] == [CaseStatus.PASSED] * 2


def test_an_element_left_unwritten_under_a_maximum_is_found_by_the_second_launch(
    tmp_path: Path, sim: Device
) -> None:
    gpu, _ = pretend(sim)
    kernel = axpy(tmp_path, ("y[i] = a * x[i] + 1.0f", "y[i] = fmaxf(y[i], a * x[i] + 1.0f)"))
    assert judge(kernel, sim).accepted
    evaluation = judge(kernel, gpu)
    assert evaluation.status is Status.WRONG_RESULT
    assert "wrong when launched again (its outputs held another pattern before)" in evaluation.reason


def test_a_timed_launch_is_held_to_the_reference_where_nothing_can_be_held_out(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "HELD_OUT_BYTES", 0)
    gpu, _ = pretend(sim)
    kernel = axpy(tmp_path, ("+ 1.0f", "+ 2.0f"))
    evaluation = evaluate(kernel, kernel.start(), Plan((Stage.MEASURE,), kernel.cases), gpu)
    assert evaluation.status is Status.WRONG_RESULT
    assert evaluation.reason.startswith("case n1000: a timed launch is wrong: 1000 of 1000")


def test_a_reference_that_cannot_take_other_inputs_does_not_fail_the_kernel(
    tmp_path: Path, sim: Device
) -> None:
    calls: list[int] = []

    def only_these(x: Any, y: Any, n: int, a: float) -> None:
        calls.append(n)
        if calls.count(1000) > 1:
            raise ValueError("no more")
        y[...] = a * x + 1

    gpu, _ = pretend(sim)
    evaluation = judge(axpy(tmp_path, reference=only_these), gpu)
    assert evaluation.accepted
    assert "timed on one set of inputs" in evaluation.latencies["n1000"].notes[-1]


EVERYTHING = """// @launch grid=(1) block=(32)
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void everything(const __half* h, const __nv_bfloat16* b, double* total, float* tmp,
                                      bool* positive, int n) {
    int i = threadIdx.x;
    if (i < n) {
        tmp[i] = __half2float(h[i]) + __bfloat162float(b[i]);
        total[i] += tmp[i];
        positive[i] = total[i] > 0;
    }
}
"""


def test_every_kind_of_parameter_reaches_the_kernel(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "everything.cu").write_text(EVERYTHING)

    @kernel(str(tmp_path / "everything.cu"), cases=[case(n=20)])
    def everything(
        h=In(f16, "n"),
        b=In(bf16, "n"),
        total=InOut(f64, "n"),
        tmp=Scratch(f32, "n"),
        positive=Out(bool_, "n"),
        n=i32,
    ):
        total += np.float32(h + b)
        positive[...] = total > 0

    evaluation = judge(everything, sim)
    assert evaluation.accepted, evaluation.reason
    assert [c.output for c in evaluation.outcomes[0].comparisons] == ["total", "positive"]


def _break_launches(monkeypatch: pytest.MonkeyPatch, kind: FindingKind, *, only_first: bool) -> None:
    ask = Harness.ask
    broken: list[str] = []

    def answer(self: Harness, request: Request) -> Answer:
        launches = any(isinstance(step, Launch) for step in request.steps)
        if not launches or (only_first and broken):
            return ask(self, request)
        broken.append(request.id)
        fault = Finding(kind, "made up")
        return Answer(request.id, request.nonce, AnswerStatus.FAULT, "sim", fault=fault)

    monkeypatch.setattr(Harness, "ask", answer)


def _with_fault(kernel: Kernel, kind: FindingKind, sim: Device) -> Evaluation:
    with pytest.MonkeyPatch.context() as monkeypatch:
        _break_launches(monkeypatch, kind, only_first=False)
        return judge(kernel, sim)
