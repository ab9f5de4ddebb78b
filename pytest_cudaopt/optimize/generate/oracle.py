"""What a generated reference is held to: that it answers, that it depends on its inputs, that two agree.

None of this makes it right. It says what was compared with what.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.arguments import all_elements, bind, bind_again
from pytest_cudaopt.cases import Case
from pytest_cudaopt.draw_cases import draws_of
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.reference import compute_expected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.optimize.generate.forms import ArrayForm, KnownForm

Outputs = Mapping[str, "NDArray[Any]"]
# Drawn beside the declared cases that are small.
_DRAWS = 12
_MOST_ELEMENTS = 1 << 16
# Two formulas in float64 differ by rounding only, and sums that cancel by more of it than others.
_RTOL, _ATOL_OF_SCALE = 1e-6, 1e-9
# A person works with few digits, and inputs are rounded to their type.
_BY_HAND = 1e-3


@dataclass(frozen=True)
class Objection:
    """What is wrong, in one sentence a model or a person can act on; and where, if at a case."""

    text: str
    case: Case | None = None


def cases_of(kernel: Kernel, start: Candidate, seed: int) -> tuple[Case, ...]:
    """Return the small declared cases, and as many drawn ones: what references are compared at."""
    small = [one for one in kernel.cases if all_elements(kernel, kernel.all_sizes(one)) <= _MOST_ELEMENTS]
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    draw = draws_of(kernel, start)
    drawn = (replace(draw(rng.randint), seed=rng.getrandbits(32)) for _ in range(_DRAWS))
    plain = [replace(one, measure=False, weight=1.0, label=None) for one in small]
    return tuple(dict.fromkeys([*plain, *drawn]))


def objection(kernel: Kernel, cases: tuple[Case, ...]) -> Objection | None:
    """Return what keeps the kernel's reference from being one; None if nothing was found."""
    moved = dict.fromkeys((output.name for output in kernel.parameters if output.is_output), False)
    for case in cases:
        try:
            arguments = bind(kernel, case)
            said = compute_expected(kernel, arguments).arrays
            other = compute_expected(kernel, bind_again(kernel, case, arguments, 1)).arrays
        except CudaoptError as error:
            return Objection(f"at {case}: {error.short}", case)
        for name, array in said.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                return Objection(f"at {case}: '{name}' holds NaN or infinities", case)
            moved[name] = moved[name] or not np.array_equal(array, other[name])
    still = [name for name, has in moved.items() if not has]
    has_inputs = any(one.has_contents for one in kernel.parameters if one.is_array)
    if still and has_inputs:
        return Objection(f"'{still[0]}' is the same whatever the inputs hold")
    return None


def disagreement(kernel: Kernel, second: Kernel, cases: tuple[Case, ...]) -> Objection | None:
    """Return where two references of one declaration differ; None if they agree at every case."""
    for case in cases:
        arguments = bind(kernel, case)
        try:
            pair = compute_expected(kernel, arguments).arrays, compute_expected(second, arguments).arrays
        except CudaoptError as error:
            return Objection(f"at {case}: {error.short}", case)
        if (found := _difference(*pair, _RTOL, _ATOL_OF_SCALE)) is not None:
            return Objection(f"at {case}: {found}", case)
    return None


def broken_property(
    kernel: Kernel, case: Case, linear_in: list[str], permutes: list[str]
) -> Objection | None:
    """Return which property the reference lacks at `case`; None if it has all of them."""
    for name in linear_in:
        if (found := _not_linear(kernel, case, name)) is not None:
            return Objection(f"it is not linear in '{name}' at {case}: {found}", case)
    for size in permutes:
        if (found := _not_permuted(kernel, case, size)) is not None:
            return Objection(
                f"reordering along '{size}' at {case} does not reorder its outputs: {found}", case
            )
    return None


def wrong_at_known(kernel: Kernel, known: KnownForm) -> Objection | None:
    """Return where the reference differs from a result that was worked out by hand."""
    case = Case(tuple((one.name, one.value) for one in known.sizes))
    try:
        bound = bind(kernel, case)
        arrays = {name: _given(known.inputs, name, array) for name, array in bound.arrays.items()}
        said = compute_expected(kernel, replace(bound, arrays=arrays)).arrays
        wanted = {one.name: _given(known.outputs, one.name, said[one.name]) for one in known.outputs}
    except (CudaoptError, KeyError, ValueError) as error:
        text = error.short if isinstance(error, CudaoptError) else f"{type(error).__name__}: {error}"
        return Objection(f"the known case {case} does not fit: {text}", case)
    found = _difference(wanted, {name: said[name] for name in wanted}, _BY_HAND, _BY_HAND)
    return None if found is None else Objection(f"at the known case {case}: {found}", case)


def _given(listed: list[ArrayForm], name: str, like: NDArray[Any]) -> NDArray[Any]:
    elements = {one.name: one.elements for one in listed}.get(name)
    if elements is None:
        return like
    array = np.array(elements, like.dtype).reshape(like.shape)
    array.setflags(write=False)
    return array


def _not_linear(kernel: Kernel, case: Case, name: str) -> str | None:
    first = bind(kernel, case)
    second = bind_again(kernel, case, first, 1).arrays[name]
    # Rounded sums of numbers of one type are no sums: whole numbers are.
    one, two = (np.round(4 * array.astype(np.float64)) for array in (first.arrays[name], second))
    says = [_said(kernel, first, name, array) for array in (one, two, one + two)]
    total = {output: says[0][output] + says[1][output] for output in says[0]}
    return _difference(total, says[2], _RTOL, _ATOL_OF_SCALE)


def _said(kernel: Kernel, arguments: Arguments, name: str, array: NDArray[Any]) -> Outputs:
    array = array.astype(arguments.arrays[name].dtype)
    array.setflags(write=False)
    return compute_expected(kernel, replace(arguments, arrays={**arguments.arrays, name: array})).arrays


def _not_permuted(kernel: Kernel, case: Case, size: str) -> str | None:
    arguments = bind(kernel, case)
    order = np.random.default_rng(case.seed or 0).permutation(arguments.sizes[size])
    axes = dict(_axes(kernel, size))

    def reordered(name: str, array: NDArray[Any]) -> NDArray[Any]:
        moved = np.take(array, order, axis=axes[name]) if name in axes else array
        moved.setflags(write=False)
        return moved

    moved = {name: reordered(name, array) for name, array in arguments.arrays.items()}
    before = compute_expected(kernel, arguments).arrays
    after = compute_expected(kernel, replace(arguments, arrays=moved)).arrays
    return _difference(
        {name: reordered(name, array) for name, array in before.items()}, after, _RTOL, _ATOL_OF_SCALE
    )


def _axes(kernel: Kernel, size: str) -> Iterator[tuple[str, int]]:
    for one in kernel.parameters:
        if one.is_array and one.role is not Role.SCRATCH:
            yield from ((one.name, axis) for axis, extent in enumerate(one.shape) if str(extent) == size)


def _difference(one: Outputs, other: Outputs, rtol: float, atol_of_scale: float) -> str | None:
    """Return the first element at which two answers differ by more than rounding."""
    for name, array in one.items():
        left, right = array.astype(np.float64), other[name].astype(np.float64)
        scale = float(np.abs(left[np.isfinite(left)]).max(initial=0.0))
        near = np.isclose(left, right, rtol=rtol, atol=atol_of_scale * scale, equal_nan=True)
        if not near.all():
            index = tuple(int(i) for i in np.argwhere(~near)[0])
            at = f"{name}{list(index)}"
            return f"{at} is {left[index]:.9g} by one and {right[index]:.9g} by the other"
    return None
