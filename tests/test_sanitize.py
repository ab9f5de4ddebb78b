"""The checks of `sim` as a stage of the judge: what is found, in which orders, and what follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from altered_answers import altered, showing
from judged_kernels import axpy
from pretend_gpu import pretend

from pytest_cudaopt import In, InOut, Out, case, f32, i32, kernel, waive
from pytest_cudaopt.answers import Answer
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import CaseStatus, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import Checks, Launch, Order
from pytest_cudaopt.rounding_error import ErrorSplit
from pytest_cudaopt.sanitized import Sanitized

STAGES = (Stage.COMPILE, Stage.CHECK, Stage.SANITIZE)
RACE = Finding(FindingKind.RACE, "made up: a race", file="axpy.cu", line=6, buffer="y", space="global")
UNWRITTEN = Finding(FindingKind.UNINITIALIZED_READ, "made up: nobody wrote it", file="axpy.cu", line=4)
# Right in any order of blocks; without the barrier, neighbours' stores are read before they are there.
REVERSED = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void flip(const float* x, float* y, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = s[threadIdx.x ^ 32];
}
"""
ADDING = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void add(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) atomicAdd(y, x[i]);
}
"""
LAST_WINS = """// @launch grid=(n) block=(32)
extern "C" __global__ void last(float* y, int n) {
    if (threadIdx.x == 0) atomicExch(y, (float)blockIdx.x);
}
"""


def flip(folder: Path, source: str = REVERSED, **declared: Any) -> Kernel:
    file = folder / "flip.cu"
    file.write_text(source)

    @kernel(str(file), cases=[case(n=64), case(n=640)], **declared)
    def flip(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x.reshape(-1, 2, 32)[:, ::-1].reshape(-1)

    return flip


def judge(judged: Kernel, device: Device, stages: tuple[Stage, ...] = STAGES, **changes: Any) -> Evaluation:
    return evaluate(judged, judged.start(), Plan(stages, judged.cases, **changes), device)


def test_a_right_kernel_is_silent_in_every_order(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(flip(tmp_path), sim)
    assert evaluation.accepted
    assert evaluation.reason == "right on 2 cases, no findings on 2 cases"
    for outcome in evaluation.outcomes:
        assert outcome.sanitized is not None
        assert outcome.sanitized.is_done
        assert outcome.sanitized.orders == ("forward", "reverse", "random")
        assert outcome.sanitized.notes == ()
    assert [stage for stage, _ in evaluation.seconds] == ["compile", "check", "sanitize"]


def test_a_missing_barrier_is_a_race_with_both_lines(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(flip(tmp_path, REVERSED.replace("    __syncthreads();\n", "")), sim, (Stage.SANITIZE,))
    assert evaluation.status is Status.FINDING
    race = evaluation.findings[0]
    assert race.kind is FindingKind.RACE
    assert race.other is not None
    assert {race.line, race.other.line} == {5, 6}
    assert (race.file, race.buffer, race.space) == ("flip.cu", "s", "shared")
    assert [outcome.status for outcome in evaluation.outcomes] == [CaseStatus.FINDING] * 2


def test_one_race_is_told_once_whatever_the_order(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(flip(tmp_path, REVERSED.replace("    __syncthreads();\n", "")), sim, (Stage.SANITIZE,))
    races = [one for one in evaluation.outcomes[0].findings if one.kind is FindingKind.RACE]
    assert len(races) == 1
    assert races[0].times > 1


def test_what_is_behind_a_wrong_result_is_told_with_it(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(flip(tmp_path, REVERSED.replace("    __syncthreads();\n", "")), sim)
    assert evaluation.status is Status.WRONG_RESULT
    assert evaluation.outcomes[0].status is CaseStatus.WRONG
    assert evaluation.findings[0].kind is FindingKind.RACE
    assert "differ, worst at" in evaluation.reason
    assert "; race: kernel 'flip' " in evaluation.reason


def test_every_order_is_asked_for_with_all_checks_from_the_same_memory(tmp_path: Path, sim: Device) -> None:
    device, harness = altered(sim, lambda answer: answer)
    judge(axpy(tmp_path, cases=[case(n=100)]), device)
    asked = harness.asked[-1]
    launches = [step for step in asked.steps if isinstance(step, Launch)]
    assert [step.order for step in launches] == [Order.FORWARD, Order.REVERSE, Order.RANDOM]
    assert {step.checks for step in launches} == {Checks(accesses=True)}
    names = [step.DO for step in asked.steps]
    assert names == [
        "load",
        "launch",
        "read",
        "reload",
        "reset",
        "launch",
        "read",
        "reload",
        "reset",
        "launch",
        "read",
    ]
    assert list(sim.scratch.glob(f"{asked.nonce}*")) == []


def test_the_order_is_drawn_from_the_case_alone(tmp_path: Path, sim: Device) -> None:
    def seeds() -> list[int]:
        device, harness = altered(sim, lambda answer: answer)
        judge(axpy(tmp_path, cases=[case(n=100), case(n=99)]), device)
        steps = (step for request in harness.asked for step in request.steps)
        return [s.order_seed for s in steps if isinstance(s, Launch) and s.order is Order.RANDOM]

    first, second = seeds()
    assert first != second
    assert seeds() == [first, second]


def test_only_small_cases_are_looked_at_and_always_the_smallest(tmp_path: Path, sim: Device) -> None:
    judged = axpy(tmp_path, cases=[case(n=100), case(n=1), case(n=1000)])

    def seen(most: int) -> list[str]:
        outcomes = judge(judged, sim, sanitize_elements=most).outcomes
        return [outcome.case_id for outcome in outcomes if outcome.sanitized is not None]

    assert seen(2000) == ["n100", "n1", "n1000"]
    assert seen(1999) == ["n100", "n1"]
    assert seen(1) == ["n1"]


def test_several_findings_are_all_kept_the_most_severe_first(tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, showing(UNWRITTEN, RACE))
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)]), device)
    assert evaluation.status is Status.FINDING
    assert evaluation.findings == (RACE, UNWRITTEN)
    assert evaluation.reason == "case n100: made up: a race (and 1 more finding)"


def test_what_only_another_order_shows_says_so(tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, showing(RACE, launch=1))
    (found,) = judge(axpy(tmp_path, cases=[case(n=100)]), device).findings
    assert found.message == "made up: a race (blocks and warps in reverse order)"


def test_a_waived_finding_does_not_fail_the_case(tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, showing(RACE))
    waiver = waive("race", at="axpy.cu:6", reason="known")
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)], waivers=[waiver]), device)
    assert evaluation.accepted
    assert evaluation.reason == "right on 1 case, no findings but 1 waived on 1 case"
    (outcome,) = evaluation.outcomes
    assert outcome.sanitized is not None
    assert [waived.finding for waived in outcome.sanitized.waived] == [RACE]


def test_a_finding_beside_a_waived_one_still_fails_the_case(tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, showing(RACE, UNWRITTEN))
    waiver = waive("race", at="axpy.cu:6", reason="known")
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)], waivers=[waiver]), device)
    assert evaluation.findings == (UNWRITTEN,)


def test_a_fault_in_another_order_is_a_fault(tmp_path: Path, sim: Device) -> None:
    late = "int turn = atomicAdd(&turns, 1); if (turn == 0 && blockIdx.x > 0) __trap(); y[i] ="
    judged = axpy(
        tmp_path, ('extern "C"', '__device__ int turns;\nextern "C"'), ("y[i] =", late), cases=[case(n=100)]
    )
    evaluation = judge(judged, sim)
    assert evaluation.status is Status.FAULT
    assert evaluation.findings[0].kind is FindingKind.TRAP
    assert evaluation.findings[0].message.endswith("(blocks and warps in reverse order)")


def test_a_result_that_depends_on_the_order_is_a_finding_without_a_line(tmp_path: Path, sim: Device) -> None:
    file = tmp_path / "last.cu"
    file.write_text(LAST_WINS)

    @kernel(str(file), cases=[case(n=8)])
    def last(y=InOut(f32, 1), n=i32):
        y[...] = n - 1

    evaluation = judge(last, sim)
    assert evaluation.status is Status.FINDING
    (found,) = evaluation.findings
    assert (found.kind, found.file, found.line) == (FindingKind.ORDER_DEPENDENT, "last.cu", None)
    assert found.message == (
        "kernel 'last' is right with blocks and warps in forward order and wrong in reverse order: "
        "1 of 1 elements of 'y' differ, worst at [0]: expected 7, got 0"
    )
    waived = replace(last, waivers=(waive("order_dependent", at="last.cu", reason="any will do"),))
    assert judge(waived, sim).accepted


def test_several_right_answers_may_depend_on_the_order(tmp_path: Path, sim: Device) -> None:
    file = tmp_path / "last.cu"
    file.write_text(LAST_WINS)

    @kernel(str(file), cases=[case(n=8)], accept=lambda y: (y < 0) | (y > 7))
    def last(y=InOut(f32, 1), n=i32): ...

    evaluation = judge(last, sim)
    assert evaluation.accepted
    assert notes(evaluation) == ("bits of 'y' depend on the order",)


def notes(evaluation: Evaluation) -> tuple[str, ...]:
    sanitized = evaluation.outcomes[0].sanitized
    assert sanitized is not None
    return sanitized.notes


def test_sums_by_atomics_differ_by_bits_which_is_a_note(tmp_path: Path, sim: Device) -> None:
    file = tmp_path / "add.cu"
    file.write_text(ADDING)

    @kernel(str(file), cases=[case(n=640)], rtol=1e-4, atol=1e-4)
    def add(x=In(f32, "n"), y=InOut(f32, 1), n=i32):
        y[...] += x.sum()

    evaluation = judge(add, sim)
    assert evaluation.accepted
    assert notes(evaluation) == ("bits of 'y' depend on the order",)


def test_what_the_checks_could_not_look_at_is_said_once(tmp_path: Path, sim: Device) -> None:
    def change(answer: Answer) -> Answer:
        steps = (replace(s, notes=("'y' is too large",)) if s.do == "launch" else s for s in answer.steps)
        return replace(answer, steps=tuple(steps))

    device, _ = altered(sim, change)
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)]), device)
    assert evaluation.accepted
    assert notes(evaluation) == ("'y' is too large",)


def test_a_launch_of_nothing_has_no_findings(tmp_path: Path, sim: Device) -> None:
    evaluation = judge(axpy(tmp_path, cases=[case(n=0)]), sim)
    assert evaluation.accepted
    assert evaluation.reason == "right on 1 case, no findings on 1 case"


def test_what_sim_cannot_execute_is_left_out_with_the_reason(tmp_path: Path, sim: Device) -> None:
    unknown = Finding(FindingKind.UNSUPPORTED_INSTRUCTION, "sim cannot execute 'wgmma'", line=6)
    device, _ = altered(sim, lambda answer: replace(answer, fault=unknown))
    (outcome,) = judge(axpy(tmp_path, cases=[case(n=100)]), device).outcomes
    assert outcome.status is CaseStatus.PASSED
    assert outcome.sanitized is not None
    assert outcome.sanitized.skipped == "sim cannot execute 'wgmma'"
    assert not outcome.sanitized.is_done


@pytest.mark.parametrize(
    "kind", [FindingKind.INVALID_LAUNCH, FindingKind.OUT_OF_MEMORY, FindingKind.HARNESS_CRASH]
)
def test_what_is_about_sim_and_not_the_kernel_is_no_fault(
    kind: FindingKind, tmp_path: Path, sim: Device
) -> None:
    device, _ = altered(sim, lambda answer: replace(answer, fault=Finding(kind, "sim gave up", line=6)))
    (outcome,) = judge(axpy(tmp_path, cases=[case(n=100)]), device).outcomes
    assert outcome.status is CaseStatus.PASSED
    assert outcome.sanitized is not None
    assert outcome.sanitized.skipped == "sim gave up"


WAITING = Finding(FindingKind.NO_PROGRESS, "block 1 waits for block 0", line=6)


def test_waiting_for_ever_in_another_order_alone_is_a_note(tmp_path: Path, sim: Device) -> None:
    def change(answer: Answer) -> Answer:
        return replace(answer, fault=WAITING, steps=answer.steps[:3])

    device, _ = altered(sim, change)
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)]), device)
    assert evaluation.accepted
    assert notes(evaluation) == ("blocks rely on their order: block 1 waits for block 0",)


def test_waiting_for_ever_in_order_is_a_fault(tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, lambda answer: replace(answer, fault=WAITING, steps=answer.steps[:1]))
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)]), device)
    assert evaluation.status is Status.FAULT
    assert evaluation.findings == (WAITING,)


def test_what_was_seen_before_a_fault_is_told_with_it(tmp_path: Path, sim: Device) -> None:
    trap = Finding(FindingKind.TRAP, "a trap", line=6)
    device, _ = altered(
        sim, lambda answer: replace(answer, fault=trap, findings=(RACE,), steps=answer.steps[:1])
    )
    evaluation = judge(axpy(tmp_path, cases=[case(n=100)]), device)
    assert evaluation.status is Status.FAULT
    assert evaluation.findings == (trap, RACE)


@pytest.mark.parametrize(("line", "status"), [(None, CaseStatus.PASSED), (6, CaseStatus.FAULT)])
def test_too_slow_is_no_mistake_and_an_endless_loop_is_one(
    line: int | None, status: CaseStatus, tmp_path: Path, sim: Device
) -> None:
    late = Finding(FindingKind.TIMEOUT, "no end", line=line)
    device, _ = altered(sim, lambda answer: replace(answer, fault=late))
    (outcome,) = judge(axpy(tmp_path, cases=[case(n=100)]), device).outcomes
    assert outcome.status is status
    assert outcome.sanitized is not None
    assert bool(outcome.sanitized.skipped) is (line is None)


def without(kind: str) -> Any:
    """Return what drops the last step of a kind from an answer."""

    def change(answer: Answer) -> Answer:
        last = max(number for number, step in enumerate(answer.steps) if step.do == kind)
        return replace(answer, steps=answer.steps[:last] + answer.steps[last + 1 :])

    return change


@pytest.mark.parametrize("kind", ["launch", "read"])
def test_an_answer_that_leaves_an_order_out_is_refused(kind: str, tmp_path: Path, sim: Device) -> None:
    device, _ = altered(sim, without(kind))
    with pytest.raises(HarnessError, match=f"expected 3 '{kind}' steps, got 2"):
        judge(axpy(tmp_path, cases=[case(n=100)]), device)


def test_on_a_gpu_sim_is_asked_with_line_tables(tmp_path: Path, sim: Device) -> None:
    gpu, harness = pretend(sim)
    evaluation = judge(flip(tmp_path, REVERSED.replace("    __syncthreads();\n", "")), gpu, (Stage.SANITIZE,))
    assert evaluation.device == "a pretended GPU"
    assert evaluation.findings[0].line in (5, 6)
    watched = [request for request in harness.asked if "/sanitize/" in request.id]
    assert {request.device for request in watched} == {"sim"}
    compiled = [
        request.modules[0].line_tables for request in harness.asked if request.id.endswith("/compile")
    ]
    assert set(compiled) <= {True, False}
    assert len(compiled) <= 2


def rounding(judged: Kernel, device: Device) -> tuple[ErrorSplit, ...]:
    evaluation = judge(judged, device, rounding=True)
    assert evaluation.accepted
    sanitized = evaluation.outcomes[0].sanitized
    assert sanitized is not None
    return sanitized.errors


def test_the_error_of_an_output_is_split_where_that_is_asked_for(tmp_path: Path, sim: Device) -> None:
    (split,) = rounding(axpy(tmp_path, cases=[case(n=100)]), sim)
    assert split.output == "y"
    assert 0 < split.relative_rounding < 1e-6
    assert split.relative_logic < 1e-12
    assert judge(axpy(tmp_path, cases=[case(n=100)]), sim).outcomes[0].sanitized == Sanitized(
        ("forward", "reverse", "random")
    )


def test_a_mistake_that_the_tolerance_hides_is_a_logic_error(tmp_path: Path, sim: Device) -> None:
    (split,) = rounding(axpy(tmp_path, ("+ 1.0f", "+ 1.0001f"), cases=[case(n=100)], rtol=1e-2), sim)
    assert split.relative_logic > 1e-5
    assert split.relative_rounding < 1e-6


def test_outputs_of_integers_have_no_rounding(tmp_path: Path, sim: Device) -> None:
    file = tmp_path / "count.cu"
    file.write_text(
        "// @launch grid=(1) block=(32)\n"
        'extern "C" __global__ void count(int* y, int n) { if (threadIdx.x == 0) y[0] = n; }\n'
    )

    @kernel(str(file), cases=[case(n=8)])
    def count(y=Out(i32, 1), n=i32):
        y[...] = n

    assert rounding(count, sim) == ()
