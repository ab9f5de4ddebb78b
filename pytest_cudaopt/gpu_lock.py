"""Turns on a GPU: who measures has it alone, the others share it; across workers and sessions of one user."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.cache import cache_folder


@dataclass(frozen=True)
class GpuLock:
    """The lock files of one GPU. The kernel releases what a killed process held."""

    folder: Path
    uuid: str

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """Wait for a turn and keep it: `alone`, or beside others that are not alone."""
        # Who waits to be alone keeps the gate shut, or a stream of others would never let it in.
        with _locked(self.folder / f"{self.uuid}.gate", fcntl.LOCK_EX):
            turn = _acquire(self.folder / f"{self.uuid}.turn", fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        try:
            yield
        finally:
            _release(turn)


def lock_of(uuid: str, environ: Mapping[str, str] = os.environ) -> GpuLock | None:
    """Return a GPU's lock, in the user's cache folder or else in TMPDIR; None if neither can be written."""
    for folder in (cache_folder(environ) / "gpu", Path(tempfile.gettempdir()) / f"cudaopt-gpu-{os.getuid()}"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return GpuLock(folder, uuid)
    return None


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    descriptor = _acquire(path, how)
    try:
        yield
    finally:
        _release(descriptor)


def _acquire(path: Path, how: int) -> int | None:
    """Return the descriptor that holds the lock; None on file systems without locks, where nobody waits."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        os.close(descriptor)
        return None
    except BaseException:
        # Interrupted while waiting.
        os.close(descriptor)
        raise
    return descriptor


def _release(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)
