"""The baselines of a whole tree, or of one kernel on all devices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.baseline import Baseline
from pytest_cudaopt.baseline_files import read_document
from pytest_cudaopt.errors import BaselineError
from pytest_cudaopt.settings import BASELINE_FOLDER

# Where no test modules of the project's own are.
_SKIPPED = frozenset({"node_modules", "venv", "build", "dist"})


@dataclass(frozen=True)
class Found:
    """A document, and its baseline or what is wrong with it."""

    path: Path
    held: Baseline | BaselineError

    @property
    def folder(self) -> Path:
        """Where its test module lies."""
        return self.path.parent.parent

    def trusted(self) -> Baseline:
        """Return the baseline; raise BaselineError for what is wrong with it."""
        if isinstance(self.held, BaselineError):
            raise self.held
        return self.held


@dataclass(frozen=True)
class Done:
    """What was done about one file or kernel, and whether it was refused."""

    what: str
    is_refused: bool = False


def walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Return the folders below `root`, itself included, in order, each with the names of its files."""
    for name, inner, files in os.walk(root):
        inner[:] = sorted(one for one in inner if not one.startswith(".") and one not in _SKIPPED)
        yield Path(name), sorted(files)


def folders(root: Path) -> list[Path]:
    """Return the folders of baselines below `root`."""
    return [folder for folder, _ in walk(root) if folder.name == BASELINE_FOLDER]


def find(root: Path) -> list[Found]:
    """Return every document below `root`."""
    return [one for folder in folders(root) for one in find_in(folder)]


def find_in(folder: Path, stem: str = "") -> list[Found]:
    """Return the documents of a folder, only those whose names begin with `stem`."""
    paths = sorted(path for path in folder.glob("*.json") if path.name.startswith(stem))
    return [_found(path) for path in paths]


def find_kernel(module: Path, kernel: str) -> list[Found]:
    """Return the documents of one kernel, a device each."""
    return find_in(module.parent / BASELINE_FOLDER, f"{module.stem}.{kernel}.")


def kernel_id(folder: Path, baseline: Baseline, root: Path) -> str:
    """Return `tests/test_scale.py::scale`, the path as seen from `root`."""
    module = Path(os.path.relpath(folder / f"{baseline.module}.py", root))
    return f"{module.as_posix()}::{baseline.kernel}"


def _found(path: Path) -> Found:
    try:
        return Found(path, read_document(path))
    except BaselineError as error:
        return Found(path, error)
