"""What is judged at one case, and at sizes that only the checks of `sim` look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.case_judge import CaseJudge, sanitize_drawn
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import CaseStatus, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.properties import Property

COPY = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
# Threads beyond the end read, without a barrier, what the first of the block writes.
RACE = COPY.replace(
    "if (i < n) y[i] = x[i];",
    """__shared__ float first;
    if (threadIdx.x == 0) first = x[i];
    if (i < n) y[i] = x[i];
    else if (first > 1e30f) y[n - 1] = first;""",
)
STAGES = (Stage.COMPILE, Stage.CHECK, Stage.SANITIZE)


def declare(folder: Path, source: str = COPY) -> Kernel:
    (folder / "copy.cu").write_text(source)

    @kernel(str(folder / "copy.cu"), cases=[case(n=64), case(n=128)])
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    return copy


def plan_of(made: Kernel, *, examples: int = 4) -> Plan:
    return Plan(STAGES, made.cases, fuzz_examples=examples, fuzz_seed=1, witness=made.start())


def judge_of(made: Kernel, source: str, device: Device) -> CaseJudge:
    candidate, plan = made.candidate(source, Path("copy.cu")), plan_of(made)
    compiled = compile_candidate(made, candidate, device, plan.budget)
    assert isinstance(compiled, Compiled)
    return CaseJudge(made, candidate, compiled, plan, device)


def test_a_race_at_no_declared_size_is_found_at_a_drawn_one(tmp_path: Path, sim: Device) -> None:
    made = declare(tmp_path)
    racing = made.candidate(RACE, tmp_path / "other.cu")
    judged = evaluate(made, racing, plan_of(made), sim)

    assert judged.status is Status.FINDING
    assert judged.finding is not None
    assert judged.finding.kind is FindingKind.RACE
    assert judged.outcomes[-1].lost is Property.FUZZED_SIZES
    assert judged.outcomes[-1].case not in made.cases
    assert evaluate(made, made.start(), plan_of(made), sim).accepted


def test_without_drawn_cases_the_race_stays_unseen(tmp_path: Path, sim: Device) -> None:
    made = declare(tmp_path)
    racing = made.candidate(RACE, tmp_path / "other.cu")

    assert evaluate(made, racing, plan_of(made, examples=0), sim).accepted


def test_a_race_that_the_start_has_too_binds_nobody(tmp_path: Path, sim: Device) -> None:
    made = declare(tmp_path, RACE)
    other = made.candidate(RACE.replace("n - 1", "n + -1"), tmp_path / "other.cu")
    judged = evaluate(made, other, plan_of(made), sim)

    assert judged.accepted
    assert [(one.stage, one.property) for one in judged.tried] == [(Stage.SANITIZE, Property.FUZZED_SIZES)]


def test_a_start_that_does_not_compile_binds_nobody(tmp_path: Path, sim: Device) -> None:
    judge = judge_of(declare(tmp_path), RACE, sim)
    broken = judge.kernel.candidate("#error\n" + COPY, tmp_path / "broken.cu")

    assert sanitize_drawn(judge, {}).failed is not None
    unfit = replace(judge, plan=replace(judge.plan, witness=broken))
    assert sanitize_drawn(unfit, {}).failed is None


@pytest.mark.parametrize("method", ["sanitize", "measure"])
def test_what_was_found_before_is_kept(tmp_path: Path, sim: Device, method: str) -> None:
    judge = judge_of(declare(tmp_path), COPY, sim)
    checked = judge.check(case(n=70))
    after = getattr(judge, method)(case(n=70), checked)

    assert checked.comparisons
    assert after.comparisons == checked.comparisons
    assert getattr(judge, method)(case(n=70)).comparisons == ()
    assert after.status is CaseStatus.PASSED
    assert (after.sanitized is not None, after.latency is not None) == (
        method == "sanitize",
        method == "measure",
    )
