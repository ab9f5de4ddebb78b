"""Where a header that the compiler did not find may be: below the project the file belongs to."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

_PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "CMakeLists.txt", "Makefile")
_SKIPPED = frozenset({"build", "dist", "node_modules", "results", "venv", "__pycache__"})
_MOST_FOLDERS = 5000


def project_of(file: Path) -> Path:
    """Return the nearest folder above `file` that looks like a project's, else the file's own."""
    for folder in file.parents:
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            return folder
    return file.parent


def folders_with(header: str, project: Path) -> list[Path]:
    """Return the folders below `project` from which `header` can be included, nearest the top first."""
    wanted = PurePosixPath(header)
    if wanted.is_absolute() or ".." in wanted.parts:
        return []
    found: list[Path] = []
    for number, (folder, folders, _) in enumerate(os.walk(project)):
        if number >= _MOST_FOLDERS:
            break
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        if (Path(folder) / wanted).is_file():
            found.append(Path(folder))
    return sorted(found, key=lambda path: (len(path.parts), str(path)))
