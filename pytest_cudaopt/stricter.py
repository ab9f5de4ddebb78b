"""What some properties ask of outputs beyond the tolerance: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Property

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of what the largest expected number's last place is worth.
_EXACT_ULP = 16.0
# An output most of whose elements are whole numbers was computed in whole numbers.
_MOSTLY = 0.9


def stricter(
    asked: Property | None, parameter: Parameter, expected: NDArray[Any], got: NDArray[Any]
) -> NDArray[np.bool_] | None:
    """Return which elements of an output do not have the property; None if it asks for nothing more.

    `SIGNED_ZEROS`: a zero has the reference's sign. `EXACT_INTEGERS`: where the reference says whole numbers,
    what is off is less than a narrower type would lose.
    """
    if not parameter.dtype.is_float:
        return None
    match asked:
        case Property.SIGNED_ZEROS:
            return _wrong_zeros(expected, got)
        case Property.EXACT_INTEGERS:
            return _wrong_integers(parameter, expected, got)
    return None


def _wrong_zeros(expected: NDArray[Any], got: NDArray[Any]) -> NDArray[np.bool_]:
    wide, had = expected.astype(np.float64), got.astype(np.float64)
    wrong: NDArray[np.bool_] = (wide == 0) & (had == 0) & (np.signbit(wide) != np.signbit(had))
    return wrong


def _wrong_integers(
    parameter: Parameter, expected: NDArray[Any], got: NDArray[Any]
) -> NDArray[np.bool_] | None:
    wide, had = expected.astype(np.float64), got.astype(np.float64)
    most = float(1 << min(parameter.dtype.mantissa_bits, 30))
    with np.errstate(all="ignore"):
        whole = np.isfinite(wide) & (wide == np.round(wide)) & (np.abs(wide) <= most)
        if not wide.size or whole.mean() < _MOSTLY:
            return None
        scale = float(np.abs(wide[whole]).max())
        allowed = _EXACT_ULP * scale * 2.0 ** -(parameter.dtype.mantissa_bits + 1)
        wrong: NDArray[np.bool_] = whole & ~(np.abs(had - wide) <= allowed)
    return wrong
