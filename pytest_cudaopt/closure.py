"""The closure of a source: itself and every header it may include, read once, and frozen.

Each include is resolved here and not by the compiler, which gets texts in memory whose includes name nothing
but each other and headers of the toolchain. So nothing else can be included.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from pytest_cudaopt.header_files import Disk, HeaderFiles, KeptTexts, Stamp
from pytest_cudaopt.includes import Form, Include, Scan, scan


@dataclass(frozen=True)
class Place:
    """Where a kernel's source stands: its folder, and the folders and stub patterns of its includes."""

    folder: Path
    include: tuple[Path, ...] = ()
    stub: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[Path, ...]:
        """All folders whose files may be included."""
        return (self.folder, *self.include)

    def shown(self, path: Path | str) -> str:
        """Name `path` as seen from the source's folder."""
        return os.path.relpath(path, self.folder)


@dataclass(frozen=True)
class Resolved:
    """What an include or probe stands for: a frozen header, a refusal, nothing; else one not the user's."""

    header: str | None = None
    refusal: str | None = None
    is_stub: bool = False


@dataclass(frozen=True)
class Text:
    """One file of a closure: its name there, its text, and what each include and probe of it stands for."""

    name: str
    text: str
    scanned: Scan
    includes: tuple[Resolved, ...]
    probes: tuple[Resolved, ...]


@dataclass(frozen=True, eq=False)
class Headers:
    """The headers a source reaches. The same object as long as neither they nor their places change.

    A name starts with `./` or `../`, so that no header of the toolchain includes it by accident.
    """

    all: tuple[Text, ...] = ()

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts as they are in their files, by their names relative to the source's folder."""
        return {one.name.removeprefix("./"): one.text for one in self.all}


@dataclass(frozen=True)
class Closure:
    """A source and the user's headers it reaches."""

    place: Place
    source: Text
    headers: Headers


def close(source: str, place: Place) -> Closure:
    """Read the headers that `source`, a text standing in `place.folder`, may include."""
    scanned = scan(source)
    wanted = (
        place,
        tuple((one.directive, one.form, one.name) for one in scanned.includes),
        tuple((one.form, one.name) for one in scanned.probes),
    )
    reached = _REACHED.get(wanted)
    if reached is None or not reached.is_current():
        reached = _reach(source, scanned, place, _DISK)
        if len(_REACHED) >= _MOST_REMEMBERED:
            _REACHED.clear()
        _REACHED[wanted] = reached
    return _closure(place, source, scanned, reached)


def close_over(source: str, place: Place, texts: Mapping[str, str]) -> Closure:
    """Do so with headers kept from earlier, named relative to the source's folder; no file is read."""
    return close_in(source, place, KeptTexts(place.folder, texts))


def close_in(source: str, place: Place, files: HeaderFiles) -> Closure:
    """Do so with the headers that `files` has."""
    scanned = scan(source)
    return _closure(place, source, scanned, _reach(source, scanned, place, files))


def _closure(place: Place, source: str, scanned: Scan, reached: _Reached) -> Closure:
    return Closure(place, Text("", source, scanned, reached.includes, reached.probes), reached.headers)


_MOST_REMEMBERED = 256
_DISK = Disk()


@dataclass(frozen=True)
class _Reached:
    """What the includes of a source lead to, and the stamp of each file looked at; None: there was none."""

    includes: tuple[Resolved, ...]
    probes: tuple[Resolved, ...]
    headers: Headers
    stamps: dict[str, Stamp | None]

    def is_current(self) -> bool:
        return all(_DISK.stamp(path) == stamp for path, stamp in self.stamps.items())


# By place and what is included; sources that differ elsewhere, as candidates do, share an entry.
_REACHED: dict[tuple[object, ...], _Reached] = {}


def _reach(source: str, scanned: Scan, place: Place, files: HeaderFiles) -> _Reached:
    walk = _Walk(place, files)
    text = walk.resolve("", place.folder, source, scanned)
    while walk.pending:
        path, name = walk.pending.pop()
        content = files.read(str(path))
        walk.done.append(walk.resolve(name, path.parent, content.text, content.scanned))
    headers = Headers(tuple(sorted(walk.done, key=lambda one: one.name)))
    return _Reached(text.includes, text.probes, headers, walk.stamps)


class _Walk:
    """The state of one reading: names given, and files still to read."""

    def __init__(self, place: Place, files: HeaderFiles) -> None:
        self._place = place
        self._files = files
        self._roots = tuple(os.path.normpath(root) for root in place.roots)
        self._names: dict[tuple[int, int], str] = {}
        self.stamps: dict[str, Stamp | None] = {}
        self.pending: list[tuple[Path, str]] = []
        self.done: list[Text] = []

    def resolve(self, name: str, folder: Path, text: str, scanned: Scan) -> Text:
        includes = tuple(self._include(one, folder) for one in scanned.includes)
        probes = tuple(self._find(one.form, one.name, folder) for one in scanned.probes)
        return Text(name, text, scanned, includes, probes)

    def _include(self, one: Include, folder: Path) -> Resolved:
        if one.directive == "define":
            return Resolved(refusal="it changes what the toolchain includes. Remove it")
        if one.directive != "include":
            return Resolved(refusal=f"#{one.directive} is not supported. Write a plain #include")
        if one.form is Form.COMPUTED:
            return Resolved(refusal="its name is computed by a macro. Write the name itself")
        return self._find(one.form, one.name, folder)

    def _find(self, form: Form, name: str, folder: Path) -> Resolved:
        # First, since what must not be read may well be in a folder.
        if any(fnmatchcase(name, pattern) for pattern in self._place.stub):
            return Resolved(is_stub=True)
        if name.startswith("/"):
            return Resolved(refusal="it is absolute. Write it relative to a folder named in include=")
        if not name or "\0" in name:
            return Resolved(refusal="it names no file")
        outside = ""
        for where in (folder, *self._place.include) if form is Form.QUOTED else self._place.include:
            path = os.path.normpath(os.path.join(where, name))  # noqa: PTH118 - ten times faster than Path
            stamp = self.stamps[path] if path in self.stamps else self._files.stamp(path)
            self.stamps[path] = stamp
            if stamp is None:
                continue
            if self._is_inside(path):
                return self._header(path, stamp[:2])
            outside = outside or path
        if outside:
            shown = self._place.shown(Path(outside).parent)
            return Resolved(refusal=f'it leaves the include folders. Add include=["{shown}"]')
        if ".." in name.split("/"):
            return Resolved(refusal=f"no such file; searched {searched(self._place)}")
        return Resolved()

    def _is_inside(self, path: str) -> bool:
        return any(path.startswith(root.rstrip("/") + "/") for root in self._roots)

    def _header(self, path: str, identity: tuple[int, int]) -> Resolved:
        # One file under two names must be one header to `#pragma once`.
        known = self._names.get(identity)
        if known is not None:
            return Resolved(header=known)
        name = self._place.shown(path)
        if not name.startswith("../"):
            name = f"./{name}"
        if ">" in name or "\n" in name:
            return Resolved(refusal="its path holds a character no #include can hold")
        if refusal := self._files.read(path).refusal:
            return Resolved(refusal=refusal)
        self._names[identity] = name
        self.pending.append((Path(path), name))
        return Resolved(header=name)


def searched(place: Place) -> str:
    """List the folders that includes are looked for in, for a message."""
    folders = [place.shown(folder) for folder in place.roots]
    return ", ".join("the source's folder" if folder == "." else folder for folder in dict.fromkeys(folders))
