"""The files of a git revision by path, as the compiler would have seen them: through links and submodules."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_cudaopt import git_revision
from pytest_cudaopt.git_revision import Revision, TreeEntry, decoded
from pytest_cudaopt.header_files import Content, Disk, Stamp, content_of

# As many as Linux follows.
_MOST_LINKS = 40


@dataclass(frozen=True)
class RevisionFile:
    """A file that a revision has: the root and path of the repository that holds it, and its content's id."""

    root: Path
    path: str
    object_id: str

    @property
    def data(self) -> bytes:
        """Its bytes; raises EnvironmentFault if git cannot read them."""
        return git_revision.content(self.root, self.object_id)


def path_in(root: Path, file: str | Path) -> str | None:
    """Return the path from `root` of an absolute path, which need not be there; None if it is outside."""
    inside = f"{root}/"
    named = os.path.normpath(file)
    if not named.startswith(inside):
        # The folder may be known by another name than git's, which follows links.
        folder, name = os.path.split(named)
        named = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - ten times faster than Path
    return named.removeprefix(inside) if named.startswith(inside) else None


@lru_cache(maxsize=1 << 16)
def find(revision: Revision, path: str) -> RevisionFile | None:
    """Return the file at a path from the root as it was; None if there was none.

    Raises EnvironmentFault for a commit, of a submodule perhaps, that git cannot read.
    """
    for _ in range(_MOST_LINKS):
        found = _first_entry(revision, path)
        if found is None:
            return None
        at, entry, rest = found
        if entry.is_submodule:
            return find(Revision(revision.name, entry.object_id, revision.root / at), rest) if rest else None
        if not entry.is_link:
            return None if rest else RevisionFile(revision.root, path, entry.object_id)
        target = os.fsdecode(git_revision.content(revision.root, entry.object_id))
        path = posixpath.normpath(posixpath.join(posixpath.dirname(at), target, rest))
    return None


def _first_entry(revision: Revision, path: str) -> tuple[str, TreeEntry, str] | None:
    """Return the shortest beginning of `path` that is no folder, what it is, and the rest of the path."""
    known = git_revision.entries(revision)
    if path in known:
        return path, known[path], ""
    parts = path.split("/")
    for count in range(1, len(parts)):
        if (at := "/".join(parts[:count])) in known:
            return at, known[at], "/".join(parts[count:])
    return None


class RevisionFiles:
    """Headers as they were; files outside of the repository, which has no history of them, as they are."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._disk = Disk()
        self._numbers: dict[RevisionFile, int] = {}

    def stamp(self, path: str) -> Stamp | None:
        within = path_in(self._revision.root, path)
        if within is None:
            return self._disk.stamp(path)
        found = find(self._revision, within)
        # No device has a negative number.
        return None if found is None else (-1, self._numbers.setdefault(found, len(self._numbers)), 0, 0)

    def read(self, path: str) -> Content:
        within = path_in(self._revision.root, path)
        found = None if within is None else find(self._revision, within)
        if found is None:
            return self._disk.read(path)
        return content_of(decoded(found.data, errors="replace"))
