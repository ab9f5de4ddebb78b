"""The user's cache folder: where it is, and entries that are complete or absent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_cudaopt.durable import write_atomically

NAME = "pytest-cudaopt"


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, which need not exist; XDG_CACHE_HOME is honoured if absolute."""
    base = environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return Path(base) / NAME
    return Path(environ.get("HOME") or Path.home()) / ".cache" / NAME


def remember(path: Path, content: bytes) -> bool:
    """Write `path` so that a reader sees all of it or nothing; False if it cannot be written.

    A cache is a convenience: a read-only home must not fail a run.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Waiting for the disk takes longer than compiling what is remembered.
        write_atomically(path, content, synced=False)
    except OSError:
        return False
    return True
