"""Requests to execute again: complete in their folder, and absent where there is nothing to execute."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_runs import declare_twice
from pretend_gpu import pretend

from pytest_cudaopt.arguments import bind
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.protocol import Read, Request
from pytest_cudaopt.replay import write_outputs, write_replay


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device("sim") as opened:
        yield opened


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return declare_twice(tmp_path)


def write(
    kernel: Kernel, device: Device, folder: Path, candidate: Candidate | None = None, case_id: str = "n100"
) -> Path | None:
    case: Case = kernel.cases[1]
    inputs = folder.parent / "inputs"
    return write_replay(kernel, candidate or kernel.start(), case, case_id, device, folder, Budget(), inputs)


def test_a_request_names_its_files_relative_to_itself(kernel: Kernel, device: Device, tmp_path: Path) -> None:
    path = write(kernel, device, tmp_path / "replay")
    assert path == tmp_path / "replay" / "n100.json"
    request = Request.from_json(json.loads(path.read_text()))
    assert [buffer.initial_file for buffer in request.buffers] == ["../inputs/n100/x.bin", None]
    assert request.directory is None
    assert request.modules[0].source == kernel.read_source()
    x = np.fromfile(tmp_path / "inputs" / "n100" / "x.bin", dtype=np.float32)
    np.testing.assert_array_equal(x, bind(kernel, kernel.cases[1]).arrays["x"])


def test_the_outputs_of_a_request_are_written_beside_it(
    kernel: Kernel, device: Device, tmp_path: Path
) -> None:
    start = kernel.start()
    wrong = replace(start, source=start.source.replace("2 * x", "3 * x"))
    assert wrong.source != start.source
    path = write(kernel, device, tmp_path / "replay", wrong)
    write_outputs(path, device)
    x = bind(kernel, kernel.cases[1]).arrays["x"]
    y = np.fromfile(tmp_path / "replay" / "n100.replay-y.bin", dtype=np.float32)
    np.testing.assert_array_equal(y, 3 * x)


def test_a_request_checks_as_a_gpu_does_and_names_it_but_measures_on_its_own_inputs(
    kernel: Kernel, device: Device, tmp_path: Path
) -> None:
    gpu, _ = pretend(device)
    path = write(kernel, gpu, tmp_path / "replay")
    request = Request.from_json(json.loads(path.read_text()))
    assert request.device == "cuda:0"
    check = ["launch", "read_guards"]
    assert [step.DO for step in request.steps] == [
        "compile",
        "load",
        *check,
        "read",
        "reset",
        *check,
        "read",
        "measure",
    ]
    files = [step.file for step in request.steps if isinstance(step, Read)]
    assert files == ["n100.replay-y.bin", "n100.replay-y-again.bin"]
    measure: Any = request.steps[-1]
    assert (measure.contents, measure.held_out, measure.capture) == ((), None, ())
    assert [file.name for file in (tmp_path / "inputs" / "n100").iterdir()] == ["x.bin"]


def test_the_same_launch_gives_the_same_request(kernel: Kernel, device: Device, tmp_path: Path) -> None:
    first, second = (write(kernel, device, tmp_path / name) for name in ("a", "b"))
    assert first.read_text() == second.read_text()


def test_a_case_may_be_called_anything(kernel: Kernel, device: Device, tmp_path: Path) -> None:
    path = write(kernel, device, tmp_path / "replay", case_id="../long rows/ü")
    assert path is not None
    assert path.parent == tmp_path / "replay"


def test_there_is_nothing_to_replay_of_what_does_not_compile(
    kernel: Kernel, device: Device, tmp_path: Path
) -> None:
    broken = replace(kernel.start(), source="not a kernel")
    assert write(kernel, device, tmp_path / "replay", broken) is None
    assert not (tmp_path / "replay").exists()


def test_there_is_nothing_to_replay_of_an_impossible_launch(
    kernel: Kernel, device: Device, tmp_path: Path
) -> None:
    huge = replace(kernel.start(), launch=LaunchRule.parse("grid=(1) block=(4096)"))
    assert write(kernel, device, tmp_path / "replay", huge) is None


def test_a_folder_that_cannot_be_made_is_said_to_be_so(
    kernel: Kernel, device: Device, tmp_path: Path
) -> None:
    (tmp_path / "replay").write_text("a file")
    with pytest.raises(EnvironmentFault, match="replay files"):
        write(kernel, device, tmp_path / "replay")
