"""Scratch folders for arrays: in shared memory if there is enough of it.

Those of killed processes are removed by the next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from pytest_cudaopt.errors import EnvironmentFault

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only inside a folder made by mkdtemp
# Containers often get 64 MB of it, too little for one large array.
_LEAST_SHARED_MEMORY_BYTES = 1 << 30
_PREFIX = "cudaopt-"
_LOCK = "lock"


def make_scratch() -> tuple[Path, int]:
    """Return a new folder and the descriptor that keeps others from removing it.

    Raises EnvironmentFault if there is nowhere to write.
    """
    parent = _parent()
    _remove_abandoned(parent)
    try:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / _LOCK).exists():
                return folder, lock
            # Another process took it for abandoned before it was locked.
            os.close(lock)
    except OSError as error:
        raise EnvironmentFault(
            f"scratch folder in {parent}",
            expected="a folder that can be written",
            got=error.strerror or str(error),
            next_step="Free some space, or point TMPDIR at another folder",
        ) from error


def remove_scratch(folder: Path, lock: int) -> None:
    """Remove a folder and let go of its lock; of a lock of -1, nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    if lock >= 0:
        os.close(lock)


def _parent() -> Path:
    fallback = Path(tempfile.gettempdir())
    try:
        roomy = shutil.disk_usage(_SHARED_MEMORY).free >= _LEAST_SHARED_MEMORY_BYTES
    except OSError:
        return fallback
    return _SHARED_MEMORY if roomy and os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else fallback


def _remove_abandoned(parent: Path) -> None:
    """Remove scratch folders of killed processes: nobody holds their lock any more."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            # Somebody else's, or one that is being made just now.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
