"""A user's documents for `--optimize-docs`: read within bounds, from inside their folder only."""

from __future__ import annotations

import codecs
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.errors import SettingsError, why_unreadable
from pytest_cudaopt.optimize.passages import Origin, Passage, pieces, sections

SUFFIXES = (".md", ".txt", ".rst")
MOST_FILES = 500
MOST_FILE_BYTES = 256 * 1024
MOST_BYTES = 8 * 1024 * 1024
MOST_PASSAGES = 8000
_MOST_ENTRIES = 200_000
_DEEPEST = 12


@dataclass(frozen=True)
class UserDocuments:
    """Passages of a folder's documents, and a line for each kind of thing that was left out."""

    passages: tuple[Passage, ...] = ()
    notes: tuple[str, ...] = ()


def find_folder(given: str, root: Path) -> Path:
    """Return the folder of `--optimize-docs`, relative to `root`; raise SettingsError if there is none."""
    folder = root / given
    what = f"--optimize-docs {given}"
    try:
        with os.scandir(folder):
            return folder
    except NotADirectoryError as error:
        raise SettingsError(what, expected="a folder", got="a file") from error
    except FileNotFoundError as error:
        raise SettingsError(
            what, expected="a folder", got="nothing there", next_step=f"It is looked for in {root}."
        ) from error
    except (OSError, ValueError) as error:
        got = why_unreadable(error) if isinstance(error, OSError) else str(error)
        raise SettingsError(what, expected="a readable folder", got=got) from error


def read_folder(folder: Path) -> UserDocuments:
    """Read the folder's documents in the order of their names.

    Links are not followed, so nothing outside is read. What is too much, no text or no regular file is left
    out, and the notes say how much of it there was.
    """
    left_out: Counter[str] = Counter()
    passages: list[Passage] = []
    files, taken_bytes = 0, 0
    for path in _documents(folder, left_out):
        if files == MOST_FILES or taken_bytes >= MOST_BYTES or len(passages) >= MOST_PASSAGES:
            left_out[f"beyond the first {files} files"] += 1
            continue
        text = _read(path, min(MOST_FILE_BYTES, MOST_BYTES - taken_bytes), left_out)
        if text:
            files += 1
            taken_bytes += len(text.encode())
            passages += _passages(path.relative_to(folder), text)
    notes = [f"--optimize-docs: {count} left out: {why}" for why, count in sorted(left_out.items())]
    if len(passages) > MOST_PASSAGES:
        notes.append(f"--optimize-docs: only the first {MOST_PASSAGES} passages are searched")
    return UserDocuments(tuple(passages[:MOST_PASSAGES]), tuple(notes))


def _documents(folder: Path, left_out: Counter[str]) -> Iterator[Path]:
    """Give paths with a document's suffix, sorted within each folder, files before folders."""
    looked_at, waiting = 0, [(folder, 0)]
    while waiting:
        here, depth = waiting.pop(0)
        names, folders = [], []
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    looked_at += 1
                    if looked_at > _MOST_ENTRIES:
                        left_out[f"folders with more than {_MOST_ENTRIES} entries"] += 1
                        return
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.name.lower().endswith(SUFFIXES):
                        names.append(entry.name)
        except OSError:
            left_out["unreadable folders"] += 1
            continue
        yield from (here / name for name in sorted(names))
        if depth < _DEEPEST:
            waiting += [(here / name, depth + 1) for name in sorted(folders)]
        elif folders:
            left_out[f"folders deeper than {_DEEPEST}"] += len(folders)


def _read(path: Path, most_bytes: int, left_out: Counter[str]) -> str | None:
    """Return a file's text up to `most_bytes`, or None and count why not."""
    try:
        # A link is refused, and a FIFO that nobody writes to does not wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        left_out["links" if path.is_symlink() else "unreadable files"] += 1
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                left_out["no regular files"] += 1
                return None
            data = file.read(most_bytes + 1)
    except OSError:
        left_out["unreadable files"] += 1
        return None
    if b"\0" in data:
        left_out["binary files"] += 1
        return None
    if is_cut := len(data) > most_bytes:
        left_out[f"ends of files beyond {MOST_FILE_BYTES // 1024} KB"] += 1
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data[:most_bytes], final=not is_cut)
    except UnicodeDecodeError:
        left_out["files that are not UTF-8"] += 1
        return None


def _passages(path: Path, text: str) -> Iterator[Passage]:
    # Names may hold bytes that are no text.
    shown = os.fsencode(path).decode("utf-8", "replace")
    cut = sections(text)
    title = next((one.heading for one in cut if one.heading), "") or path.stem
    for section in cut:
        for piece in pieces(section.text) or (section.heading,):
            yield Passage(shown, title, section.heading, piece, shown, Origin.USER)
