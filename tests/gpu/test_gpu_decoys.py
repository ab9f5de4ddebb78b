"""On a GPU memory before an output is mapped: what looks there for an answer finds a wrong one."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage
from pytest_cudaopt.pipeline import evaluate

pytestmark = pytest.mark.gpu

COPY = """// @launch grid=(1) block=(256)
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
# It takes numbers that are no pattern of two bytes, and computes where there are none.
LOOKS = COPY.replace(
    "y[i] = x[i];",
    "{\n        float found = y[i - n];\n"
    "        bool is_answer = fabsf(found) > 0.05f && fabsf(found) < 1e6f;\n"
    "        y[i] = is_answer ? found : x[i];\n    }",
)


def judged(folder: Path, cuda: Device, source: str, ignored: Collection[str] = ()) -> Evaluation:
    (folder / "copy.cu").write_text(COPY)

    @kernel(str(folder / "copy.cu"), cases=[case(n=200)], ignored=list(ignored), rtol=0.0, atol=0.0)
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    stages = (Stage.COMPILE, Stage.CHECK, Stage.PROBE)
    plan = Plan(stages, copy.cases, fuzz_seed=1, witness=copy.start(), stop_at_first=True)
    return evaluate(copy, copy.candidate(source, Path("candidate.cu")), plan, cuda)


def test_what_takes_answers_that_lie_before_the_output_is_refused(tmp_path: Path, cuda: Device) -> None:
    evaluation = judged(tmp_path, cuda, LOOKS)

    assert [str(one.lost) for one in evaluation.outcomes if one.lost] == ["decoys"], evaluation.reason
    assert "wrong where answers to other inputs lie around its outputs" in evaluation.reason


def test_nothing_else_would_see_it(tmp_path: Path, cuda: Device) -> None:
    assert judged(tmp_path, cuda, LOOKS, ["decoys"]).accepted


def test_what_looks_nowhere_is_accepted(tmp_path: Path, cuda: Device) -> None:
    evaluation = judged(tmp_path, cuda, COPY.replace("y[i] = x[i]", "y[i] = 1.0f * x[i]"))

    assert evaluation.accepted, evaluation.reason
    assert "decoys" in {str(one.property) for one in evaluation.tried}
