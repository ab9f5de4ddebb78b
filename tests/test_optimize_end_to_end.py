"""One real run on the simulator: real judge, real files, a real speed-up."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_cudaopt.arguments import bind
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.harness import locate
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.summary import RunSummary
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.reference import compute_expected

EXAMPLES = Path(__file__).parent.parent / "example_kernels"


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device("sim") as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of an example, since a run may replace its source."""
    folder = tmp_path_factory.mktemp("sgemm")
    for name in ("sgemm.cu", "test_sgemm.py"):
        shutil.copy(EXAMPLES / name, folder)
    return folder


@pytest.fixture(scope="module")
def summary(device: Device, folder: Path) -> RunSummary:
    kernel = load_kernel(f"{folder / 'test_sgemm.py'}::sgemm")
    options = OptimizeOptions(accept=True, accept_modelled=True)
    return optimize(kernel, device, options, folder / "results", lambda attempt: None)


def test_a_faster_version_is_found(summary: RunSummary) -> None:
    assert summary.speedup is not None
    assert summary.speedup >= 1.3
    assert all(gain.speedup >= 1 / 1.02 for gain in summary.per_case)


def test_every_attempt_of_an_honest_kernel_is_accepted(summary: RunSummary) -> None:
    reasons = [a.evaluation.reason for a in summary.attempts if not a.evaluation.accepted]
    assert reasons == []


def test_the_best_kernel_stands_on_its_own_in_the_place_of_the_source(
    summary: RunSummary, device: Device, folder: Path
) -> None:
    assert (folder / "sgemm.cu").read_text() == summary.best_file.read_text()
    kernel = load_kernel(f"{folder / 'test_sgemm.py'}::sgemm")
    start = kernel.start()
    assert start.chosen == summary.best_tunables
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), kernel.cases)
    again = evaluate(kernel, start, plan, device)
    assert again.accepted
    assert again.latencies == summary.best.evaluation.latencies


def test_a_replay_gives_the_right_outputs_and_the_same_latency(
    summary: RunSummary, device: Device, folder: Path
) -> None:
    (request,) = (summary.folder / "replay").glob("*.json")
    ended = subprocess.run(
        [str(locate()), "run", str(request), "--nvrtc", device.toolchain.nvrtc],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    steps = {step["do"]: step for step in json.loads(ended.stdout)["steps"]}
    (gain,) = summary.per_case
    assert steps["measure"]["latency"]["median_ns"] == gain.best_ns
    kernel = load_kernel(f"{folder / 'test_sgemm.py'}::sgemm")
    (case,) = kernel.measured_cases
    expected = compute_expected(kernel, bind(kernel, case)).arrays["c"]
    output = np.fromfile(request.with_suffix(".replay-c.bin"), dtype=np.float32).reshape(expected.shape)
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=5e-5)


def test_the_wrong_outputs_of_an_attempt_are_kept(device: Device, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "test_saxpy.py", tmp_path)
    right = (EXAMPLES / "saxpy.cu").read_text()
    (tmp_path / "saxpy.cu").write_text(right.replace("a * x[i] + y[i]", "a * x[i] - y[i]"))
    kernel = load_kernel(f"{tmp_path / 'test_saxpy.py'}::saxpy")
    wrong = optimize(kernel, device, OptimizeOptions(), tmp_path / "results", lambda attempt: None)
    y = np.fromfile(wrong.folder / "attempt-00" / "n4096.replay-y.bin", dtype=np.float32)
    expected = compute_expected(kernel, bind(kernel, kernel.cases[0])).arrays["y"]
    assert not np.allclose(y, expected)


def test_a_case_that_showed_a_mistake_is_offered_to_be_declared(project):
    # Only the first version is slow, and one of the others is wrong at sizes nobody listed.
    slow = "volatile float* v = y; if (BLOCK == 64 && i < n) for (int k = 0; k < 50; ++k) v[i] = 0; "
    project.edit("scale.cu", "if (i < n)", slow + "if (i < n && (BLOCK != 128 || n == 51 || n == 4096))")
    result = project.run("--optimize", "-k", "optimize")

    (summary,) = (json.loads(path.read_text()) for path in project.path.glob("results/run-*/summary.json"))
    assert summary["best_tunables"] == {"BLOCK": 256}
    (case,) = summary["cases_to_declare"]
    assert case.startswith("case(n=")
    result.stdout.fnmatch_lines([f"*mistakes showed at cases nobody declared; cases= could take {case}"])
