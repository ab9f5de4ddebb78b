"""Opening devices, their scratch folders, and faults that are the machine's."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_cudaopt import device as device_module
from pytest_cudaopt.answers import Answer, AnswerStatus
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.protocol import AskLimits


def test_the_simulator_opens_and_says_what_it_models(sim: Device) -> None:
    assert sim.selector == "sim"
    assert "h200" in sim.description
    assert sim.limits.max_threads_per_block == 1024
    assert sim.limits.architecture == "sm_90"
    assert sim.note == ""


def test_auto_is_the_simulator_and_says_so() -> None:
    with open_device("auto") as device:
        assert device.selector == "sim"
        assert device.note == "auto: sim, since this version does not run on GPUs yet"


@pytest.mark.parametrize("selector", ["", "gpu", "cuda", "cuda:", "cuda:x", "sim:0", "SIM"])
def test_an_unknown_device_lists_the_known_ones(selector: str) -> None:
    with pytest.raises(EnvironmentFault, match=r"expected auto, sim or cuda:N \(such as cuda:0\), got"):
        open_device(selector)


def test_a_gpu_is_not_available_yet_and_sim_is_offered() -> None:
    with pytest.raises(EnvironmentFault) as caught:
        open_device("cuda:0")
    assert "device 'cuda:0'" in str(caught.value)
    assert "Use --cudaopt-device sim" in str(caught.value)


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(HarnessError, match="h2000"):
        open_device("sim", model="h2000")


def test_requests_carry_fresh_nonces_and_the_scratch_folder(sim: Device) -> None:
    first, second = sim.new_request("a"), sim.new_request("a")
    assert first.nonce != second.nonce
    assert first.directory == str(sim.scratch)
    assert first.device == "sim"


def test_closing_removes_the_scratch_folder() -> None:
    with open_device("sim") as device:
        (device.scratch / "array.bin").write_bytes(b"1")
        assert device.scratch.is_dir()
    assert not device.scratch.exists()
    device.close()


def test_a_device_that_cannot_be_opened_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "_scratch_parent", lambda: tmp_path)
    with pytest.raises(EnvironmentFault):
        open_device("cuda:0")
    assert list(tmp_path.iterdir()) == []


def test_folders_of_killed_processes_are_removed_and_others_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cudaopt-dead", "cudaopt-alive", "cudaopt-no-lock", "somebody-else"):
        (tmp_path / name).mkdir()
    for name in ("cudaopt-dead", "cudaopt-alive"):
        (tmp_path / name / "lock").touch()
    held = os.open(tmp_path / "cudaopt-alive" / "lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    device_module._remove_abandoned(tmp_path)
    os.close(held)
    assert {path.name for path in tmp_path.iterdir()} == {"cudaopt-alive", "cudaopt-no-lock", "somebody-else"}


def test_a_killed_process_releases_its_folder(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        "from pytest_cudaopt import device\n"
        "device._scratch_parent = lambda: pathlib.Path(sys.argv[1])\n"
        "device._make_scratch()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list(tmp_path.glob("cudaopt-*"))) == 1
    device_module._remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_taken_for_abandoned_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "_scratch_parent", lambda: tmp_path)
    lock, removed = fcntl.flock, []

    def lock_too_late(descriptor: int, how: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            shutil.rmtree(removed[0])
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    folder, held = device_module._make_scratch()
    os.close(held)
    assert folder not in removed
    assert folder.is_dir()


@pytest.mark.parametrize(("free", "roomy"), [(1 << 31, True), (64 << 20, False)])
def test_shared_memory_is_used_if_there_is_enough_of_it(
    free: int, roomy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "_SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    assert (device_module._scratch_parent() == tmp_path) is roomy


def test_without_shared_memory_the_temporary_folder_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "_SHARED_MEMORY", tmp_path / "absent")
    assert device_module._scratch_parent().is_dir()


def test_an_unwritable_scratch_folder_is_the_environments_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "_scratch_parent", lambda: tmp_path / "absent")
    with pytest.raises(EnvironmentFault, match="expected a folder that can be written"):
        open_device("sim")


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (FindingKind.NO_NVRTC, "NVRTC: got no library. Install it: pip install"),
        (FindingKind.IO_ERROR, "scratch files: got no library. Free some space"),
        (FindingKind.NO_DEVICE, "device 'sim': expected a device that can be opened, got no library"),
    ],
)
def test_a_fault_of_the_machine_raises(sim: Device, kind: FindingKind, complaint: str) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        _answering(sim, kind).ask(sim.new_request("x"))
    assert complaint in str(caught.value)


def test_a_fault_of_the_kernel_is_an_answer(sim: Device) -> None:
    answer = _answering(sim, FindingKind.TRAP).ask(replace(sim.new_request("x"), steps=(AskLimits(),)))
    assert answer.fault is not None


def _answering(sim: Device, kind: FindingKind) -> Device:
    answer = Answer("x", "n", AnswerStatus.FAULT, "sim", fault=Finding(kind, "no library"))
    return replace(sim, harness=SimpleNamespace(ask=lambda request: answer), _lock=-1)
