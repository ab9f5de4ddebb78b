"""Arrays of a family of integers that a generator does not give: another may, in the same dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_cudaopt.families import Family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OUT_OF_RANGE = frozenset({Family.WIDE, Family.UPPER, Family.LIMITS, Family.NEGATIVE})


def out_of_range(
    family: Family, ordinary: NDArray[Any], rng: np.random.Generator, ends: tuple[float, float] | None
) -> NDArray[Any]:
    """Return integers of the whole dtype, or places counted from the end; `ends` are the generator's."""
    import numpy as np

    limits = np.iinfo(ordinary.dtype)
    if family is Family.LIMITS:
        upper = rng.random(ordinary.shape) < rng.choice([0.0, 0.5])
        return np.where(upper, limits.max, limits.min).astype(ordinary.dtype)
    if family is not Family.NEGATIVE:
        # Differences leave the dtype, or sums of all of them do.
        low = limits.min if family is Family.WIDE else limits.max // 2
        wide = np.uint64 if low >= 0 else np.int64
        return rng.integers(low, limits.max, ordinary.shape, dtype=wide, endpoint=True).astype(ordinary.dtype)
    if ends is None or ends[0] != 0 or limits.min == 0 or ends[1] >= limits.max:
        return ordinary
    counted_back = ordinary - ordinary.dtype.type(ends[1] + 1)
    skipped = ordinary < 0
    chosen = (rng.random(ordinary.shape) < 0.5) & ~skipped
    return np.where(chosen, counted_back, ordinary)
