"""The memory that a call and its results travel in, and what is believed of it: nothing that was not checked.

All of it is anonymous memory (memfd) of a fixed size, made here and handed over as descriptors: there is no
name that a link or a pipe could be put under. After the call it is sealed, so that what is checked is what
is used.
"""

from __future__ import annotations

import fcntl
import json
import math
import mmap
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt import dtypes
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.sandbox.call import Argument, Call, Limits, Seed, Wanted
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

_NAMES = {dtype.numpy: dtype.name for dtype in dtypes.ALL}
_MOST_SOURCE_BYTES = 2**20
_JSON_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"?')


class BadOutputError(Exception):
    """What came out is not what was asked for; its text says why."""


class UnfitCallError(Exception):
    """A call that cannot be handed over; its text says why."""


@dataclass(frozen=True)
class Exchange:
    """The descriptors of one call; closed when left."""

    given: int
    answer: int
    arrays: int
    stdout: int
    stderr: int

    @property
    def descriptors(self) -> list[int]:
        return [self.given, self.answer, self.arrays, self.stdout, self.stderr]

    def __enter__(self) -> Exchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self.descriptors:
            os.close(one)


def prepare(call: Call, limits: Limits) -> Exchange:
    """Write the call down and make room for what comes out; raise UnfitCallError if it cannot be."""
    content = _written(call, limits)
    given = _memory("given", len(content))
    _write(given, content)
    fcntl.fcntl(given, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    sizes = (ANSWER_BYTES, limits.output_bytes, limits.printed_bytes, limits.printed_bytes)
    names = ("answer", "arrays", "stdout", "stderr")
    rest = [_memory(name, size) for name, size in zip(names, sizes, strict=True)]
    return Exchange(given, *rest)


def printed(descriptor: int, most_bytes: int) -> str:
    """Return what was printed to one of the streams; whatever is no text is replaced."""
    text = os.pread(descriptor, most_bytes, 0).rstrip(b"\0").decode(errors="replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


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
        _read_into(descriptor, memoryview(data), offset)
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
        raise BadOutputError(f"{entry.name}: a dtype among {', '.join(dtypes.BY_NAME)}, not '{entry.dtype[:40]}'")
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


def _written(call: Call, limits: Limits) -> bytes:
    """Return the call as bytes: length and text of a header, then the arrays."""
    if len(call.source.encode(errors="surrogatepass")) > _MOST_SOURCE_BYTES:
        raise UnfitCallError(f"a source of more than {_MOST_SOURCE_BYTES} bytes")
    arrays: list[NDArray[Any]] = []
    nodes = {name: _node(name, value, arrays) for name, value in call.arguments.items()}
    offsets, end = places(one.nbytes for one in arrays)
    if end > limits.input_bytes:
        raise UnfitCallError(f"{end} bytes of arguments, at most {limits.input_bytes} are handed over")
    entries = [
        {"dtype": _NAMES[one.dtype], "shape": one.shape, "offset": offset}
        for one, offset in zip(arrays, offsets, strict=True)
    ]
    header: dict[str, Any] = {
        "source": call.source,
        "function": call.function,
        "arguments": nodes,
        "outputs": list(call.outputs),
        "arrays": entries,
    }
    return _joined(header, arrays, offsets, end)


def _joined(header: dict[str, Any], arrays: list[NDArray[Any]], offsets: list[int], end: int) -> bytes:
    # Its own place depends on the header's length: leave it room, in blanks that JSON does not mind.
    text = json.dumps(header).encode()
    _, base = places([8 + len(text) + len(', "base": ') + 20])
    text = json.dumps({**header, "base": base}).encode()
    content = bytearray(base + end)
    content[:8] = len(text).to_bytes(8, "little")
    content[8 : 8 + len(text)] = text
    for one, offset in zip(arrays, offsets, strict=True):
        content[base + offset : base + offset + one.nbytes] = one.tobytes()
    return bytes(content)


def _node(path: str, value: Argument, arrays: list[NDArray[Any]]) -> dict[str, Any]:
    """Return what stands for `value` in the header; its arrays are added to `arrays`."""
    if isinstance(value, np.ndarray):
        if value.dtype not in _NAMES:
            raise UnfitCallError(f"{path} of dtype {value.dtype}: not one of {', '.join(dtypes.BY_NAME)}")
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Seed):
        return {"seed": value.value}
    if isinstance(value, Mapping):
        return {"members": {name: _node(f"{path}.{name}", held, arrays) for name, held in value.items()}}
    return {"value": value}


def _memory(name: str, size: int) -> int:
    """Make anonymous memory of a size that nobody can change."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return descriptor


def _write(descriptor: int, content: bytes) -> None:
    with mmap.mmap(descriptor, len(content)) as memory:
        memory[:] = content


def _read_into(descriptor: int, data: memoryview, offset: int) -> None:
    done = 0
    while done < len(data):
        done += os.preadv(descriptor, [data[done:]], offset + done)
