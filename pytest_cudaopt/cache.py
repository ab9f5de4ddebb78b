"""The user's cache folder: where it is, and writes that are complete or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

NAME = "pytest-cudaopt"


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, which need not exist; XDG_CACHE_HOME is honoured if absolute."""
    base = environ.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return Path(base) / NAME
    return Path(environ.get("HOME") or Path.home()) / ".cache" / NAME


def write_atomically(path: Path, content: bytes) -> bool:
    """Write `path` so that a reader sees all of it or nothing; False if the folder cannot be written.

    A cache is a convenience: a read-only home must not fail a run.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError:
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        return False
    return True
