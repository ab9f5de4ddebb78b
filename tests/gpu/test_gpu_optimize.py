"""A whole run of the tuner on silicon."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.summary import StopReason

pytestmark = pytest.mark.gpu
EXAMPLES = Path(__file__).parents[2] / "example_kernels"


def test_the_tuner_judges_every_attempt_by_measured_times(cuda: Device, tmp_path: Path) -> None:
    for name in ("saxpy.cu", "test_saxpy.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    kernel = load_kernel(f"{tmp_path / 'test_saxpy.py'}::saxpy")
    heard: list[object] = []
    summary = optimize(kernel, cuda, OptimizeOptions(accept=True), tmp_path / "results", heard.append)
    assert summary.stopped_because in (StopReason.ITERATIONS_USED, StopReason.NOTHING_LEFT)
    assert [a.evaluation.reason for a in summary.attempts if not a.evaluation.accepted] == []
    kinds = {one.kind for a in summary.attempts for one in a.evaluation.latencies.values()}
    assert kinds == {LatencyKind.MEASURED}
    assert len(heard) == len(summary.attempts) > 1
    assert summary.best is not None
    assert summary.speedup is not None
    assert summary.speedup >= 1
    assert list((summary.folder / "replay").glob("*.json"))


def test_pytest_optimizes_on_the_gpu(pytester: pytest.Pytester) -> None:
    for name in ("saxpy.cu", "test_saxpy.py"):
        shutil.copy(EXAMPLES / name, pytester.path)
    quiet = ("-p", "no:cacheprovider", "--cudaopt-device=cuda:0", "--optimize-max-iterations=2")
    result = pytester.runpytest_subprocess(*quiet, "--optimize", "-k", "optimize")
    assert result.ret == 0, result.stdout.str()
    assert list(pytester.path.glob("results/run-*/summary.json"))
