"""A candidate that would compute something else than the start, if nothing were rounded, is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.tripwire import TripwireKind

CUBE = """// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void cube(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 0.25f * x[i] * x[i] * x[i];
}
"""
# Within the tolerance, and no rounding: a wrong constant.
WRONG_CONSTANT = CUBE.replace("0.25f", "0.2501f")
# Other roundings of the same formula.
OTHER_ORDER = CUBE.replace("0.25f * x[i] * x[i] * x[i]", "x[i] * (x[i] * (x[i] * 0.25f))")


def cubing(folder: Path) -> Kernel:
    (folder / "cube.cu").write_text(CUBE)

    @kernel(str(folder / "cube.cu"), cases=[case(n=100), case(n=1000)], rtol=1e-3, atol=1e-3)
    def cube(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x + x**3 / 4

    return cube


def judged(made: Kernel, sim: Device, source: str, **changed: bool) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.SANITIZE), made.cases, rounding=True, witness=made.start())
    return evaluate(made, made.candidate(source, Path("candidate.cu")), replace(plan, **changed), sim)


def test_a_wrong_constant_within_the_tolerance_is_noticed(tmp_path: Path, sim: Device) -> None:
    evaluation = judged(cubing(tmp_path), sim, WRONG_CONSTANT)

    assert evaluation.accepted
    (noticed,) = evaluation.tripwires
    assert noticed.kind is TripwireKind.OTHER_FORMULA
    assert str(noticed).startswith("without any rounding 'y' would be off its reference by ")
    assert any("noticed, no verdict: without any rounding" in one for one in certificate_of(evaluation).lines)


@pytest.mark.parametrize("source", [OTHER_ORDER, CUBE], ids=["other order", "the start"])
def test_the_same_formula_is_not(tmp_path: Path, sim: Device, source: str) -> None:
    assert judged(cubing(tmp_path), sim, source).tripwires == ()


def test_without_a_float64_run_nobody_knows(tmp_path: Path, sim: Device) -> None:
    assert judged(cubing(tmp_path), sim, WRONG_CONSTANT, rounding=False).tripwires == ()
