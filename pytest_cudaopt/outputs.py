"""What a launch wrote, as files of one request: how they are called, and how they are read back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Request

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Outputs = Mapping[str, "NDArray[Any]"]
# No parameter's name holds a dash.
AGAIN = "-again"


def output_files(
    prepared: PreparedCase, device: Device, request: Request, suffix: str = ""
) -> dict[str, Path]:
    """Return a scratch file for each output, of this request only."""
    return {
        parameter.name: device.scratch / f"{request.nonce}-{parameter.name}{suffix}.bin"
        for parameter in prepared.arguments.outputs
    }


def read_outputs(files: Mapping[str, Path], prepared: PreparedCase) -> Outputs:
    """Return the arrays in `files`; raise HarnessError for one that is not of its parameter's shape."""
    return {p.name: _read(files[p.name], p, prepared) for p in prepared.arguments.outputs}


def read_changed(
    files: Mapping[str, Path], prepared: PreparedCase, first: Outputs, changed: Collection[str]
) -> Outputs | None:
    """Return `first` with the arrays that `changed` names as they are in `files`; None if it names none."""
    if not changed:
        return None
    return {
        p.name: _read(files[p.name], p, prepared) if p.name in changed else first[p.name]
        for p in prepared.arguments.outputs
    }


def empty_outputs(prepared: PreparedCase) -> Outputs:
    """Return outputs without elements, which is what no launch writes."""
    import numpy as np

    shapes = prepared.arguments.shapes
    return {p.name: np.empty(shapes[p.name], dtype=p.dtype.numpy) for p in prepared.arguments.outputs}


def pattern_at(array: NDArray[Any], pattern: str) -> NDArray[np.bool_]:
    """Return which elements hold nothing but `pattern`, bytes as hex that are repeated."""
    import numpy as np

    size = array.dtype.itemsize
    element = np.resize(np.frombuffer(bytes.fromhex(pattern), np.uint8), size)
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, size)
    holds: NDArray[np.bool_] = (raw == element).all(axis=1).reshape(array.shape)
    return holds


def _read(file: Path, parameter: Parameter, prepared: PreparedCase) -> NDArray[Any]:
    import numpy as np

    shape = prepared.arguments.shapes[parameter.name]
    try:
        raw = np.fromfile(file, dtype=np.uint8)
        stored = raw.view(parameter.dtype.numpy)
        layout = prepared.arguments.layouts.get(parameter.name)
        return stored.reshape(shape) if layout is None else layout.gather(stored)
    except (OSError, ValueError) as error:
        raise HarnessError(
            f"output '{parameter.name}'", expected=f"a file of shape {shape}", got=str(error)
        ) from error
