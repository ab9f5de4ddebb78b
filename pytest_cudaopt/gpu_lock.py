"""Turns on a GPU: who measures has it alone, the others share it; across workers and sessions of one user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.file_lock import acquire, lock_folder, locked, release


@dataclass(frozen=True)
class GpuLock:
    """The lock files of one GPU. The kernel releases what a killed process held."""

    folder: Path
    uuid: str

    @contextmanager
    def held(self, *, alone: bool) -> Iterator[None]:
        """Wait for a turn and keep it: `alone`, or beside others that are not alone."""
        # Who waits to be alone keeps the gate shut, or a stream of others would never let it in.
        with locked(self.folder / f"{self.uuid}.gate", alone=True):
            turn = acquire(self.folder / f"{self.uuid}.turn", alone=alone)
        try:
            yield
        finally:
            release(turn)


def lock_of(uuid: str, environ: Mapping[str, str] = os.environ) -> GpuLock | None:
    """Return a GPU's lock, in the user's cache folder or else in TMPDIR; None if neither can be written."""
    folder = lock_folder("gpu", environ)
    return None if folder is None else GpuLock(folder, uuid)
