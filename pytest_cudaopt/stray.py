"""Writes between the elements of an output with strides, seen by the pattern that is no longer there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from pytest_cudaopt.buffers import FINITE_POISON, poison_of
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.parameters import Parameter, Role
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.strided import Strided


def stray_write(
    prepared: PreparedCase,
    files: Mapping[str, Path],
    again: Mapping[str, Path] | None = None,
    changed: Collection[str] = (),
) -> Finding | None:
    """Return the finding of a launch that wrote `files`, or of another, on FINITE_POISON, that wrote `again`.

    An output of the latter that is not in `changed` is as the first launch left it.
    """
    for output in prepared.arguments.outputs:
        layout = prepared.arguments.layouts.get(output.name)
        if layout is None:
            continue
        poison = poison_of(output.dtype)
        found = _in_gaps(output, layout, files[output.name], poison)
        if found is None and again:
            # What has contents starts from them, gaps included, each time.
            pattern = FINITE_POISON if output.role is Role.OUT else poison
            last = again if output.name in changed else files
            found = _in_gaps(output, layout, last[output.name], pattern)
        if found is not None:
            return found
    return None


def _in_gaps(output: Parameter, layout: Strided, file: Path, pattern: str) -> Finding | None:
    itemsize = output.dtype.itemsize
    raw = np.fromfile(file, dtype=np.uint8)
    untouched = np.resize(np.frombuffer(bytes.fromhex(pattern), np.uint8), raw.size)
    differs = (raw != untouched).reshape(-1, itemsize).any(axis=1)
    written = np.flatnonzero(differs & layout.gaps())
    if not written.size:
        return None
    return Finding(
        FindingKind.ILLEGAL_ADDRESS,
        f"wrote between the elements of '{output.name}': {written.size} of {layout.elements} places of its "
        f"buffer, the first at {int(written[0])}, are none of the array's",
        buffer=output.name,
        element=int(written[0]),
        elements=layout.elements,
        access="write",
    )
