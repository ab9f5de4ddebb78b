"""Round float64 values to an element type as a CUDA kernel stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.dtypes import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray


def round_to(dtype: DType, values: NDArray[np.float64]) -> NDArray[Any]:
    """Round float64 `values` to a float `dtype`, to nearest even, once.

    Too large becomes infinite, or for a type of 8 bits its largest number, as CUDA's conversions do.
    """
    with np.errstate(over="ignore", under="ignore"):
        if dtype.saturates:
            # Cut off first: ml_dtypes rounds beyond the range to NaN (e4m3) or infinity (e5m2).
            largest = dtype.largest
            values = np.clip(values, -largest, largest)
        elif dtype.name != "bf16":
            return values.astype(dtype.numpy)
        # ml_dtypes goes through float32 and so rounds twice. Rounding to odd first makes that harmless:
        # truncate, and let the last bit say that something was cut off.
        single = values.astype(np.float32)
        bits = single.view(np.uint32)
        bits -= np.abs(single.astype(np.float64)) > np.abs(values)
        bits |= single.astype(np.float64) != values
        return single.astype(dtype.numpy)


def stored(dtype: DType, values: NDArray[Any]) -> NDArray[Any]:
    """Return `values` in `dtype`: NumPy's conversion, but for types that saturate."""
    if dtype.saturates and values.dtype != dtype.numpy:
        return round_to(dtype, np.asarray(values, np.float64))
    return values.astype(dtype.numpy)


def spacing(dtype: DType, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one unit in the last place of a float `dtype` at each of `values`; NaN where not finite."""
    least = dtype.least_exponent
    _, exponents = np.frexp(values)
    exponents = np.where(values == 0, least, np.maximum(exponents - 1, least))
    units: NDArray[np.float64] = np.ldexp(1.0, exponents - dtype.mantissa_bits)
    return np.where(np.isfinite(values), units, np.nan)
