"""Regions of a source: `// @cudaopt begin NAME` ... `// @cudaopt end`; only one is a kernel's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_cudaopt.errors import SourceError, SourceLocation

_MARK = re.compile(r"^\ufeff?\s*//\s*@cudaopt\b(.*)$")
# Not splitlines(): the compiler does not count form feeds.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Region:
    """A region's name and the indices of the lines that hold its marks."""

    name: str
    begin: int
    end: int


def find(text: str, file: str) -> tuple[Region, ...]:
    """Return the regions of `text`; raise SourceError at a mark that makes no sense."""
    found: list[Region] = []
    opened: tuple[str, int] | None = None
    for index, line in enumerate(_lines(text)):
        match = _MARK.match(line.rstrip("\r\n"))
        if match is None:
            continue
        at = SourceLocation(file, index + 1)
        word, _, name = match[1].strip().partition(" ")
        name = name.strip()
        if word == "begin" and name:
            _require_new(name, found, opened, at)
            opened = (name, index)
        elif word == "end" and opened is not None and name in ("", opened[0]):
            found.append(Region(*opened, index))
            opened = None
        else:
            raise SourceError(
                f"// @cudaopt{match[1].rstrip()}",
                expected="'// @cudaopt begin NAME'"
                if opened is None
                else f"'// @cudaopt end' of region '{opened[0]}'",
                got=f"'{match[1].strip()}'",
                at=at,
            )
    if opened is not None:
        raise SourceError(
            f"region '{opened[0]}'",
            expected="a line '// @cudaopt end' below",
            got="the end of the file",
            next_step="Add it behind the kernel",
            at=SourceLocation(file, opened[1] + 1),
        )
    return tuple(found)


def select(text: str, names: Sequence[str], file: str) -> str:
    """Return `text` with every line but those of the region named one of `names` empty.

    Without regions it is the text itself. Raises SourceError as `find` does, and if none has such a name.
    """
    regions = find(text, file)
    if not regions:
        return text
    own = _named(regions, names)
    if own is None:
        raise SourceError(
            file,
            expected=f"a region '{names[0]}', since it has regions",
            got=", ".join(f"'{region.name}'" for region in regions),
            next_step=f"Write '// @cudaopt begin {names[0]}' above the kernel and '// @cudaopt end' below",
        )
    lines = _lines(text)
    kept = range(own.begin, own.end + 1)
    return "".join(line if index in kept else "\n" for index, line in enumerate(lines))


def inside(text: str, names: Sequence[str] = ()) -> str | None:
    """Return the lines inside the region named one of `names`, inside any without names; None if absent."""
    own = _named(find(text, "source"), names)
    return None if own is None else "".join(_lines(text)[own.begin + 1 : own.end])


def replace_inside(text: str, new: Callable[[str], str], names: Sequence[str] = ()) -> str:
    """Return `text` with what is inside that region replaced by `new` of it, of all where there is none.

    Line ends of the new lines are those of the region's first mark.
    """
    own = _named(find(text, "source"), names)
    if own is None:
        return new(text)
    lines = _lines(text)
    replaced = new("".join(lines[own.begin + 1 : own.end]).replace("\r\n", "\n").replace("\r", "\n"))
    mark = lines[own.begin]
    line_end = mark[len(mark.rstrip("\r\n")) :]
    return "".join([*lines[: own.begin + 1], replaced.replace("\n", line_end), *lines[own.end :]])


def _named(regions: Sequence[Region], names: Sequence[str]) -> Region | None:
    if not names:
        return next(iter(regions), None)
    by_name = {region.name: region for region in regions}
    # The kernel's own name before that of its entry, which may be another kernel's.
    return next((by_name[name] for name in names if name in by_name), None)


def _require_new(
    name: str, found: Sequence[Region], opened: tuple[str, int] | None, at: SourceLocation
) -> None:
    if opened is not None:
        raise SourceError(
            f"region '{name}'",
            expected=f"'// @cudaopt end' of region '{opened[0]}' first",
            got="a begin inside it",
            next_step="Regions do not nest",
            at=at,
        )
    if any(region.name == name for region in found):
        raise SourceError(f"region '{name}'", expected="one of that name", got="a second one", at=at)


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)
