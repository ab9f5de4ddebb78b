"""What the buffers of a case hold before a launch: inputs as they lie in memory, and a pattern elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments

# Repeated 2 bytes that are a NaN in f16, bf16, f32 and f64, no valid bool, and an unlikely integer.
POISON = "f97f"


def stored_arrays(arguments: Arguments, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return `arrays` as their buffers hold them: with strides, the pattern lies between the elements."""
    layouts = arguments.layouts
    pattern = bytes.fromhex(POISON)
    return {
        name: layouts[name].scatter(array, pattern) if name in layouts else array
        for name, array in arrays.items()
    }
