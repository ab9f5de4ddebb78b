"""What the reference says of inputs next to a case's own: how far its answer is determined at all.

Sums that cancel, ties that only rounding breaks and numbers beside a bin's edge move when inputs move by
less than rounding moves them. No kernel owes more than the exact answer to some inputs so near.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.criterion import Criterion, criterion
from pytest_cudaopt.error_share import least_ulp
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.reference import compute_expected
from pytest_cudaopt.reference_source import ReferenceSource
from pytest_cudaopt.rounding import round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.expectation import Expectation
    from pytest_cudaopt.outputs import Outputs
    from pytest_cudaopt.parameters import Parameter

_NEIGHBOURS = 8
_SIGNS = 32
# Narrower types are computed with in f32.
_SINGLE_BITS, _DOUBLE_BITS = 23, 52
_MOST_ELEMENTS = 1 << 20
# Nothing beside any number, far apart, and no zeros in products of several.
_TINY_EXPONENTS = (-260, -160)


def without_undetermined(kernel: Kernel, expected: Expectation, outputs: Outputs) -> Outputs:
    """Return the outputs with the reference's own answer where theirs is that of a neighbour.

    A float may be as far off as a neighbour's answer is, and its tolerance more; an integer must be what one
    of them says. For integers equal elements of an array stay equal, so that ties keep their rule; only where
    that moves one do neighbours count in which equal elements differ. For floats both do: the mean of equal
    numbers is rounded too, and what is left of them is rounding alone.
    """
    arguments = expected.arguments
    wanted = [
        one
        for one in arguments.outputs
        if one.name in expected.arrays
        and expected.arrays[one.name].size
        and not criterion(one, kernel.tolerance, arguments.sizes).exact
    ]
    elements = sum(array.size for array in (*arguments.arrays.values(), *expected.arrays.values()))
    if not wanted or elements > _MOST_ELEMENTS or isinstance(kernel.reference, ReferenceSource):
        return outputs
    size = _size(arguments, max(least_ulp(arguments, one) for one in wanted))
    answers = _said_of(kernel, arguments, lambda array, seed: _noisy(array, size, seed))
    apart = _said_of(kernel, arguments, lambda array, seed: _noisy(array, size, seed, apart=True))
    patched = {}
    for one in wanted:
        said, other = ([answer[one.name] for answer in some] for some in (answers, apart))
        bounds = criterion(one, kernel.tolerance, arguments.sizes)
        near = _near(bounds, one, expected.arrays[one.name], outputs[one.name], said, other)
        patched[one.name] = _with_expected(one, expected.arrays[one.name], outputs[one.name], near)
    return {**outputs, **patched}


def undetermined_signs(kernel: Kernel, expected: Expectation, output: Parameter) -> NDArray[np.bool_]:
    """Return which zeros of the reference owe their sign to what is added to what.

    Zeros that are copied or multiplied have the sign of tiny numbers in their stead, whatever signs those
    have; a sum of zeros is negative only if all of them are.
    """
    found = np.zeros(expected.arrays[output.name].shape, bool)
    if isinstance(kernel.reference, ReferenceSource):
        return found
    pairs = (_said_of(kernel, expected.arguments, move, _SIGNS) for move in (_other_zeros, _without_zeros))
    for zeros, tiny in zip(*pairs, strict=True):
        found |= np.signbit(zeros[output.name]) != np.signbit(tiny[output.name])
    return found


def _with_expected(
    parameter: Parameter, expected: NDArray[Any], got: NDArray[Any], chosen: NDArray[np.bool_]
) -> NDArray[Any]:
    if not chosen.any():
        return got
    patched = got.copy()
    right = expected[chosen]
    is_wide = parameter.dtype.is_float and right.dtype == np.float64
    patched[chosen] = round_to(parameter.dtype, right) if is_wide else right
    return patched


def _near(
    bounds: Criterion,
    parameter: Parameter,
    expected: NDArray[Any],
    got: NDArray[Any],
    answers: list[NDArray[Any]],
    apart: list[NDArray[Any]],
) -> NDArray[np.bool_]:
    near = np.zeros(expected.shape, bool)
    if not answers:
        return near
    if not parameter.dtype.is_float:
        moves = np.any([said != expected for said in answers], axis=0)
        for said in (*answers, *apart):
            near |= moves & (got == said)
        return near
    with np.errstate(all="ignore"):
        wide = expected.astype(np.float64)
        reach = np.max([np.abs(said.astype(np.float64) - wide) for said in (*answers, *apart)], axis=0)
        allowed = reach + bounds.atol + bounds.rtol * np.abs(wide)
        near |= (np.abs(got.astype(np.float64) - wide) <= allowed) & np.isfinite(reach)
    return near


def _size(arguments: Arguments, ulp: float) -> float:
    """Return how far a neighbour's numbers are from the case's own, as a share of them."""
    floats = (one for one in arguments.parameters if one.is_array and one.dtype.is_float)
    bits = max((one.dtype.mantissa_bits for one in floats), default=0)
    return ulp * 2.0 ** -((_DOUBLE_BITS if bits > _SINGLE_BITS else _SINGLE_BITS) + 1)


_Move = Callable[["NDArray[Any]", tuple[int, int]], "NDArray[Any]"]


def _said_of(
    kernel: Kernel, arguments: Arguments, move: _Move, times: int = _NEIGHBOURS
) -> list[Mapping[str, NDArray[Any]]]:
    answers = []
    for number in range(times):
        moved = _moved(arguments, move, number)
        if moved is None:
            return []
        try:
            answers.append(compute_expected(kernel, moved).arrays)
        except ReferenceFault:
            return []
    return answers


def _moved(arguments: Arguments, move: _Move, number: int) -> Arguments | None:
    floats = {p.name for p in arguments.parameters if p.dtype.is_float and p.name in arguments.arrays}
    if not floats:
        return None
    arrays = {
        name: move(array, (number, place)) if name in floats else array
        for place, (name, array) in enumerate(arguments.arrays.items())
    }
    return replace(arguments, arrays=arrays)


def _noisy(array: NDArray[Any], size: float, seed: tuple[int, int], *, apart: bool = False) -> NDArray[Any]:
    """Return the array in float64, each of its values moved by at most `size` of it."""
    wide = array.astype(np.float64)
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        if apart:
            moved = wide * (1 + rng.uniform(-size, size, wide.shape))
        else:
            values, places = np.unique(wide, return_inverse=True)
            moved = (values * (1 + rng.uniform(-size, size, values.shape)))[places.reshape(wide.shape)]
    moved.setflags(write=False)
    return moved


def _other_zeros(array: NDArray[Any], seed: tuple[int, int]) -> NDArray[Any]:
    """Return the array with other signs of its zeros."""
    wide = array.astype(np.float64)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], wide.shape)
    moved: NDArray[Any] = np.where(wide == 0, np.copysign(0.0, signs), wide)
    moved.setflags(write=False)
    return moved


def _without_zeros(array: NDArray[Any], seed: tuple[int, int]) -> NDArray[Any]:
    """Return the array with tiny numbers in place of the zeros of `_other_zeros`."""
    wide = _other_zeros(array, seed)
    tiny = np.exp2(np.random.default_rng((*seed, 1)).uniform(*_TINY_EXPONENTS, wide.shape))
    moved: NDArray[Any] = np.where(wide == 0, np.copysign(tiny, wide), wide)
    moved.setflags(write=False)
    return moved
