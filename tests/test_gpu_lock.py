"""Turns on a GPU: alone for timing, together otherwise, and nothing left behind by who is interrupted."""

from __future__ import annotations

import fcntl
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_cudaopt import file_lock
from pytest_cudaopt.gpu_lock import GpuLock, lock_of

# Says when it has its turn, and ends it when standard input does.
HOLDER = """
import sys
from pathlib import Path
from pytest_cudaopt.gpu_lock import GpuLock
with GpuLock(Path(sys.argv[1]), "GPU-1").held(alone=sys.argv[2] == "alone"):
    print("mine", flush=True)
    sys.stdin.read()
"""


class Holder:
    """Another process that has, or waits for, its turn."""

    def __init__(self, folder: Path, how: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def has_turn(self) -> bool:
        """Wait until it has its turn; False if it ended without."""
        assert self.process.stdout is not None
        return self.process.stdout.readline() == "mine\n"

    def end(self) -> None:
        self.process.communicate()


def _is_free(folder: Path, name: str, how: int) -> bool:
    descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def test_others_share_a_gpu_but_who_times_waits_for_them(tmp_path: Path) -> None:
    first, second = Holder(tmp_path, "shared"), Holder(tmp_path, "shared")
    assert first.has_turn()
    assert second.has_turn()
    assert not _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_EX)
    first.end()
    second.end()
    assert _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_EX)


def test_nobody_shares_a_gpu_with_who_times(tmp_path: Path) -> None:
    timing = Holder(tmp_path, "alone")
    assert timing.has_turn()
    assert not _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_SH)
    waiting = Holder(tmp_path, "shared")
    timing.end()
    assert waiting.has_turn()
    waiting.end()


def test_other_gpus_are_free_meanwhile(tmp_path: Path) -> None:
    timing = Holder(tmp_path, "alone")
    assert timing.has_turn()
    with GpuLock(tmp_path, "GPU-2").held(alone=True):
        assert not _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_SH)
    timing.end()


def test_who_waits_to_time_is_not_overtaken(tmp_path: Path) -> None:
    shared = Holder(tmp_path, "shared")
    assert shared.has_turn()
    timing = Holder(tmp_path, "alone")
    # It shuts the gate before it waits for the turn.
    looks = itertools.takewhile(lambda _: _is_free(tmp_path, "GPU-1.gate", fcntl.LOCK_EX), range(1_000_000))
    assert sum(1 for _ in looks) < 1_000_000
    late = Holder(tmp_path, "shared")
    shared.end()
    assert timing.has_turn()
    timing.end()
    assert late.has_turn()
    late.end()


def test_a_killed_process_gives_its_turn_up(tmp_path: Path) -> None:
    timing = Holder(tmp_path, "alone")
    assert timing.has_turn()
    timing.process.kill()
    timing.end()
    with GpuLock(tmp_path, "GPU-1").held(alone=True):
        pass


def test_an_interrupted_wait_leaves_nothing_locked_and_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    lock, calls = fcntl.flock, []

    def interrupt_second(descriptor: int, how: int) -> None:
        calls.append(how)
        if len(calls) == 2:
            raise KeyboardInterrupt
        lock(descriptor, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", interrupt_second)
        with pytest.raises(KeyboardInterrupt), GpuLock(tmp_path, "GPU-1").held(alone=True):
            pass
    assert calls == [fcntl.LOCK_EX, fcntl.LOCK_EX]
    assert set(Path("/proc/self/fd").iterdir()) == before
    assert _is_free(tmp_path, "GPU-1.gate", fcntl.LOCK_EX)
    assert _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_EX)


def test_an_error_during_a_turn_ends_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x"), GpuLock(tmp_path, "GPU-1").held(alone=True):
        raise ValueError("x")
    assert _is_free(tmp_path, "GPU-1.turn", fcntl.LOCK_EX)


def test_threads_of_one_process_take_turns_too(tmp_path: Path) -> None:
    lock, order = GpuLock(tmp_path, "GPU-1"), []

    def time_it() -> None:
        with lock.held(alone=True):
            order.append("thread")

    with lock.held(alone=True):
        other = threading.Thread(target=time_it)
        other.start()
        order.append("main")
    other.join()
    assert order == ["main", "thread"]


def test_the_lock_lies_in_the_cache_folder(tmp_path: Path) -> None:
    lock = lock_of("GPU-1", {"XDG_CACHE_HOME": str(tmp_path)})
    assert lock == GpuLock(tmp_path / "pytest-cudaopt" / "gpu", "GPU-1")


def test_without_a_cache_folder_it_lies_in_the_temporary_folder_and_else_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    environ = {"XDG_CACHE_HOME": str(in_the_way)}
    monkeypatch.setattr(file_lock.tempfile, "gettempdir", lambda: str(tmp_path))
    lock = lock_of("GPU-1", environ)
    assert lock is not None
    assert lock.folder.parent == tmp_path
    monkeypatch.setattr(file_lock.tempfile, "gettempdir", lambda: str(in_the_way))
    assert lock_of("GPU-1", environ) is None


def test_a_file_system_without_locks_makes_nobody_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with GpuLock(tmp_path, "GPU-1").held(alone=True), GpuLock(tmp_path, "GPU-1").held(alone=True):
        pass
    with GpuLock(tmp_path / "absent", "GPU-1").held(alone=True):
        pass
