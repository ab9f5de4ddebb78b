"""Recorded proposals of language models: judged live, they end where they ended when they were recorded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.optimize.attempt import Decision
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.proposal_form import fill
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.summary import RunSummary

EXAMPLES = Path(__file__).parent.parent / "example_kernels"
RECORDED = EXAMPLES / "recorded"
# The least speed-up the recorded winner has to reach (recordings ended at 2.13 and 4.75), and how many of the
# proposals before it are judged here: the others of sgemm take half a minute.
NAMES = {"softmax": (2.0, 4), "sgemm": (4.5, 1)}


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device("sim") as opened:
        yield opened


def replayed(name: str, recording: Path, folder: Path, device: Device) -> RunSummary:
    for file in (f"{name}.cu", f"test_{name}.py"):
        shutil.copy(EXAMPLES / file, folder)
    kernel = load_kernel(f"{folder / f'test_{name}.py'}::{name}")
    # What is drawn for a new best beyond the cases has tests of its own, and takes longer than all else.
    options = OptimizeOptions(fuzz_examples=0)
    model = ReplayModel.open(recording)
    return optimize(kernel, device, options, folder / "results", lambda attempt: None, model=model)


def test_there_is_a_test_for_every_recording() -> None:
    assert sorted(path.name for path in RECORDED.iterdir()) == sorted(f"{name}.jsonl" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_ends_with_its_last_proposal_as_the_best(
    name: str, tmp_path: Path, device: Device
) -> None:
    least_speedup, before = NAMES[name]
    *lines, last = (RECORDED / f"{name}.jsonl").read_text().splitlines()
    recording = tmp_path / "recording.jsonl"
    recording.write_text("\n".join([*lines[:before], last]) + "\n")
    summary = replayed(name, recording, tmp_path, device)
    assert summary.best is not None
    assert summary.best.number == before + 1
    assert summary.best.evaluation.accepted
    assert summary.best.proposal.why.startswith(fill(last).hypothesis)
    assert summary.speedup is not None
    assert summary.speedup >= least_speedup


def test_a_proposal_of_a_recording_that_is_wrong_is_not_kept(tmp_path: Path, device: Device) -> None:
    first = json.loads((RECORDED / "softmax.jsonl").read_text().splitlines()[0])
    wrong = {**first, "source": first["source"].replace("expf(", "2.0f + expf(")}
    assert wrong != first
    recording = tmp_path / "wrong.jsonl"
    recording.write_text(json.dumps(wrong) + "\n")
    summary = replayed("softmax", recording, tmp_path, device)
    assert [one.verdict.decision for one in summary.attempts] == [Decision.START, Decision.NOT_ACCEPTED]
    assert not summary.improved
