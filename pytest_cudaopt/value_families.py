"""Arrays of a family: an ordinary draw made into what the family says, as far as its generator allows.

What a callable draws keeps its order and its zeros: nobody else knows what it means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.arranged_families import ARRANGED, arranged, lopsided, with_ends
from pytest_cudaopt.families import Family
from pytest_cudaopt.index_values import Indices, Lengths, Offsets, Permutation, Sorted
from pytest_cudaopt.integer_families import OUT_OF_RANGE, out_of_range
from pytest_cudaopt.number_families import MAGNITUDES, SPECIAL, Numbers, changed
from pytest_cudaopt.values import FromCallable, Integers, Normal, Uniform, ValueSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.parameters import Parameter
    from pytest_cudaopt.values import Drawing

_PLACES = frozenset({Family.CONSTANT, Family.ENDS, Family.SORTED, Family.DESCENDING, Family.DUPLICATES})


def families_of(parameter: Parameter) -> frozenset[Family]:
    """Return the families that change what `parameter`, whose dtype is known, holds."""
    source, dtype = parameter.values, parameter.dtype
    if not parameter.has_contents or parameter.symbol is not None:
        return frozenset()
    match source:
        case Normal():
            return ARRANGED | SPECIAL | MAGNITUDES
        case Uniform():
            return ARRANGED | SPECIAL | {Family.BELOW, Family.BEYOND}
        case FromCallable():
            return frozenset({Family.VARIED, Family.CONTRAST, Family.TINY} if dtype.is_float else ())
        case Integers():
            if dtype.is_float:
                return ARRANGED | {Family.SPARSE}
            return ARRANGED | (OUT_OF_RANGE if dtype.kind != "bool" else frozenset())
        case Indices(unique=True):
            return frozenset({Family.SORTED, Family.DESCENDING})
        case Indices():
            return _PLACES | {Family.NEGATIVE}
        case Lengths():
            return frozenset({Family.CONSTANT, Family.ENDS})
        case Offsets(empty=True):
            return frozenset({Family.CLUSTERED})
        case Offsets():
            return frozenset({Family.CLUSTERED, Family.EMPTY_SEGMENTS})
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
    source, rng = parameter.values, drawing.rng
    if isinstance(source, Sorted):
        import numpy as np

        return np.sort(arranged(family, ordinary, rng), axis=-1)
    if isinstance(source, Offsets):
        least = 0 if source.empty or family is Family.EMPTY_SEGMENTS else 1
        return lopsided(ordinary, least, rng)
    ends = _ends(source, drawing)
    if family in ARRANGED:
        return arranged(family, _with_ends(source, ordinary, ends), rng)
    if family in OUT_OF_RANGE:
        return out_of_range(family, ordinary, rng, ends)
    return changed(family, Numbers(ordinary, parameter.dtype, rng, ends))


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


def _with_ends(
    source: ValueSource | None, ordinary: NDArray[Any], ends: tuple[float, float] | None
) -> NDArray[Any]:
    """Return the draw with both ends of its generator among its elements, where it has ends."""
    import numpy as np

    is_unique = isinstance(source, Indices) and source.unique
    if ends is None or is_unique:
        return ordinary
    low, high = ends
    # The upper end of `uniform` is not among its numbers.
    top = np.nextafter(np.float32(high), np.float32(low)) if isinstance(source, Uniform) else high
    return with_ends(ordinary, low, top)
