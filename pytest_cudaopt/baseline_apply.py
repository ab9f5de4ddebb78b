"""Taking over the baselines of another tree, such as what a CI job has left."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.baseline import Baseline
from pytest_cudaopt.baseline_files import folder_locked, read_at, write
from pytest_cudaopt.baseline_merge import merged
from pytest_cudaopt.baseline_place import Place
from pytest_cudaopt.baseline_tree import Done, Found, find, find_in, kernel_id, walk
from pytest_cudaopt.errors import BaselineError
from pytest_cudaopt.settings import BASELINE_FOLDER


@dataclass(frozen=True)
class _Taken:
    """A baseline, and where it goes."""

    baseline: Baseline
    place: Place


def apply(source: Path, root: Path, *, accept_slower: bool) -> list[Done]:
    """Take the baselines below `source` into the modules below `root`.

    A kernel with a case that got slower is refused unless `accept_slower`. Raises BaselineError, before
    anything is written, for one that is not what was recorded there, or whose module is not found.
    """
    # Whoever packs an artefact may leave out what all its files have in common.
    found = find(source) or find_in(source)
    taken = [_Taken(one.trusted(), _place(one, source, root)) for one in found]
    if not taken:
        raise BaselineError(
            str(source),
            expected=f"a folder {BASELINE_FOLDER} with baselines in it",
            got="none",
            next_step="Name the folder that the artefact was unpacked in",
        )
    return [_taken_over(one, root, accept_slower) for one in taken]


def _place(one: Found, source: Path, root: Path) -> Place:
    baseline = one.trusted()
    named = Place(one.path.parent, baseline.module, baseline.kernel, baseline.device)
    # Nor can a name then lead out of the folder.
    if named.document != one.path:
        raise BaselineError(
            str(one.path),
            expected=f"the name of what it holds, {named.document.name}",
            got=one.path.name,
            next_step="Take the artefact as the run has left it",
        )
    folder = _folder(one, source, root, f"{baseline.module}.py")
    return Place(folder / BASELINE_FOLDER, baseline.module, baseline.kernel, baseline.device)


def _folder(one: Found, source: Path, root: Path, module: str) -> Path:
    """Return the folder of the module: at the same place in the tree, else the only one of its name."""
    beside = root / os.path.relpath(one.folder, source)
    if one.path.parent != source and (beside / module).is_file():
        return Path(os.path.normpath(beside))
    inside = source.resolve()
    named = [
        folder
        for folder, files in walk(root)
        if module in files and not folder.resolve().is_relative_to(inside)
    ]
    if len(named) == 1:
        return named[0]
    raise BaselineError(
        str(one.path),
        expected=f"its test module, {module}, below {root}",
        got="none" if not named else f"{len(named)} of that name, none at the same place",
        next_step="Unpack the artefact so that it is laid out as this tree",
    )


def _taken_over(one: _Taken, root: Path, accept_slower: bool) -> Done:
    new, place = one.baseline, one.place
    name = f"{kernel_id(place.folder.parent, new, root)} on {new.device}"
    with folder_locked(place.folder):
        merge = merged(read_at(place), new)
        if merge.slower and not accept_slower:
            return Done(f"{name}: refused, {'; '.join(merge.slower)}; --accept-slower takes it", True)
        if merge.changes:
            write(place, merge.baseline)
    return Done(f"{name}: {'; '.join(merge.changes) or 'the same'}")
