"""A stored launch runs again on silicon, through `cudaopt replay` and through the harness alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from silicon_kernels import scan

from pytest_cudaopt import case
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.harness import locate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.replay import write_replay

pytestmark = pytest.mark.gpu
CUDAOPT = [sys.executable, "-c", "from pytest_cudaopt.cli import main; raise SystemExit(main())"]


@pytest.mark.parametrize("through", ["cudaopt", "harness"])
def test_a_replay_gives_the_outputs_and_a_measured_latency(
    through: str, cuda: Device, tmp_path: Path
) -> None:
    kernel = scan("correct", case(rows=64, cols=700, measure=True))
    (one,) = kernel.cases
    request = write_replay(
        kernel, kernel.start(), one, "small", cuda, tmp_path / "replay", Budget(), tmp_path / "inputs"
    )
    assert request is not None
    command = {
        "cudaopt": [*CUDAOPT, "replay", "--json", str(request)],
        "harness": [str(locate()), "run", str(request), "--nvrtc", cuda.toolchain.nvrtc],
    }[through]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    answer = json.loads(ended.stdout)
    measured = next(step for step in answer["steps"] if step["do"] == "measure")
    assert (answer["status"], measured["kind"]) == ("ok", "measured")
    assert measured["latency"]["median_ns"] > 0
    expected = prepare(kernel, one, cuda).expected.arrays["y"]
    (output,) = request.parent.glob("*-y.bin")
    np.testing.assert_array_equal(np.fromfile(output, dtype=np.int64).reshape(expected.shape), expected)
