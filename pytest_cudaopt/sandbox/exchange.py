"""The memory that a call travels in, and that its results will be in.

All of it is anonymous memory (memfd) of a fixed size, made here and handed over as descriptors: there is no
name that a link or a pipe could be put under, and nothing a call could write to but this.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt import dtypes
from pytest_cudaopt.sandbox.call import Argument, Call, Limits, Seed
from pytest_cudaopt.sandbox.manifest import ANSWER_BYTES, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = {dtype.numpy: dtype.name for dtype in dtypes.ALL}
_MOST_SOURCE_BYTES = 2**20


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
    given = _written(call, limits)
    fcntl.fcntl(given, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    sizes = (ANSWER_BYTES, limits.output_bytes, limits.printed_bytes, limits.printed_bytes)
    names = ("answer", "arrays", "stdout", "stderr")
    rest = [_memory(name, size) for name, size in zip(names, sizes, strict=True)]
    return Exchange(given, *rest)


def _written(call: Call, limits: Limits) -> int:
    """Return memory with the call: length and text of a header, then the arrays."""
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


def _joined(header: dict[str, Any], arrays: list[NDArray[Any]], offsets: list[int], end: int) -> int:
    # Its own place depends on the header's length: leave room for it.
    _, base = places([8 + len(json.dumps({**header, "base": 2**62}))])
    text = json.dumps({**header, "base": base}).encode()
    descriptor = _memory("given", base + end)
    with mmap.mmap(descriptor, base + end) as memory:
        memory[:8] = len(text).to_bytes(8, "little")
        memory[8 : 8 + len(text)] = text
        for one, offset in zip(arrays, offsets, strict=True):
            memory.seek(base + offset)
            memory.write(np.ascontiguousarray(one).reshape(-1).view(np.uint8).data)
    return descriptor


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
    if not isinstance(value, bool | int | float | str | None):
        raise UnfitCallError(f"{path} is a {type(value).__name__}")
    return {"value": value}


def _memory(name: str, size: int) -> int:
    """Make anonymous memory of a size that nobody can change."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return descriptor
