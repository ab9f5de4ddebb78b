"""Arrays of a family that rearranges or repeats a draw: nothing is in them that it could not give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_cudaopt.families import Family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ARRANGED = frozenset(
    {
        Family.CONSTANT,
        Family.ENDS,
        Family.SORTED,
        Family.DESCENDING,
        Family.DUPLICATES,
        Family.CLUSTERED,
    }
)


def with_ends(array: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Return the draw with two numbers among its elements, if it has two."""
    if array.size < 2:
        return array
    array = array.copy()
    array.flat[0], array.flat[-1] = low, high
    return array


def arranged(family: Family, array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return elements of the draw in another order, or some of them repeated."""
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


def lopsided(ordinary: NDArray[Any], least: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return offsets of which one segment has all there is, or as much as the others leave."""
    import numpy as np

    segments = ordinary.size - 1
    if segments < 2:
        return ordinary
    lengths = np.full(segments, least)
    lengths[rng.integers(segments)] += int(ordinary[-1]) - least * segments
    return np.concatenate([[0], np.cumsum(lengths)]).astype(ordinary.dtype)
