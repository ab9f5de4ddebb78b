"""What the buffers of a case hold before a launch: inputs as they lie in memory, and a pattern elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.dtypes import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments

# Repeated 2 bytes that are a NaN in f16, bf16, f32 and f64, no valid bool, and an unlikely integer.
POISON = "f97f"
# Elements of one byte are told from others by all of them being alike. A NaN in either float of 8 bits.
_POISON_OF_BYTES, _POISON_OF_SMALL_FLOATS = "f9", "7f"
# A number in each of them. An addition to a NaN in a guard zone leaves a NaN there, and so no trace.
FINITE_POISON = "3c3c"


def poison_of(dtype: DType) -> str:
    """Return what an array of `dtype` holds, as hex, where nothing has been written."""
    if dtype.itemsize > 1:
        return POISON
    return _POISON_OF_SMALL_FLOATS if dtype.is_float else _POISON_OF_BYTES


def stored_arrays(arguments: Arguments, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return `arrays` as their files hold them: with strides, a pattern lies between the elements.

    Of an array that repeats a tile it is the tile.
    """
    layouts = arguments.layouts
    patterns = {p.name: bytes.fromhex(poison_of(p.dtype)) for p in arguments.parameters}
    return {
        name: layouts[name].scatter(array, patterns[name])
        if name in layouts
        else arguments.tiles.get(name, array)
        for name, array in arrays.items()
    }
