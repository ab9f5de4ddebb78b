"""Where the texts of headers come from: files, each read once while unchanged, or texts kept from earlier."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_cudaopt.includes import Scan, scan

# A file counts as unchanged while these are: device, inode, size, time of change in ns.
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Content:
    """A header's text and what it includes, or why it cannot be used."""

    text: str
    scanned: Scan
    refusal: str | None = None


class HeaderFiles(Protocol):
    """What a closure is read from; paths are absolute and normalised."""

    def stamp(self, path: str) -> Stamp | None:
        """Return what tells one file from another; None where there is none."""

    def read(self, path: str) -> Content:
        """Return what is there."""


class Disk:
    """The files as they are."""

    def stamp(self, path: str) -> Stamp | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - ten times faster than Path
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def read(self, path: str) -> Content:
        stamp = self.stamp(path)
        known = _CONTENTS.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        try:
            text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
        except OSError as error:
            return Content("", scan(""), f"it cannot be read ({error.strerror or error})")
        content = content_of(text)
        _CONTENTS[path] = (stamp, content)
        return content


def content_of(text: str) -> Content:
    """Return what a header with this text is."""
    # The compiler would read up to there only.
    refusal = "it holds a zero byte" if "\0" in text else None
    return Content(text, scan(text), refusal)


_CONTENTS: dict[str, tuple[Stamp | None, Content]] = {}


class KeptTexts:
    """Headers as they were, by names relative to `folder`; nothing else is there."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        paths = (os.path.normpath(folder / name) for name in texts)
        self._texts = dict(zip(paths, texts.values(), strict=True))
        self._places = {path: place for place, path in enumerate(self._texts)}

    def stamp(self, path: str) -> Stamp | None:
        return (0, self._places[path], 0, 0) if path in self._places else None

    def read(self, path: str) -> Content:
        text = self._texts[path]
        return Content(text, scan(text))
