"""Compare a kernel's output with its reference: pure, strict about non-finite values, chunk by chunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.evaluation import Comparison, Mismatch
from pytest_cudaopt.parameters import Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_SHOWN = 5
# Temporaries of one chunk stay in the caches and below malloc's mmap threshold: four times as fast as 2^17.
_CHUNK = 1 << 14
_MOST = float(np.finfo(np.float64).max)


def compare(
    parameter: Parameter,
    expected: NDArray[Any],
    got: NDArray[Any],
    rtol: float,
    atol: float,
    exact: bool | None = None,
) -> Comparison:
    """Compare `got`, in the stored dtype, with `expected`, float64 for floats and the stored dtype else.

    A value is accepted if some number within `atol + rtol * |expected|` of the reference rounds to it, so
    the correctly rounded reference always is, and a reference beyond the dtype's range asks for infinity.
    NaN must meet NaN, an infinity the same infinity. `exact` (default: the parameter's) asks for the bits
    of the rounded reference, any NaN for a NaN. A bool must be stored as 0 or 1.
    """
    if expected.shape != got.shape:
        raise ValueError(f"{parameter.name}: expected shape {expected.shape}, got {got.shape}")
    rule = _Rule(parameter.dtype, rtol, atol, parameter.exact if exact is None else exact)
    flat_expected, flat_got = expected.reshape(-1), got.reshape(-1)
    tally = _Tally()
    for start in range(0, flat_got.size, _CHUNK):
        end = start + _CHUNK
        tally.add(start, *rule.judge(flat_expected[start:end], flat_got[start:end]))

    def describe(position: int) -> Mismatch:
        index = tuple(int(i) for i in np.unravel_index(position, got.shape))
        return _mismatch(index, flat_expected[position], flat_got[position : position + 1], parameter.dtype)

    return Comparison(
        output=parameter.name,
        elements=int(got.size),
        mismatched=tally.count,
        rtol=0.0 if rule.exact else rtol,
        atol=0.0 if rule.exact else atol,
        worst=None if tally.worst is None else describe(tally.worst),
        first=tuple(describe(position) for position in tally.first),
        max_absolute=tally.max_absolute,
    )


def round_to(dtype: DType, values: NDArray[np.float64]) -> NDArray[Any]:
    """Round float64 `values` to a float `dtype`, to nearest even, once; too large becomes infinite."""
    with np.errstate(over="ignore", under="ignore"):
        if dtype.name != "bf16":
            return values.astype(dtype.numpy)
        # ml_dtypes goes through float32 and so rounds twice. Rounding to odd first makes that harmless:
        # truncate, and let the last bit say that something was cut off.
        single = values.astype(np.float32)
        bits = single.view(np.uint32)
        bits -= np.abs(single.astype(np.float64)) > np.abs(values)
        bits |= single.astype(np.float64) != values
        return single.astype(dtype.numpy)


@dataclass(frozen=True)
class _Rule:
    dtype: DType
    rtol: float
    atol: float
    exact: bool

    def judge(
        self, expected: NDArray[Any], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        """Return positions of wrong elements, their distance and tolerance, and the largest distance."""
        with np.errstate(all="ignore"):
            if not self.dtype.is_float:
                return self._judge_integers(expected, got)
            if self.exact:
                return self._judge_bits(expected, got)
            return self._judge_floats(expected, got)

    def _judge_floats(
        self, expected: NDArray[np.float64], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        distance = got.astype(np.float64)
        distance -= expected
        np.abs(distance, out=distance)
        tolerance = np.abs(expected)
        tolerance *= self.rtol
        tolerance += self.atol
        largest = _largest_finite(distance)
        # An infinite reference must not make every value acceptable.
        np.minimum(tolerance, _MOST, out=tolerance)
        is_near = distance <= tolerance
        if is_near.all():
            return np.empty(0, np.intp), distance[:0], tolerance[:0], largest
        suspicious = np.flatnonzero(~is_near)
        wide = got[suspicious].astype(np.float64)
        near = self._rounds_to(expected[suspicious], wide, tolerance[suspicious])
        wrong = suspicious[~near]
        return wrong, distance[wrong], tolerance[wrong], largest

    def _rounds_to(
        self, expected: NDArray[np.float64], wide: NDArray[np.float64], tolerance: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        low, middle, high = (
            round_to(self.dtype, value).astype(np.float64)
            for value in (expected - tolerance, expected, expected + tolerance)
        )
        both_nan = np.isnan(expected) & np.isnan(wide)
        between = np.isfinite(expected) & (low <= wide) & (wide <= high)
        accepted: NDArray[np.bool_] = both_nan | (wide == middle) | between
        return accepted

    def _judge_bits(
        self, expected: NDArray[np.float64], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        rounded = round_to(self.dtype, expected)
        differ = np.flatnonzero(self.dtype.bit_patterns(rounded) != self.dtype.bit_patterns(got))
        wide = got[differ].astype(np.float64)
        both_nan = np.isnan(expected[differ]) & np.isnan(wide)
        wrong, wide = differ[~both_nan], wide[~both_nan]
        distance = np.abs(wide - rounded[wrong].astype(np.float64))
        return wrong, distance, np.zeros_like(distance), _largest_finite(distance)

    def _judge_integers(
        self, expected: NDArray[Any], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        if self.dtype.kind == "bool":
            # A kernel may store any byte in a bool; NumPy would call all of them True.
            expected, got = expected.view(np.uint8), got.view(np.uint8)
        differ = np.flatnonzero(expected != got)
        want, have = expected[differ], got[differ]
        # Modulo 2^bits the difference is exact, whatever the signs.
        unsigned = np.dtype(f"uint{self.dtype.bits}")
        distance = np.where(have > want, have - want, want - have).astype(unsigned).astype(np.float64)
        tolerance = np.zeros_like(distance)
        if not self.exact and self.dtype.kind != "bool":
            tolerance = self.atol + self.rtol * np.abs(want.astype(np.float64))
        wrong = distance > tolerance
        return differ[wrong], distance[wrong], tolerance[wrong], _largest_finite(distance)


class _Tally:
    """What is kept of all chunks."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []
        self.worst: int | None = None
        self.max_absolute = 0.0
        self._worst_measure = (-1.0, -1.0)

    def add(
        self,
        start: int,
        wrong: NDArray[np.intp],
        distance: NDArray[np.float64],
        tolerance: NDArray[np.float64],
        largest: float,
    ) -> None:
        self.max_absolute = max(self.max_absolute, largest)
        if not wrong.size:
            return
        self.count += int(wrong.size)
        self.first += [start + int(position) for position in wrong[: FIRST_SHOWN - len(self.first)]]
        distance = np.where(np.isfinite(distance), distance, np.inf)
        with np.errstate(all="ignore"):
            excess = np.where(np.isfinite(distance) & (tolerance > 0), distance / tolerance, np.inf)
        # Furthest beyond its tolerance; among equals the largest distance, then the first.
        furthest = np.flatnonzero(excess == excess.max())
        chosen = furthest[np.argmax(distance[furthest])]
        measure = (float(excess[chosen]), float(distance[chosen]))
        if measure > self._worst_measure:
            self._worst_measure = measure
            self.worst = start + int(wrong[chosen])


def _largest_finite(distance: NDArray[np.float64]) -> float:
    if not distance.size:
        return 0.0
    largest = float(distance.max())
    if math.isfinite(largest):
        return largest
    finite = distance[np.isfinite(distance)]
    return float(finite.max()) if finite.size else 0.0


def _mismatch(index: tuple[int, ...], expected: Any, got: NDArray[Any], dtype: DType) -> Mismatch:
    if dtype.kind == "bool":
        byte = int(got.view(np.uint8)[0])
        return Mismatch(index, bool(expected), byte if byte > 1 else bool(byte), None, None, None)
    if not dtype.is_float:
        want, have = int(expected), int(got[0])
        relative = abs(have - want) / abs(want) if want else None
        return Mismatch(index, want, have, float(abs(have - want)), relative, None)
    wanted, had = float(expected), float(got[0])
    if not (math.isfinite(wanted) and math.isfinite(had)):
        return Mismatch(index, wanted, had, None, None, None)
    absolute = abs(had - wanted)
    relative = absolute / abs(wanted) if wanted else None
    return Mismatch(index, wanted, had, absolute, relative, absolute / _ulp(wanted, dtype))


def _ulp(value: float, dtype: DType) -> float:
    """Return the spacing of `dtype` at `value`."""
    exponent_bits = dtype.bits - 1 - dtype.mantissa_bits
    least = 2 - (1 << (exponent_bits - 1))
    exponent = max(math.frexp(value)[1] - 1, least) if value else least
    return math.ldexp(1.0, exponent - dtype.mantissa_bits)
