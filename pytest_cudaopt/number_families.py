"""Arrays of a family of floats: other magnitudes than those of a draw, and special numbers in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.families import Family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_cudaopt.dtypes import DType

_NON_FINITE = {
    Family.NAN: math.nan,
    Family.INFINITE: math.inf,
    Family.NEGATIVE_INFINITE: -math.inf,
    Family.MASKED: -math.inf,
    Family.INFINITE_BESIDE_ZEROS: math.inf,
}
SPECIAL = frozenset(
    {Family.SMALL_INTEGERS, *_NON_FINITE, Family.SIGNED_ZEROS, Family.SUBNORMAL, Family.SPARSE}
)
MAGNITUDES = frozenset(
    {
        Family.TINY,
        Family.SWEEP,
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
# Exponentials and their kin have bent by here, and not overflown.
_BENDS = 16.0
# Products of two, and sums of thousands, stay exact in f32, and of a few in f16.
_SMALL = 8


@dataclass(frozen=True)
class Numbers:
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


def changed(family: Family, of: Numbers) -> NDArray[Any]:
    """Return the draw as numbers of the family, as `dtype` stores them."""
    import numpy as np

    from pytest_cudaopt.rounding import stored

    wide: NDArray[Any] = of.ordinary.astype(np.float64)
    wide = _special(family, wide, of) if family in SPECIAL else _scaled(family, wide, of)
    if of.ends is not None and family in (Family.SIGNED_ZEROS, Family.SUBNORMAL, Family.SPARSE):
        low, high = of.ends
        wide = np.where((wide >= low) & (wide <= high), wide, of.ordinary.astype(np.float64))
    return stored(of.dtype, wide)


def _scaled(family: Family, wide: NDArray[Any], of: Numbers) -> NDArray[Any]:
    import numpy as np

    rng, dtype, shape = of.rng, of.dtype, wide.shape
    half = -dtype.least_exponent / 2
    match family:
        case Family.TINY:
            wide *= 2.0**-half
        case Family.SWEEP:
            even = np.linspace(-_BENDS, _BENDS, wide.size)
            wide = rng.permutation(even).reshape(shape)
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
            # Half of the bits are left for what differs. In one draw of three each row has a side of its own.
            rows = (*shape[:-1], 1) if shape and rng.integers(3) == 0 else ()
            wide += rng.choice([-1.0, 1.0], rows) * 2.0 ** (dtype.mantissa_bits // 2 - 1)
        case Family.VARIED:
            wide = _varied(wide, rng)
        case Family.BELOW if of.ends is not None:
            wide -= 1.5 * (of.ends[1] - of.ends[0])
        case Family.BEYOND if of.ends is not None:
            middle = (of.ends[0] + of.ends[1]) / 2
            wide = middle + 4 * (wide - middle)
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
    return wide


def _varied(wide: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return other numbers in the same order; those that are all alike get different ones."""
    import numpy as np

    if wide.size and (wide == wide.flat[0]).all():
        return wide + 0.25 * max(1.0, abs(float(wide.flat[0]))) * rng.normal(size=wide.shape)
    return wide * float(rng.uniform(0.5, 2.0)) if np.isfinite(wide).all() else wide


def _special(family: Family, wide: NDArray[Any], of: Numbers) -> NDArray[Any]:
    import numpy as np

    rng, dtype, shape = of.rng, of.dtype, wide.shape
    match family:
        case Family.MASKED:
            rows = wide.reshape(-1, shape[-1] if shape else 1)
            most = rows.shape[1]
            at, cut = np.arange(most), rng.integers(1, max(2, most), (rows.shape[0], 1))
            # The end of every other row, the beginning of the others.
            is_end = (np.arange(rows.shape[0]) % 2 == 0)[:, None]
            rows[np.where(is_end, at >= cut, at < cut)] = _NON_FINITE[family]
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
    return wide
