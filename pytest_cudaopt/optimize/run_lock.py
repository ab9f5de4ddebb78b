"""One process for one run: a lock on a file of its folder, which the kernel releases however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_cudaopt.errors import EnvironmentFault

LOCK = "lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the run in `folder`; raise EnvironmentFault that names the process which does already.

    Where files cannot be locked nobody is kept out.
    """
    descriptor = _open(folder)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(folder: Path) -> int | None:
    try:
        descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        os.close(descriptor)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise EnvironmentFault(
            f"run {folder}",
            expected="one that nobody works on",
            got=f"one under way in process {owner or 'unknown'}",
            next_step="Wait for it, or end it with Ctrl-C; then the run can go on",
        ) from error
    # The lock counts; on a full disk others learn nothing of who holds it.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor
