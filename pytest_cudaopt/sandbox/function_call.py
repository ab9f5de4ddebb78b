"""Runs on the inside. Call the function, and write down what came of it.

From the first line of the source on, nothing that this process says can be trusted.
"""

from __future__ import annotations

import contextlib
import io
import json
import mmap
import os
import sys
import traceback
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt import dtypes
from pytest_cudaopt.sandbox.manifest import Answer, ArrayEntry, RaisedNote, places
from pytest_cudaopt.wire import to_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOURCE_NAME = "<function>"
_MOST_OF_A_MESSAGE = 2000
_NAMES = {str(dtype.numpy): dtype.name for dtype in dtypes.ALL}


def run(given: mmap.mmap, answer: int, arrays: int, output_bytes: int) -> None:
    """Make the call that `given` describes; write to the descriptors `answer` and `arrays`."""
    header, blocks = _read(given)
    arguments = {
        name: _argument(node, blocks, writable=name in header["outputs"])
        for name, node in header["arguments"].items()
    }
    try:
        with np.errstate(all="ignore"):
            returned = _function(header["source"], header["function"])(**arguments)
        results = _outputs(header["outputs"], arguments, returned)
        said = Answer(arrays=_write(results, arrays, output_bytes))
    except BaseException as error:  # whatever a model's function raises is reported, not obeyed
        said = Answer(raised=_noted(error))
    os.pwrite(answer, json.dumps(to_json(said)).encode(), 0)


class Bounded(io.TextIOBase):
    """Text to a descriptor up to so many bytes; what comes after them is dropped."""

    def __init__(self, descriptor: int, most_bytes: int) -> None:
        self._descriptor = descriptor
        self._left = most_bytes

    def write(self, text: str) -> int:
        data = text[: self._left].encode(errors="replace")[: self._left]
        if data:
            os.write(self._descriptor, data)
            self._left -= len(data)
        return len(text)

    def writable(self) -> bool:
        return True


def print_at_most(most_bytes: int) -> None:
    """Bound what is printed through `sys.stdout` and `sys.stderr`."""
    sys.stdout, sys.stderr = Bounded(1, most_bytes), Bounded(2, most_bytes)


def _read(given: mmap.mmap) -> tuple[Mapping[str, Any], list[NDArray[Any]]]:
    length = int.from_bytes(given[:8], "little")
    header = json.loads(given[8 : 8 + length])
    base = header["base"]
    found = []
    for entry in header["arrays"]:
        dtype = dtypes.BY_NAME[entry["dtype"]].numpy
        shape, offset = tuple(entry["shape"]), base + entry["offset"]
        found.append(np.frombuffer(given, dtype, int(np.prod(shape, dtype=object)), offset).reshape(shape))
    return header, found


def _argument(node: Mapping[str, Any], blocks: list[NDArray[Any]], *, writable: bool) -> Any:
    """Return what a node of the header stands for; arrays are views of sealed memory unless `writable`."""
    if "array" in node:
        block = blocks[node["array"]]
        return block.copy() if writable else block
    if "seed" in node:
        return np.random.default_rng(node["seed"])
    if "members" in node:
        return {name: _argument(held, blocks, writable=False) for name, held in node["members"].items()}
    return node["value"]


def _function(source: str, name: str) -> Any:
    module = ModuleType("function")
    sys.modules["function"] = module
    exec(compile(source, SOURCE_NAME, "exec"), module.__dict__)  # noqa: S102 - what all of this is for
    return getattr(module, name)


def _outputs(names: list[str], arguments: Mapping[str, Any], returned: object) -> dict[str, Any]:
    if isinstance(returned, Mapping):
        found = dict(returned)
    elif isinstance(returned, tuple) and len(returned) == len(names):
        found = dict(zip(names, returned, strict=True))
    elif returned is None:
        found = {}
    else:
        found = {names[0]: returned} if len(names) == 1 else {}
    return {
        name: found[name] if name in found else arguments[name]
        for name in names
        if _has(name, found, arguments)
    }


def _has(name: str, found: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    return name in found or isinstance(arguments.get(name), np.ndarray)


def _write(results: Mapping[str, Any], descriptor: int, most_bytes: int) -> tuple[ArrayEntry, ...]:
    """Write those arrays that have a dtype to write; whoever reads refuses the others by their names."""
    arrays = {name: np.asarray(value) for name, value in results.items()}
    entries = [
        ArrayEntry(str(name), _NAMES.get(str(one.dtype), str(one.dtype)), one.shape)
        for name, one in arrays.items()
    ]
    offsets, end = places(one.nbytes for one in arrays.values())
    if end <= most_bytes and not any(one.dtype.hasobject for one in arrays.values()):
        for offset, one in zip(offsets, arrays.values(), strict=True):
            _write_at(descriptor, np.ascontiguousarray(one), offset)
    return tuple(entries)


def _write_at(descriptor: int, array: NDArray[Any], offset: int) -> None:
    data = array.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(data):
        done += os.pwrite(descriptor, data[done:], offset + done)


def _noted(error: BaseException) -> RaisedNote:
    message = "no message"
    # Its text is the model's code too.
    with contextlib.suppress(Exception):
        message = str(error)[:_MOST_OF_A_MESSAGE]
    return RaisedNote(type(error).__name__[:100], message, _line(error), isinstance(error, MemoryError))


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == SOURCE_NAME:
        return error.lineno
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == SOURCE_NAME
    ]
    return lines[-1] if lines else None
