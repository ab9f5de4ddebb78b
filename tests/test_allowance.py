"""What trials may take of a GPU: when they are cut short, and that whoever reads the verdict is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.allowance import Allowance
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage
from pytest_cudaopt.pipeline import evaluate

COPY = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
SPENT = "the 1.5 s that these trials may keep a GPU busy were spent"


def judged(folder: Path, sim: Device) -> Evaluation:
    (folder / "copy.cu").write_text(COPY)

    @kernel(str(folder / "copy.cu"), cases=[case(n=128), case(n=1000)])
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    stages = (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.CONTRACT)
    plan = Plan(stages, copy.cases, fuzz_examples=20, fuzz_seed=3, witness=copy.start())
    other = copy.candidate(COPY.replace("y[i] = x[i]", "y[i] = x[i] * 1.0f"), Path("candidate.cu"))
    return evaluate(copy, other, plan, sim)


def test_a_gpu_is_kept_busy_for_so_long_and_sim_for_as_long_as_it_takes(sim: Device) -> None:
    gpu = replace(sim, selector="cuda:0")
    on_gpu = Allowance.of(Stage.CONTRACT, 10, gpu)
    on_sim = Allowance.of(Stage.CONTRACT, 10, sim)
    before = sim.harness.busy_s
    try:
        sim.harness.busy_s = before + 1.4
        assert (on_gpu.spent, on_sim.spent) == ("", "")
        sim.harness.busy_s = before + 1.6
        assert (on_gpu.spent, on_sim.spent) == (SPENT, "")
    finally:
        sim.harness.busy_s = before


@pytest.mark.parametrize(("examples", "seconds"), [(1, 1.0), (100, 1.0), (1000, 10.0)])
def test_more_draws_have_more_time(sim: Device, examples: int, seconds: float) -> None:
    assert Allowance.of(Stage.FUZZ, examples, sim).seconds == seconds


def test_the_harness_counts_how_long_it_was_busy(tmp_path: Path, sim: Device) -> None:
    before = sim.harness.busy_s
    judged(tmp_path, sim)
    assert sim.harness.busy_s > before


def test_what_was_cut_short_is_not_checked_and_the_certificate_says_why(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = judged(tmp_path, sim)
    monkeypatch.setattr(
        Allowance, "spent", property(lambda allowance: SPENT if allowance.seconds > 1 else "")
    )

    cut = judged(tmp_path, sim)

    assert cut.accepted
    trials = {stage: [one.judged for one in cut.tried if one.stage is stage] for stage in Stage}
    assert sum(trials[Stage.FUZZ]) == sum(one.judged for one in whole.tried if one.stage is Stage.FUZZ)
    assert (
        sum(trials[Stage.CONTRACT])
        == 0
        < sum(one.judged for one in whole.tried if one.stage is Stage.CONTRACT)
    )
    missing = certificate_of(cut).not_checked
    assert f"being right far beyond the declared sizes: {SPENT}" in missing
    assert f"arrays of more than 2^31 elements: {SPENT}" in missing
    assert not any(SPENT in one for one in certificate_of(whole).not_checked)
