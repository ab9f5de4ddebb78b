"""How far outputs are from the reference, and how far a start that is so far lets a candidate be: pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.criterion import Criterion, Slack
from pytest_cudaopt.parameters import Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments

# What rounding may take of a candidate, of what it takes of the starting kernel.
TIMES_THE_START = 4.0
# What rounding may take anyway, for every root of a term.
_LEAST_ULP = 8.0


def share_of_tolerance(expected: NDArray[Any], got: NDArray[Any], criterion: Criterion) -> float:
    """Return the largest error over its tolerance, among finite elements; 0 where there is no tolerance."""
    with np.errstate(all="ignore"):
        wide = expected.astype(np.float64)
        tolerance = criterion.atol + criterion.rtol * np.abs(wide)
        shares = np.abs(got.astype(np.float64) - wide) / tolerance
    return _largest(shares[np.isfinite(shares)])


def scaled_error(expected: NDArray[Any], got: NDArray[Any]) -> float:
    """Return the largest error over the largest expected number, among finite elements."""
    with np.errstate(all="ignore"):
        wide = expected.astype(np.float64)
        errors = np.abs(got.astype(np.float64) - wide)
        scale = _largest(np.abs(wide[np.isfinite(wide)]))
    return _largest(errors[np.isfinite(errors)]) / scale if scale else 0.0


def terms_of(arguments: Arguments, output: Parameter) -> int:
    """Return how many terms an element of the output is made of, as far as the declaration says.

    As many as an input has elements along dimensions that the output has not: right for sums and products of
    matrices, too few for what is done to rows and kept in them.
    """
    kept = frozenset().union(*(extent.names for extent in output.shape))
    terms = 1
    for parameter in arguments.parameters:
        if parameter.name in arguments.arrays:
            shape = arguments.shapes[parameter.name]
            gone = (n for n, extent in zip(shape, parameter.shape, strict=True) if extent.names - kept)
            terms = max(terms, math.prod(gone))
    return terms


def least_ulp(arguments: Arguments, output: Parameter) -> float:
    """Return the units in the last place that rounding may take of any kernel: 8 for each root of a term."""
    return _LEAST_ULP * math.sqrt(terms_of(arguments, output))


def slack_of(share: float, arguments: Arguments, output: Parameter, expected: NDArray[Any]) -> Slack:
    """Return what a candidate may miss where the starting kernel's error has that share of its tolerance.

    Terms that cancel leave the rounding of the terms: of sums, the units are those of the largest element, or
    of the largest input where there is but one.
    """
    if not output.dtype.is_float:
        return Slack()
    ulp = least_ulp(arguments, output)
    absolute = 0.0
    if terms_of(arguments, output) > 1:
        arrays = [expected] if expected.size > 1 else [expected, *arguments.arrays.values()]
        scale = max((_scale(array) for array in arrays if array.dtype.kind not in "biu"), default=0.0)
        absolute = ulp * scale * 2.0**-output.dtype.mantissa_bits
    return Slack(max(1.0, TIMES_THE_START * share), ulp, absolute)


def _scale(array: NDArray[Any]) -> float:
    with np.errstate(all="ignore"):
        wide = np.abs(array.astype(np.float64))
    return _largest(wide[np.isfinite(wide)])


def _largest(numbers: NDArray[Any]) -> float:
    return float(numbers.max()) if numbers.size else 0.0
