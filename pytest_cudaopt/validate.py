"""Compare a kernel's output with its reference: pure, strict about non-finite values, chunk by chunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.criterion import Criterion
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.evaluation import Comparison, Mismatch
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.rounding import round_to, spacing

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
    criterion: Criterion,
    compared: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare `got`, in the stored dtype, with `expected`, float64 for floats or the stored dtype.

    A value is accepted if some number within `atol + rtol * |expected|`, or `ulp` units in the last place, of
    the reference rounds to it, so the correctly rounded reference always is, and a reference beyond the
    dtype's range asks for infinity, or for the largest number of a type that saturates. NaN must meet NaN, an
    infinity the same infinity. `exact` asks for the bits of the rounded reference, any NaN for a NaN. A bool
    must be stored as 0 or 1. Where `compared` is False, anything is accepted.
    """
    if expected.shape != got.shape:
        raise ValueError(f"{parameter.name}: expected shape {expected.shape}, got {got.shape}")
    rule = _Rule(parameter.dtype, criterion)
    flat_expected, flat_got = expected.reshape(-1), got.reshape(-1)
    chosen = None if compared is None else compared.reshape(-1)
    tally = _Tally()
    for start in range(0, flat_got.size, _CHUNK):
        end = start + _CHUNK
        wrong = rule.judge(flat_expected[start:end], flat_got[start:end])
        tally.add(start, *(wrong if chosen is None else _within(chosen[start:end], *wrong)))

    def describe(position: int) -> Mismatch:
        index = tuple(int(i) for i in np.unravel_index(position, got.shape))
        return _mismatch(index, flat_expected[position], flat_got[position : position + 1], parameter.dtype)

    return Comparison(
        output=parameter.name,
        elements=int(got.size),
        mismatched=tally.count,
        rtol=0.0 if criterion.exact else criterion.rtol,
        atol=0.0 if criterion.exact else criterion.atol,
        ulp=0.0 if criterion.exact else criterion.ulp,
        worst=None if tally.worst is None else describe(tally.worst),
        first=tuple(describe(position) for position in tally.first),
        max_absolute=tally.max_absolute,
    )


def compare_marked(
    parameter: Parameter,
    wrong: NDArray[np.bool_],
    expected: NDArray[Any] | None,
    got: NDArray[Any],
    judged_by: str,
) -> Comparison:
    """Report the elements that somebody else found wrong, with what the reference says where it does."""
    positions = np.flatnonzero(wrong)
    first = tuple(
        _mismatch(
            tuple(int(i) for i in np.unravel_index(position, got.shape)),
            None if expected is None else expected.reshape(-1)[position],
            got.reshape(-1)[position : position + 1],
            parameter.dtype,
        )
        for position in positions[:FIRST_SHOWN]
    )
    return Comparison(
        output=parameter.name,
        elements=int(got.size),
        mismatched=int(positions.size),
        rtol=0.0,
        atol=0.0,
        worst=first[0] if first else None,
        first=first,
        judged_by=judged_by,
    )


@dataclass(frozen=True)
class _Rule:
    dtype: DType
    criterion: Criterion

    def judge(
        self, expected: NDArray[Any], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        """Return positions of wrong elements, their distance and tolerance, and the largest distance."""
        with np.errstate(all="ignore"):
            if not self.dtype.is_float:
                return self._judge_integers(expected, got)
            # Exact: a reference may give the stored dtype itself.
            expected = expected.astype(np.float64, copy=False)
            if self.criterion.exact:
                return self._judge_bits(expected, got)
            return self._judge_floats(expected, got)

    def _judge_floats(
        self, expected: NDArray[np.float64], got: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
        distance = got.astype(np.float64)
        distance -= expected
        np.abs(distance, out=distance)
        tolerance = np.abs(expected)
        tolerance *= self.criterion.rtol
        tolerance += self.criterion.atol
        if self.criterion.ulp:
            np.fmax(tolerance, self.criterion.ulp * spacing(self.dtype, expected), out=tolerance)
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
        # Types that saturate may hold infinities, which conversions can be told to give.
        accepted: NDArray[np.bool_] = both_nan | (wide == middle) | (wide == expected) | between
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
        if not self.criterion.exact and self.dtype.kind != "bool":
            tolerance = self.criterion.atol + self.criterion.rtol * np.abs(want.astype(np.float64))
        wrong = distance > tolerance
        return differ[wrong], distance[wrong], tolerance[wrong], _largest_finite(distance)


def _within(
    compared: NDArray[np.bool_],
    wrong: NDArray[np.intp],
    distance: NDArray[np.float64],
    tolerance: NDArray[np.float64],
    largest: float,
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], float]:
    """Leave out what is not compared."""
    kept = compared[wrong]
    return wrong[kept], distance[kept], tolerance[kept], largest if compared.all() else 0.0


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
    if expected is None:
        return Mismatch(index, None, _plain(got, dtype), None, None, None)
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
    ulp = absolute / float(spacing(dtype, np.asarray(wanted)))
    return Mismatch(index, wanted, had, absolute, relative, ulp)


def _plain(got: NDArray[Any], dtype: DType) -> float | int:
    if dtype.kind == "bool":
        return int(got.view(np.uint8)[0])
    return float(got[0]) if dtype.is_float else int(got[0])
