"""Scratch folders: where they are made, and that none is left by a killed process."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_cudaopt import scratch
from pytest_cudaopt.errors import EnvironmentFault


def test_a_folder_is_made_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_parent", lambda: tmp_path)
    folder, lock = scratch.make_scratch()
    (folder / "array.bin").write_bytes(b"1")
    scratch.remove_scratch(folder, lock)
    scratch.remove_scratch(folder, -1)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_parent_is_the_environments_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_parent", lambda: tmp_path / "absent")
    with pytest.raises(EnvironmentFault, match="expected a folder that can be written"):
        scratch.make_scratch()


def test_folders_of_killed_processes_are_removed_and_others_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cudaopt-dead", "cudaopt-alive", "cudaopt-no-lock", "somebody-else"):
        (tmp_path / name).mkdir()
    for name in ("cudaopt-dead", "cudaopt-alive"):
        (tmp_path / name / "lock").touch()
    held = os.open(tmp_path / "cudaopt-alive" / "lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    scratch._remove_abandoned(tmp_path)
    os.close(held)
    assert {path.name for path in tmp_path.iterdir()} == {"cudaopt-alive", "cudaopt-no-lock", "somebody-else"}


def test_a_killed_process_releases_its_folder(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        "from pytest_cudaopt import scratch\n"
        "scratch._parent = lambda: pathlib.Path(sys.argv[1])\n"
        "scratch.make_scratch()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list(tmp_path.glob("cudaopt-*"))) == 1
    scratch._remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_taken_for_abandoned_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_parent", lambda: tmp_path)
    lock, removed = fcntl.flock, []

    def lock_too_late(descriptor: int, how: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            shutil.rmtree(removed[0])
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    folder, held = scratch.make_scratch()
    os.close(held)
    assert folder not in removed
    assert folder.is_dir()


@pytest.mark.parametrize(("free", "roomy"), [(1 << 31, True), (64 << 20, False)])
def test_shared_memory_is_used_if_there_is_enough_of_it(
    free: int, roomy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_SHARED_MEMORY", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    assert (scratch._parent() == tmp_path) is roomy


def test_without_shared_memory_the_temporary_folder_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_SHARED_MEMORY", tmp_path / "absent")
    assert scratch._parent().is_dir()
