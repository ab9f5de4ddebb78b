"""Expectations that took long to compute, kept in the user's cache folder by everything they depend on."""

from __future__ import annotations

import hashlib
import io
import os
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pytest_cudaopt import __version__
from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.expectation import Expectation, read_only
from pytest_cudaopt.fingerprint import fingerprint
from pytest_cudaopt.reference import compute_expected
from pytest_cudaopt.reference_source import ReferenceSource

if TYPE_CHECKING:
    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.declared import Kernel

_FOLDER = "reference"
# Reading it back, and hashing the inputs before, must take less.
WORTH_S = 0.05
MOST_BYTES = 2 << 30
MOST_BYTES_EACH = 256 << 20
_ARRAY, _UNWRITTEN = "array", "unwritten"


def cached_expectation(kernel: Kernel, arguments: Arguments) -> Expectation:
    """Return what `compute_expected` does, from the cache where nothing it depends on has changed.

    The reference's code, all it refers to, the declaration, the inputs and the releases of what computes are
    part of the key; a reference of which not all is known is always run.
    """
    folder = _folder(kernel, arguments)
    if folder is None:
        return compute_expected(kernel, arguments)
    # Inputs are hashed only for a reference that was worth keeping before.
    if folder.is_dir() and (found := _recall(_entry(folder, arguments), arguments)) is not None:
        return found
    start = time.perf_counter()
    expected = compute_expected(kernel, arguments)
    if time.perf_counter() - start >= WORTH_S and expected.nbytes <= MOST_BYTES_EACH:
        remember(_entry(folder, arguments), _packed(expected))
        make_room(folder.parent, MOST_BYTES)
    return expected


def make_room(folder: Path, most_bytes: int) -> None:
    """Remove the entries that were used least recently until the rest has at most `most_bytes`."""
    entries = []
    for path in folder.glob("*/*"):
        try:
            status = path.stat()
        except OSError:
            # Another process made room as well.
            continue
        entries.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size


def _folder(kernel: Kernel, arguments: Arguments) -> Path | None:
    """Return where the reference's expectations are; None if they may not be kept."""
    if isinstance(kernel.reference, ReferenceSource):
        return None
    function = fingerprint(kernel.reference)
    if function is None:
        return None
    declared = [
        (p.name, p.role.value, p.dtype.name, p.oracle, p.judging.unwritten.value)
        for p in arguments.parameters
    ]
    # `accept` decides what may be left unwritten.
    parts = (function, declared, kernel.accept is not None, __version__, ml_dtypes.__version__)
    return cache_folder() / _FOLDER / hashlib.sha256(repr(parts).encode()).hexdigest()


def _entry(folder: Path, arguments: Arguments) -> Path:
    digest = hashlib.sha256()
    scalars = {name: (value.dtype.name, value.tobytes()) for name, value in arguments.scalars.items()}
    dtypes = [p.dtype.name for p in arguments.parameters]
    sizes = sorted(arguments.sizes.items())
    digest.update(repr((sizes, dtypes, dict(arguments.shapes), scalars)).encode())
    for name, array in arguments.arrays.items():
        digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        held = arguments.tiles.get(name, array)
        digest.update(np.ascontiguousarray(held).reshape(-1).view(np.uint8).data)
    return folder / f"{digest.hexdigest()}.npz"


def _packed(expected: Expectation) -> bytes:
    """Return the arrays as one file, as bytes: NumPy's format does not know all dtypes."""
    packed: dict[str, Any] = {}
    for kind, arrays in ((_ARRAY, expected.arrays), (_UNWRITTEN, expected.unwritten)):
        for name, array in arrays.items():
            packed[f"{kind}.{name}"] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    file = io.BytesIO()
    np.savez(file, **packed)
    return file.getvalue()


def _recall(path: Path, arguments: Arguments) -> Expectation | None:
    """Return what was remembered; None if there is nothing, or nothing that can be trusted."""
    dtypes = {p.name: p.oracle_dtype for p in arguments.parameters if p.is_array}
    found: dict[str, dict[str, Any]] = {_ARRAY: {}, _UNWRITTEN: {}}
    try:
        with np.load(path, allow_pickle=False) as packed:
            for key in packed.files:
                kind, _, name = key.partition(".")
                dtype = np.dtype(bool) if kind == _UNWRITTEN else dtypes[name]
                found[kind][name] = packed[key].view(dtype).reshape(arguments.shapes[name])
        # Used just now: others are removed first.
        os.utime(path)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return read_only(arguments, found[_ARRAY], found[_UNWRITTEN])
