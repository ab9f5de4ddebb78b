"""Trials at arrays of more than 2^31 elements: offsets computed in 32 bits are wrong there and nowhere else.

Such an array repeats one tile, so that it takes the memory of one; all other arrays, and the launch, stay as
small as they are declared. Only kernels that are told by an array of indices which elements to read have such
a trial: others would read them all.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from pytest_cudaopt.arguments import all_elements, is_tiled, most_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.differential import Challenger, Tested
from pytest_cudaopt.draw_cases import given_sizes, named_by_instances
from pytest_cudaopt.draw_sizes import construct, space_of
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.families import Family
from pytest_cudaopt.host_memory import at_most_more
from pytest_cudaopt.index_values import Indices, Sorted
from pytest_cudaopt.parameters import Parameter, Role
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.reference_source import ReferenceSource
from pytest_cudaopt.tiled import LARGE, can_tile
from pytest_cudaopt.value_families import arrays_in
from pytest_cudaopt.values import Integers, Normal, Uniform, ValueSource

# Beyond 2^31 elements, so that more than the last few lie there.
_MARGIN = 1 << 26
# Elements of all other arrays together.
_MOST_OTHERS = 1 << 20
# What a reference may take that uses the elements it is told to; one that copies the whole array is stopped.
_REFERENCE_BYTES = 1 << 30
# Warp instructions of a block of the starting kernel; one that looks at all elements takes many more.
_MOST_INSTRUCTIONS = 1 << 20
_UNBOUNDED = 1 << 40
# Of so many that lie at either end, some lie at the upper one.
_MANY = 8


@dataclass(frozen=True)
class Large:
    """A case with such an array, or why there is none."""

    case: Case | None
    why: str = ""


def stand(challenger: Challenger, case: Case) -> Tested:
    """Judge the candidate at a large `case`, if the start is right there."""
    asked = Property.LARGE_OFFSETS
    if why := _no_expectation(challenger, case):
        return Tested(None, f"at {case}: {why}")
    budget = challenger.budget
    most = min(_MOST_INSTRUCTIONS, budget.block_instructions or _MOST_INSTRUCTIONS)
    start = replace(challenger, budget=replace(budget, block_instructions=most))
    observed = start.observed(asked, case)
    if not observed.holds and not challenger.requires(asked):
        return Tested(None, f"at {case}: {observed.why}")
    return challenger.stand(asked, case)


def large_case(kernel: Kernel, start: Candidate, seed: int) -> Large:
    """Return a case in which an input has more than 2^31 elements and nothing else grows."""
    if not can_tile():
        return Large(None, "arrays of more than 2^31 elements are made on Linux only")
    whys: list[str] = []
    for parameter, name in _growing(kernel):
        found = _grown(kernel, start, parameter, name, seed)
        if found.case is not None:
            return found
        whys.append(found.why)
    return Large(None, whys[0] if whys else "no input has a size of its own that could grow that far")


def _no_expectation(challenger: Challenger, case: Case) -> str:
    """Ask the reference, and return what keeps it from an answer within bounds."""
    try:
        prepared = prepare(challenger.kernel, case, challenger.device)
        if isinstance(challenger.kernel.reference, ReferenceSource):
            return ""
        with at_most_more(_REFERENCE_BYTES):
            _ = prepared.expected
    except CudaoptError as error:
        return error.short
    return ""


def _growing(kernel: Kernel) -> Iterator[tuple[Parameter, str]]:
    """Yield inputs of plain values with each size of theirs that no output depends on."""
    fixed = named_by_instances(kernel) | dict(kernel.contract.choices).keys()
    kept = _given(kernel, (extent for one in kernel.parameters if one.is_output for extent in one.shape))
    for parameter in kernel.at(kernel.cases[0]).parameters:
        if parameter.role is Role.IN and isinstance(parameter.values, Normal | Uniform | Integers):
            for name in sorted(_given(kernel, parameter.shape) - kept - fixed):
                yield parameter, name


def _grown(kernel: Kernel, start: Candidate, parameter: Parameter, name: str, seed: int) -> Large:
    indices = _indices(kernel, name)
    if not indices:
        return Large(None, f"no array of indices says which elements of '{parameter.name}' are used")
    ends = [one.name for one in indices if one.name in arrays_in(Family.ENDS, indices)]
    why = f"the contract keeps '{parameter.name}' smaller"
    for case in sorted(kernel.cases, key=lambda one: all_elements(kernel, kernel.all_sizes(one))):
        # Where they need not lie at the ends, half of all indices are to lie beyond 2^31 elements.
        least = LARGE + _MARGIN if _reach_the_end(kernel, case, indices, ends) else 2 * LARGE
        sized = _with_elements(kernel, case, parameter, name, least)
        if sized is None:
            continue
        if why := _what_else_grows(kernel, start, case, sized):
            continue
        values = Family.ENDS if ends else None
        return Large(replace(sized, values=values, seed=_seed(kernel, sized, ends, seed)))
    return Large(None, why)


def _with_elements(kernel: Kernel, case: Case, parameter: Parameter, name: str, least: int) -> Case | None:
    """Return `case` with the smallest size at which `parameter` has so many elements, and more if need be."""

    def elements(size: int) -> int:
        return most_elements(parameter, kernel.all_sizes(_with_size(case, name, size)))

    most = _largest_value(kernel, name)
    with suppress(CudaoptError):
        low, high = 0, 1
        while elements(high) < least:
            low, high = high, 2 * high
            if low > most:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if elements(middle) < least else (low, middle)
        others = {one: value for one, value in case.sizes if one != name}
        space = space_of(kernel.contract, kernel.sizes, kernel.derived, case.by_name)
        most = min(most, 2 * high, _end_of_domain(kernel, name))
        if high > most:
            return None
        space = replace(space, intervals={**space.intervals, name: (high, most)}, fixed=tuple(others.items()))
        found = construct(space, lambda low, high: low)
        if found is not None:
            sized = replace(_with_size(case, name, found[name]), measure=False, label=None, weight=1.0)
            return sized if kernel.contract.violation(kernel.all_sizes(sized)) is None else None
    return None


def _what_else_grows(kernel: Kernel, start: Candidate, small: Case, large: Case) -> str:
    """Return what is not as small as it was; nothing if only arrays that repeat a tile are large."""
    sizes = kernel.all_sizes(large)
    others = [
        one
        for one in kernel.at(large).parameters
        if one.is_array and one.name not in large.absent and not is_tiled(one, sizes, large)
    ]
    if sum(most_elements(one, sizes) for one in others) > _MOST_OTHERS:
        largest = max(others, key=lambda one: most_elements(one, sizes))
        return f"'{largest.name}' would have {most_elements(largest, sizes)} elements"
    try:
        if start.configure(sizes) != start.configure(kernel.all_sizes(small)):
            return "the launch would grow with the array"
    except CudaoptError as error:
        return f"{error.what}: {error.got or error.expected}"
    return ""


def _indices(kernel: Kernel, name: str) -> list[Parameter]:
    """Return the inputs that are places below that size; offsets and lengths together name all there are."""
    return [
        one
        for one in kernel.at(kernel.cases[0]).parameters
        if one.role is Role.IN
        and one.dtype.kind in ("int", "uint")
        and _is_place(one.values)
        and name in _given(kernel, getattr(one.values, "expressions", ()))
    ]


def _reach_the_end(kernel: Kernel, case: Case, indices: list[Parameter], ends: list[str]) -> bool:
    """Whether some of each array will lie at the upper end; sorted ones keep the ends of their draw."""
    sizes = kernel.all_sizes(case)
    return all(
        one.name in ends and not isinstance(one.values, Sorted) and most_elements(one, sizes) >= _MANY
        for one in indices
    )


def _is_place(source: ValueSource | None) -> bool:
    return isinstance(source.source if isinstance(source, Sorted) else source, Indices | Integers)


def _seed(kernel: Kernel, case: Case, ends: list[str], seed: int) -> int:
    """Return a seed with which the indices have the family: the only one, or all arrays that can."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    able = arrays_in(Family.ENDS, kernel.at(case).parameters)
    chosen = able.index(ends[0]) if len(ends) == 1 else len(able)
    return rng.getrandbits(32) // (len(able) + 1) * (len(able) + 1) + chosen


def _given(kernel: Kernel, expressions: Iterable[Expression]) -> frozenset[str]:
    return given_sizes(kernel, frozenset().union(*(one.names for one in expressions)))


def _largest_value(kernel: Kernel, name: str) -> int:
    """Return what the kernel's own parameter of that size can hold."""
    scalars = [one for one in kernel.parameters if one.is_size and one.name == name]
    return min([int(np.iinfo(one.dtype.numpy).max) for one in scalars], default=_UNBOUNDED)


def _end_of_domain(kernel: Kernel, name: str) -> int:
    """Return where the size's domain ends, if it says so in numbers."""
    domain = dict(kernel.contract.domain)
    end = domain[name].high.constant if name in domain else None
    return _UNBOUNDED if end is None else end


def _with_size(case: Case, name: str, size: int) -> Case:
    return replace(case, sizes=tuple((one, size if one == name else value) for one, value in case.sizes))
