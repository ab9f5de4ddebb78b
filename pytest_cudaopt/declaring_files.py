"""The project's Python files that a declaration stands on: its module, and all that imports lead to.

Imports are read from the texts and followed to files; nothing is imported by that, and what is installed
beside the project does not count.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from pytest_cudaopt.revision_files import path_in

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_CONFTEST = "conftest.py"


@dataclass(frozen=True)
class _Place:
    """A module's file, None for a folder alone; the package it is in; the folders of its own modules."""

    file: str | None
    package: str
    search: tuple[str, ...] = ()


def declaring_files(modules: Iterable[Path], root: Path) -> frozenset[str]:
    """Return the files behind modules that declare kernels, as paths from `root`, a repository's top folder.

    Each `conftest.py` that pytest loads for them counts, whether it is there or not.
    """
    own = tuple(modules)
    packages = _packages()
    pending = [*own, *(conftest for module in own for conftest in _conftests(module, root))]
    found: dict[str, None] = {}
    while pending:
        file = pending.pop()
        path = project_path(file, root)
        if path is None or path in found:
            continue
        found[path] = None
        package = packages.get(str(file), "")
        for name in _imported(file, package):
            for place in _places(name, root):
                if place.file is not None:
                    packages.setdefault(place.file, place.package)
                    pending.append(Path(place.file))
    return frozenset(found)


def project_path(file: str | Path, root: Path) -> str | None:
    """Return the path from `root` of a file; None for one that is outside, or installed inside."""
    path = path_in(root, file)
    if path is None or _INSTALLED & set(path.split("/")):
        return None
    prefix = path_in(root, sys.prefix)
    return None if prefix is not None and path.startswith(f"{prefix}/") else path


def _conftests(module: Path, root: Path) -> Iterator[Path]:
    for folder in module.parents:
        if path_in(root, folder / _CONFTEST) is None:
            return
        yield folder / _CONFTEST


def _packages() -> dict[str, str]:
    """Return the package of each loaded file, which relative imports start from."""
    # sys.modules may hold anything.
    spaces = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
    return {
        str(space["__file__"]): str(space.get("__package__") or "")
        for space in spaces
        if space.get("__file__")
    }


def _imported(file: Path, package: str) -> Iterator[str]:
    """Yield the dotted names that a file imports anywhere, those of what may be a module among them."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        # Compiled, or not there: it has no text to follow.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            yield from (f"{base}.{alias.name}" for alias in node.names if base)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    try:
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return ""


def _places(name: str, root: Path) -> Iterator[_Place]:
    """Yield the modules of the project that `import name` leads to, packages before what is in them."""
    parts = name.split(".")
    search: tuple[str, ...] | None = None
    for count in range(1, len(parts) + 1):
        place = _place(".".join(parts[:count]), search)
        if place is None or not _is_in_project(place, root):
            return
        yield place
        search = place.search


def _place(name: str, search: tuple[str, ...] | None) -> _Place | None:
    """Return where a module is or would be loaded from; None if it is nowhere, or in no file."""
    module = sys.modules.get(name)
    if module is not None:
        space = getattr(module, "__dict__", {})
        folders = tuple(map(str, space.get("__path__") or ()))
        return _Place(space.get("__file__"), str(space.get("__package__") or ""), folders)
    # Not find_spec of importlib.util, which imports packages.
    spec = PathFinder.find_spec(name, search)
    if spec is None:
        return None
    file = spec.origin if spec.has_location else None
    return _Place(file, spec.parent or "", tuple(spec.submodule_search_locations or ()))


def _is_in_project(place: _Place, root: Path) -> bool:
    files = (place.file,) if place.file is not None else place.search
    return any(project_path(file, root) is not None for file in files)
