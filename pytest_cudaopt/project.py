"""A declared kernel within its project: what ini file, environment and command line say of every source."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pytest_cudaopt import compdb
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import SettingsError
from pytest_cudaopt.settings import Settings


def within_project(kernel: Kernel, settings: Settings, root: Path) -> Kernel:
    """Return `kernel` with the project's include folders and stubs behind its own, and its compile flags.

    Paths of the settings are relative to `root`. Raises SettingsError for a folder that is not there and as
    `compdb.read` does.
    """
    if not (settings.include or settings.stub or settings.compdb):
        return kernel
    flags = compdb.read(root / settings.compdb, kernel.source) if settings.compdb else compdb.Flags()
    return replace(
        kernel,
        include=(*kernel.include, *(_folder(name, root) for name in settings.include), *flags.include),
        stub=(*kernel.stub, *settings.stub),
        inherited=flags,
    )


def _folder(name: str, root: Path) -> Path:
    path = Path(os.path.normpath(root / name))
    if not path.is_dir():
        raise SettingsError("cudaopt_include", expected="folders", got=f"'{name}', which is none in {root}")
    return path
