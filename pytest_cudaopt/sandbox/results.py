"""What is believed of what came out of a call: nothing that was not checked.

Memory is sealed before it is read, so that what is checked is what is used.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt import dtypes
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.sandbox.call import Wanted
from pytest_cudaopt.sandbox.manifest import (
    ANSWER_BYTES,
    MOST_ARRAYS,
    MOST_DEPTH,
    MOST_DIMENSIONS,
    Answer,
    ArrayEntry,
    places,
)
from pytest_cudaopt.wire import from_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Their brackets are no structure.
_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"?')


class BadOutputError(Exception):
    """What came out is not what was asked for; its text says why."""


def printed(descriptor: int, most_bytes: int) -> str:
    """Return what was printed to one of the streams; whatever is no text is replaced."""
    return readable(os.pread(descriptor, most_bytes, 0).rstrip(b"\0").decode(errors="replace"))


def readable(text: str, most: int | None = None) -> str:
    """Return at most `most` characters of `text` without any that move a cursor or cannot be written."""
    shown = text[:most]
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(
        one if one.isprintable() or one in "\n\t" else "\N{REPLACEMENT CHARACTER}" for one in shown
    )


def read_answer(descriptor: int) -> Answer:
    """Return what the process said; raise BadOutputError for anything but one well-formed answer."""
    _seal(descriptor)
    text = os.pread(descriptor, ANSWER_BYTES, 0).rstrip(b"\0")
    if not text:
        raise BadOutputError("it ended without an answer")
    if _depth(text) > MOST_DEPTH:
        raise BadOutputError(f"an answer nested deeper than {MOST_DEPTH} levels")
    try:
        return from_json(Answer, json.loads(text), "answer")
    except (ValueError, HarnessError) as error:
        raise BadOutputError(f"an answer that cannot be read: {error}") from error


def read_arrays(
    descriptor: int, entries: tuple[ArrayEntry, ...], wanted: Mapping[str, Wanted], most_bytes: int
) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays; raise BadOutputError for what is not `wanted`, before reading it."""
    named = _named(entries, wanted)
    sizes = {name: _checked_bytes(entry, wanted[name]) for name, entry in named.items()}
    offsets, end = places(sizes.values())
    if end > most_bytes:
        raise BadOutputError(f"{end} bytes of arrays, at most {most_bytes} are read")
    _seal(descriptor)
    found: dict[str, NDArray[Any]] = {}
    for offset, (name, entry) in zip(offsets, named.items(), strict=True):
        data = np.empty(sizes[name], np.uint8)
        _read_into(descriptor, data.data, offset)
        found[name] = data.view(dtypes.BY_NAME[entry.dtype].numpy).reshape(entry.shape)
        if wanted[name].finite and not _is_finite(found[name]):
            raise BadOutputError(f"{name}: not all of it is finite")
    return found


def _named(entries: tuple[ArrayEntry, ...], wanted: Mapping[str, Wanted]) -> dict[str, ArrayEntry]:
    """Return the entries by name, in their order; the names must be those that are wanted."""
    if len(entries) > MOST_ARRAYS:
        raise BadOutputError(f"{len(entries)} arrays, at most {MOST_ARRAYS} are read")
    named = {entry.name: entry for entry in entries}
    if len(named) != len(entries) or set(named) != set(wanted):
        got = ", ".join(entry.name[:40] for entry in entries) or "nothing"
        raise BadOutputError(f"expected {', '.join(wanted)}, got {got}")
    return named


def _checked_bytes(entry: ArrayEntry, wanted: Wanted) -> int:
    """Return how many bytes an array says that it has; nothing is read of it yet."""
    if entry.dtype not in dtypes.BY_NAME:
        raise BadOutputError(
            f"{entry.name}: a dtype among {', '.join(dtypes.BY_NAME)}, not '{entry.dtype[:40]}'"
        )
    if wanted.dtype is not None and entry.dtype != wanted.dtype:
        raise BadOutputError(f"{entry.name}: expected dtype {wanted.dtype}, got {entry.dtype}")
    if len(entry.shape) > MOST_DIMENSIONS or any(not 0 <= extent < 2**48 for extent in entry.shape):
        raise BadOutputError(f"{entry.name}: no shape of an array: {str(entry.shape)[:80]}")
    if wanted.shape is not None and entry.shape != wanted.shape:
        raise BadOutputError(f"{entry.name}: expected shape {wanted.shape}, got {entry.shape}")
    return math.prod(entry.shape) * dtypes.BY_NAME[entry.dtype].itemsize


def _is_finite(array: NDArray[Any]) -> bool:
    if array.dtype.kind in "iub":
        return True
    return bool(np.isfinite(array).all())


def _seal(descriptor: int) -> None:
    """See to it that nobody changes this memory any more; refused while somebody could."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    except PermissionError as error:
        raise BadOutputError("its memory was sealed by the call itself") from error
    except OSError as error:
        raise BadOutputError(f"its memory is still in use: {error.strerror}") from error


def _depth(text: bytes) -> int:
    """Return how deep the brackets of a JSON text are nested, without building anything."""
    depth = deepest = 0
    for byte in _JSON_TEXT.sub(b"", text):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _read_into(descriptor: int, data: memoryview, offset: int) -> None:
    done = 0
    while done < len(data):
        done += os.preadv(descriptor, [data[done:]], offset + done)
