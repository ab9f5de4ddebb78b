"""The command line of bubblewrap: namespaces that hold an interpreter and its libraries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.sandbox.surroundings import Surroundings

# Where calls begin: an empty folder that cannot be written to.
FOLDER = "/empty"


def found(environ: Mapping[str, str]) -> str:
    """Return the path of bwrap; EnvironmentFault if there is none."""
    path = shutil.which("bwrap", path=environ.get("PATH", os.defpath))
    if path is None:
        raise EnvironmentFault("sandbox", expected="bwrap on the PATH", got="none")
    return path


def wrapped(bwrap: str, command: list[str], surroundings: Surroundings) -> list[str]:
    """Return the command that runs `command` in namespaces of its own: no network, no other processes."""
    binds = []
    for path in _outermost({*surroundings.program, *surroundings.libraries}):
        if Path(path).is_symlink():
            binds += ["--symlink", os.readlink(path), path]  # noqa: PTH115 - as it is written
        elif Path(path).exists():
            binds += ["--ro-bind", path, path]
    return [
        bwrap,
        "--unshare-all",
        *("--cap-drop", "ALL"),
        *binds,
        *("--dir", FOLDER),
        # /lib and the like are made in a root of our own, which then is closed.
        *("--remount-ro", "/"),
        *("--chdir", FOLDER),
        "--",
        *command,
    ]


def _outermost(paths: set[str]) -> list[str]:
    """Leave out what lies within another of the paths."""
    return sorted(
        path
        for path in paths
        if not any(Path(other) in Path(path).parents for other in paths if other != path)
    )
