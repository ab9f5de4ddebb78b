"""Locks on files, which the kernel of the system releases however a process ends."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_cudaopt.cache import cache_folder


def lock_folder(kind: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder for locks of one kind, in the user's cache folder or else in TMPDIR.

    None if neither can be written.
    """
    temporary = Path(tempfile.gettempdir()) / f"cudaopt-{kind}-{os.getuid()}"
    for folder in (cache_folder(environ) / kind, temporary):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


@contextmanager
def locked(path: Path, *, alone: bool) -> Iterator[None]:
    """Hold the lock, `alone` or beside others that are not alone; wait for it first."""
    descriptor = acquire(path, alone=alone)
    try:
        yield
    finally:
        release(descriptor)


def acquire(path: Path, *, alone: bool) -> int | None:
    """Return the descriptor that holds the lock; None on file systems without locks, where nobody waits."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    except OSError:
        os.close(descriptor)
        return None
    except BaseException:
        # Interrupted while waiting.
        os.close(descriptor)
        raise
    return descriptor


def release(descriptor: int | None) -> None:
    """Give back what `acquire` returned."""
    if descriptor is not None:
        os.close(descriptor)
