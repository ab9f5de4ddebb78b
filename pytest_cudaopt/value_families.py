"""Arrays of a family: an ordinary draw made into what the family says, as far as its generator allows.

What a callable draws keeps its order and its zeros: nobody else knows what it means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.families import Family
from pytest_cudaopt.index_values import Indices, Lengths, Offsets, Permutation, Sorted
from pytest_cudaopt.values import FromCallable, Integers, Normal, Uniform, ValueSource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_cudaopt.dtypes import DType
    from pytest_cudaopt.parameters import Parameter
    from pytest_cudaopt.values import Drawing

_SHAPED = frozenset(
    {
        Family.CONSTANT,
        Family.ENDS,
        Family.SORTED,
        Family.DESCENDING,
        Family.DUPLICATES,
        Family.CLUSTERED,
    }
)
_NON_FINITE = {
    Family.NAN: math.nan,
    Family.INFINITE: math.inf,
    Family.NEGATIVE_INFINITE: -math.inf,
    Family.MASKED: -math.inf,
    Family.INFINITE_BESIDE_ZEROS: math.inf,
}
_SPECIAL = frozenset(
    {Family.SMALL_INTEGERS, *_NON_FINITE, Family.SIGNED_ZEROS, Family.SUBNORMAL, Family.SPARSE}
)
_ANY_NUMBER = frozenset(
    {
        Family.TINY,
        Family.MODERATE,
        Family.HUGE,
        Family.LEAST,
        Family.MIXED,
        Family.CONTRAST,
        Family.OFFSET,
        Family.SUFFIX,
        Family.CANCELLING,
    }
)
_OUT_OF_RANGE = frozenset({Family.WIDE, Family.UPPER, Family.LIMITS, Family.NEGATIVE})
_PLACES = frozenset({Family.CONSTANT, Family.ENDS, Family.SORTED, Family.DESCENDING, Family.DUPLICATES})
# Products of two, and sums of thousands, stay exact in f32, and of a few in f16.
_SMALL = 8


def families_of(parameter: Parameter) -> frozenset[Family]:
    """Return the families that change what `parameter`, whose dtype is known, holds."""
    source, dtype = parameter.values, parameter.dtype
    if not parameter.has_contents or parameter.symbol is not None:
        return frozenset()
    match source:
        case Normal():
            return _SHAPED | _SPECIAL | _ANY_NUMBER
        case Uniform():
            return _SHAPED | _SPECIAL | {Family.BELOW, Family.BEYOND}
        case FromCallable():
            return frozenset({Family.VARIED, Family.CONTRAST, Family.TINY} if dtype.is_float else ())
        case Integers():
            if dtype.is_float:
                return _SHAPED | {Family.SPARSE}
            return _SHAPED | (_OUT_OF_RANGE if dtype.kind != "bool" else frozenset())
        case Indices(unique=True):
            return frozenset({Family.SORTED, Family.DESCENDING})
        case Indices():
            return _PLACES | {Family.NEGATIVE}
        case Lengths():
            return frozenset({Family.CONSTANT, Family.ENDS})
        case Offsets():
            return frozenset({Family.CLUSTERED})
        case Permutation():
            return frozenset({Family.SORTED, Family.DESCENDING})
        case Sorted(source=inner):
            return (
                frozenset({Family.CONSTANT, Family.ENDS, Family.DUPLICATES})
                if _is_plain(inner)
                else frozenset()
            )
    return frozenset()


def arrays_in(family: Family, parameters: Iterable[Parameter]) -> list[str]:
    """Return the arrays that the family changes."""
    return [one.name for one in parameters if one.is_array and family in families_of(one)]


def in_family(family: Family, parameter: Parameter, drawing: Drawing, ordinary: NDArray[Any]) -> NDArray[Any]:
    """Return `ordinary`, which `drawing` gave, as an array of the family; as it is where there is none."""
    if family not in families_of(parameter) or not ordinary.size:
        return ordinary
    source, dtype = parameter.values, parameter.dtype
    rng = drawing.rng
    if isinstance(source, Sorted):
        import numpy as np

        return np.sort(_shaped(family, ordinary, rng), axis=-1)
    if isinstance(source, Offsets):
        return _lopsided(ordinary, source, rng)
    if family in _SHAPED:
        return _shaped(family, _between(source, ordinary, drawing), rng)
    if family in _OUT_OF_RANGE:
        return _beyond(family, source, ordinary, drawing)
    return _numbers(family, _Numbers(ordinary, dtype, rng, _ends(source, drawing)))


def _is_plain(source: ValueSource | None) -> bool:
    return isinstance(source, Normal | Uniform | Integers | Indices | Lengths)


def _ends(source: ValueSource | None, drawing: Drawing) -> tuple[float, float] | None:
    """Return the least and the largest number that a generator gives; None if it has no bounds."""
    match source:
        case Uniform(low=low, high=high):
            first, last = (_number(end, drawing) for end in (low, high))
            return first, last
        case Integers(low=low, high=high):
            return low.evaluate(drawing.sizes), high.evaluate(drawing.sizes)
        case Indices(high=high):
            most = high.evaluate(drawing.sizes) - 1
            return (0, most) if most >= 0 else None
        case Lengths(most=most, zero=zero):
            return int(not zero), max(int(not zero), most.evaluate(drawing.sizes))
    return None


def _number(end: Any, drawing: Drawing) -> float:
    return float(end) if isinstance(end, int | float) else float(end.evaluate(drawing.sizes))


def _between(source: ValueSource | None, ordinary: NDArray[Any], drawing: Drawing) -> NDArray[Any]:
    """Return the draw with both ends of its generator among its elements, where it has ends."""
    import numpy as np

    ends = _ends(source, drawing)
    repeats = not (isinstance(source, Indices) and source.unique)
    if ends is None or ordinary.size < 2 or not repeats:
        return ordinary
    array = ordinary.copy()
    low, high = ends
    # The upper end of `uniform` is not among its numbers.
    top = np.nextafter(np.float32(high), np.float32(low)) if isinstance(source, Uniform) else high
    array.flat[0], array.flat[-1] = low, top
    return array


def _shaped(family: Family, array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Rearrange or repeat elements of the draw: nothing that it could not give."""
    import numpy as np

    flat = array.reshape(-1)
    match family:
        case Family.CONSTANT:
            made = np.full_like(flat, flat[rng.integers(flat.size)])
        case Family.ENDS:
            ends = np.array([flat.min(), flat.max()], flat.dtype)
            made = ends[rng.integers(0, 2, flat.size)]
        case Family.SORTED:
            return np.sort(array, axis=-1)
        case Family.DESCENDING:
            return np.ascontiguousarray(np.sort(array, axis=-1)[..., ::-1])
        case Family.DUPLICATES:
            few = flat[rng.integers(0, flat.size, 3)]
            made = few[rng.integers(0, 3, flat.size)]
        case _:
            # Most of what is large lies together, and much of it is as large as the largest.
            made = np.sort(flat)[::-1].copy()
            made[: max(1, flat.size // 3)] = made[0]
            made = np.roll(made, int(rng.integers(flat.size)))
    return made.reshape(array.shape)


def _lopsided(ordinary: NDArray[Any], source: Offsets, rng: np.random.Generator) -> NDArray[Any]:
    """Return offsets of which one segment has all there is, or as much as the others leave."""
    import numpy as np

    segments = ordinary.size - 1
    if segments < 2:
        return ordinary
    least = 0 if source.empty else 1
    lengths = np.full(segments, least)
    lengths[rng.integers(segments)] += int(ordinary[-1]) - least * segments
    return np.concatenate([[0], np.cumsum(lengths)]).astype(ordinary.dtype)


def _beyond(
    family: Family, source: ValueSource | None, ordinary: NDArray[Any], drawing: Drawing
) -> NDArray[Any]:
    """Return integers that the generator does not give: of the whole dtype, or counted from the end."""
    import numpy as np

    limits = np.iinfo(ordinary.dtype)
    rng = drawing.rng
    if family is Family.LIMITS:
        upper = rng.random(ordinary.shape) < rng.choice([0.0, 0.5, 1.0])
        return np.where(upper, limits.max, limits.min).astype(ordinary.dtype)
    if family is not Family.NEGATIVE:
        # Differences leave the dtype, or sums of all of them do.
        low = limits.min if family is Family.WIDE else limits.max // 2
        wide = np.uint64 if low >= 0 else np.int64
        return rng.integers(low, limits.max, ordinary.shape, dtype=wide, endpoint=True).astype(ordinary.dtype)
    ends = _ends(source, drawing)
    if ends is None or ends[0] != 0 or limits.min == 0 or ends[1] >= limits.max:
        return ordinary
    counted_back = ordinary - ordinary.dtype.type(ends[1] + 1)
    skipped = ordinary < 0
    chosen = (rng.random(ordinary.shape) < 0.5) & ~skipped
    return np.where(chosen, counted_back, ordinary)


@dataclass(frozen=True)
class _Numbers:
    """Floats to change: an ordinary draw, and the ends of its generator if it has any."""

    ordinary: NDArray[Any]
    dtype: DType
    rng: np.random.Generator
    ends: tuple[float, float] | None

    def at(self, share: float) -> NDArray[np.bool_]:
        """Choose about that share of the elements, at least one, the last one always."""
        chosen: NDArray[np.bool_] = self.rng.random(self.ordinary.shape) < share
        chosen.flat[-1] = True
        return chosen


def _varied(wide: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return other numbers in the same order; those that are all alike get different ones."""
    import numpy as np

    if wide.size and (wide == wide.flat[0]).all():
        return wide + 0.25 * max(1.0, abs(float(wide.flat[0]))) * rng.normal(size=wide.shape)
    return wide * float(rng.uniform(0.5, 2.0)) if np.isfinite(wide).all() else wide


def _numbers(family: Family, of: _Numbers) -> NDArray[Any]:
    import numpy as np

    from pytest_cudaopt.rounding import stored

    rng, dtype = of.rng, of.dtype
    wide: NDArray[Any] = of.ordinary.astype(np.float64)
    shape = wide.shape
    half = -dtype.least_exponent / 2
    match family:
        case Family.TINY:
            wide *= 2.0**-half
        case Family.HUGE:
            wide *= 2.0 ** (half * 0.75)
        case Family.LEAST:
            wide *= 2.0 ** (dtype.least_exponent + 1)
        case Family.CONTRAST:
            # Of a narrow type products need not stay in its range: they are kept in a wider one.
            wide *= 2.0 ** (1.6 * half if half < 10 else 0.75 * half)
        case Family.MODERATE:
            # Where exponentials overflow, and squares of them in narrow types.
            wide *= 2.0 ** rng.uniform(0, min(10, half), (*shape[:-1], 1) if shape else ())
        case Family.OFFSET:
            # Half of the bits are left for what differs.
            wide += float(rng.choice([-1.0, 1.0])) * 2.0 ** (dtype.mantissa_bits // 2 - 1)
        case Family.VARIED:
            wide = _varied(wide, rng)
        case Family.BELOW if of.ends is not None:
            wide -= 1.5 * (of.ends[1] - of.ends[0])
        case Family.BEYOND if of.ends is not None:
            middle = (of.ends[0] + of.ends[1]) / 2
            wide = middle + 4 * (wide - middle)
        case Family.MASKED:
            rows = wide.reshape(-1, shape[-1] if shape else 1)
            most = rows.shape[1]
            at, cut = np.arange(most), rng.integers(1, max(2, most), (rows.shape[0], 1))
            # The end of every other row, the beginning of the others.
            is_end = (np.arange(rows.shape[0]) % 2 == 0)[:, None]
            rows[np.where(is_end, at >= cut, at < cut)] = _NON_FINITE[family]
        case Family.MIXED:
            wide *= 2.0 ** rng.integers(-int(half / 2), int(half / 2), shape)
        case Family.SUFFIX:
            flat = wide.reshape(-1)
            start = int(rng.integers(flat.size // 2, flat.size))
            flat[start:] *= 2.0 ** min(half / 2, float(rng.integers(12, 20)))
        case Family.CANCELLING:
            flat = wide.reshape(-1)
            pairs = flat.size // 2
            flat[pairs : 2 * pairs] = -flat[:pairs]
        case Family.SPARSE:
            wide[~of.at(0.1)] = 0.0
        case Family.SMALL_INTEGERS:
            low, high = (-_SMALL, _SMALL) if of.ends is None else (np.ceil(of.ends[0]), np.floor(of.ends[1]))
            if high >= low:
                wide = rng.integers(int(low), int(min(high, low + 2 * _SMALL)), shape, endpoint=True) * 1.0
        case Family.NAN | Family.INFINITE | Family.NEGATIVE_INFINITE | Family.INFINITE_BESIDE_ZEROS:
            wide[of.at(2 / wide.size)] = _NON_FINITE[family]
        case Family.SIGNED_ZEROS:
            # All others on one side of them, in two draws of three: then zeros are the least or the largest.
            side = rng.integers(3)
            wide = wide if side == 0 else np.abs(wide) if side == 1 else -np.abs(wide)
            chosen = of.at(0.3)
            wide[chosen] = rng.choice([0.0, -0.0], int(chosen.sum()))
        case _:
            chosen = of.at(0.5)
            smallest = 2.0 ** (dtype.least_exponent - dtype.mantissa_bits)
            steps = rng.integers(1, 1 << min(dtype.mantissa_bits, 20), int(chosen.sum()))
            wide[chosen] = smallest * steps * rng.choice([-1.0, 1.0], int(chosen.sum()))
    if of.ends is not None and family in (Family.SIGNED_ZEROS, Family.SUBNORMAL, Family.SPARSE):
        low, high = of.ends
        wide = np.where((wide >= low) & (wide <= high), wide, of.ordinary.astype(np.float64))
    return stored(dtype, wide)
