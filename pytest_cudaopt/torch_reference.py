"""References written in PyTorch: inputs become tensors, tensors that come back become arrays."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from pytest_cudaopt.errors import EnvironmentFault

# PyTorch reads no arrays of ml_dtypes' types: their bits are handed over, and what they mean.
_BITS_OF = {
    "bfloat16": (np.int16, "bfloat16"),
    "float8_e4m3fn": (np.uint8, "float8_e4m3fn"),
    "float8_e5m2": (np.uint8, "float8_e5m2"),
}


def torch_reference(function: Callable[..., Any], *, device: str = "cpu") -> Callable[..., Any]:
    """Return `function`, which takes and returns tensors on `device`, as a `reference=`.

    Floats are float64 unless the parameter says `oracle="stored"`. On the CPU outputs may also be assigned in
    place; elsewhere they are returned. Raises EnvironmentFault, when it is run, if there is no PyTorch.
    """

    @functools.wraps(function)
    def reference(**given: Any) -> Any:
        torch = _torch(getattr(function, "__name__", type(function).__name__))
        return function(**{name: _as_tensor(torch, value, device) for name, value in given.items()})

    return reference


def _torch(name: str) -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise EnvironmentFault(
            f"torch_reference({name})",
            expected="PyTorch",
            got=str(error),
            next_step="Install torch, or write the reference in NumPy",
        ) from error


def _as_tensor(torch: Any, value: Any, device: str) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    # Outputs share their memory; PyTorch warns of arrays that cannot be written.
    array = value if value.flags.writeable else value.copy()
    if (bits := _BITS_OF.get(array.dtype.name)) is not None:
        tensor = torch.from_numpy(array.view(bits[0])).view(getattr(torch, bits[1]))
    else:
        tensor = torch.from_numpy(array)
    return tensor.to(device)
