"""File writes that a killed process cannot leave half done where a reader would trust them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def write_atomically(
    path: Path, content: str | bytes, *, mode: int | None = None, synced: bool = True
) -> None:
    """Replace `path` as a whole: a reader sees the old content or the new one, never a part.

    `mode` sets the permission bits; None leaves them to the umask. Without `synced` it may be lost, or
    empty, after a power failure: for what can be made again and is checked when it is read.
    """
    data = content.encode() if isinstance(content, str) else content
    # Same folder, since a rename is atomic only within one file system.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            if synced:
                os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if synced:
        sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
    """Append one line and wait until it is on disk."""
    created = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
    if created:
        sync_folder(path.parent)


def sync_all(paths: Iterable[Path]) -> None:
    """Wait until all these files and folders are on disk; at once, so that they share commits."""
    many = list(paths)
    with ThreadPoolExecutor(max_workers=max(1, len(many))) as pool:
        # `list` raises what one of them raised.
        list(pool.map(sync_folder, many))


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable: a synced file is lost if its name is not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
