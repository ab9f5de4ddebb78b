"""Trials: cases beyond what is declared, each to see whether a kernel has a property.

They follow from declaration, starting kernel and seed alone, so that they are known before a candidate is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.draw_cases import draws_of, named_by_instances
from pytest_cudaopt.draw_sizes import construct, space_of
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.families import Family
from pytest_cudaopt.properties import Property
from pytest_cudaopt.value_families import arrays_in, families_of

# What a trial at a large size may take: elements of all arrays, threads of the starting kernel's launch.
_MOST_ELEMENTS = 1 << 23
_MOST_GROWN = 1 << 20
_MOST_THREADS = 1 << 25
# Behind 16 bits, and behind what tiles of 32 in a dimension of a grid other than x may have.
_BEYOND_16_BITS = 65_537
_BEYOND_A_GRID = 65_536 * 33
# Fewer elements cannot be arranged in any way worth trying.
_LEAST_ARRANGED = 64
_MOST_ARRANGED = 1 << 17
_GROWTH = (4, 16, 64, 256)
# Of sizes at which sums of large integers leave a narrower type; several draws, for they may cancel.
_LONG_SUMS = (64,) * 2


@dataclass(frozen=True)
class Trial:
    """A case, and the property of a kernel that is right at it."""

    property: Property
    case: Case


def available_families(kernel: Kernel) -> tuple[Family, ...]:
    """Return the families that change what some array of the kernel holds."""
    found = {
        family
        for instance in kernel.instances
        for parameter in instance.parameters
        if parameter.is_array
        for family in families_of(parameter)
    }
    return tuple(family for family in Family if family in found)


def trials_of(kernel: Kernel, start: Candidate, seed: int) -> tuple[Trial, ...]:
    """Return the trials of a kernel, cheap ones first."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    return (*_of_values(kernel, start, rng), *_of_sizes(kernel, start, rng), *_of_addresses(kernel, rng))


def _of_values(kernel: Kernel, start: Candidate, rng: random.Random) -> Iterator[Trial]:
    draw = draws_of(kernel, start)
    small, large = smallest_case(kernel, _LEAST_ARRANGED), largest_case(kernel, start)
    for family in available_families(kernel):
        arrays = len(arrays_in(family, kernel.at(small).parameters))
        # Each array alone, then all of them; a declared shape first, which is easiest to understand.
        for chosen in range(arrays + 1 if arrays > 1 else arrays):
            seed = rng.getrandbits(32) // (arrays + 1) * (arrays + 1) + chosen
            yield Trial(family.property, replace(small, values=family, seed=seed))
        for drawn in (large, draw(rng.randint)):
            case = replace(drawn, values=family, seed=rng.getrandbits(32))
            yield Trial(family.property, case)


def _of_sizes(kernel: Kernel, start: Candidate, rng: random.Random) -> Iterator[Trial]:
    fixed = (
        named_by_instances(kernel)
        | dict(kernel.contract.choices).keys()
        | dict(kernel.contract.domain).keys()
    )
    free = [name for name in kernel.sizes if name not in fixed]
    largest = {name: max(case.by_name[name] for case in kernel.cases) for name in free}
    cases = [(Property.EMPTY_SIZES, _with_size(kernel, name, 0)) for name in free]
    for name in free:
        grown = [factor * largest[name] + rng.randint(1, 3) for factor in _GROWTH]
        grown = sorted({*grown, _BEYOND_16_BITS + rng.randint(0, 63), _BEYOND_A_GRID})
        cases += [(Property.LARGER_SIZES, _with_size(kernel, name, size)) for size in grown]
        if Family.UPPER in available_families(kernel):
            long = [_with_size(kernel, name, factor * largest[name] + 1) for factor in _LONG_SUMS]
            cases += [
                (Property.INTEGER_RANGE, replace(c, values=Family.UPPER)) for c in long if c is not None
            ]
    for asked, case in cases:
        if case is None:
            continue
        is_longest = _BEYOND_A_GRID in case.by_name.values()
        if is_affordable(kernel, start, case, _MOST_ELEMENTS if is_longest else _MOST_GROWN):
            yield Trial(asked, replace(case, seed=rng.getrandbits(32)))


def _of_addresses(kernel: Kernel, rng: random.Random) -> Iterator[Trial]:
    """Yield what is asked of nobody unless it is required."""
    required = kernel.obligations.required
    small = replace(smallest_case(kernel), seed=rng.getrandbits(32))
    arrays = [p for p in kernel.parameters if p.is_array and p.symbol is None and p.name not in small.absent]
    if Property.UNALIGNED in required:
        for one in arrays:
            yield Trial(Property.UNALIGNED, replace(small, misaligned=((one.name, 1),)))
    if Property.ALIASING in required:
        for output in (p for p in arrays if p.is_output and not p.has_contents):
            for source in (p for p in arrays if p.has_contents and not p.is_output):
                if (source.shape, source.dtype) == (output.shape, output.dtype):
                    yield Trial(Property.ALIASING, replace(small, alias=((output.name, source.name),)))


def smallest_case(kernel: Kernel, least: int = 0) -> Case:
    """Return the smallest declared case of at least so many elements; the largest if none has."""
    cases = sorted(kernel.cases, key=lambda case: all_elements(kernel, kernel.all_sizes(case)))
    enough = (case for case in cases if all_elements(kernel, kernel.all_sizes(case)) >= least)
    smallest = next(enough, cases[-1])
    return replace(smallest, measure=False, label=None, weight=1.0)


def largest_case(kernel: Kernel, start: Candidate) -> Case:
    """Return the largest declared case that is cheap, its sizes doubled as far as the contract lets them."""
    declared = sorted(kernel.cases, key=lambda case: all_elements(kernel, kernel.all_sizes(case)))
    cheap = [case for case in declared if is_affordable(kernel, start, case, _MOST_ARRANGED)]
    largest = replace((cheap or declared)[-1 if cheap else 0], measure=False, label=None, weight=1.0)
    named = named_by_instances(kernel)
    for name in kernel.sizes:
        grown = {**largest.by_name, name: 2 * largest.by_name[name] + 1}
        case = replace(largest, sizes=tuple(grown.items()))
        if name not in named and keeps_contract(kernel, grown):
            largest = case if is_affordable(kernel, start, case, _MOST_ARRANGED) else largest
    return largest


def _with_size(kernel: Kernel, name: str, size: int) -> Case | None:
    """Return a case with that size, the others as small as the contract lets them be; None if it does not."""
    small = smallest_case(kernel)
    if size == 0:
        sizes = {**small.by_name, name: 0}
        if keeps_contract(kernel, sizes):
            return replace(small, sizes=tuple(sizes.items()))
    space = space_of(kernel.contract, kernel.sizes, kernel.derived, small.by_name)
    named = {one: small.by_name[one] for one in named_by_instances(kernel)}
    space = replace(
        space,
        intervals={**space.intervals, name: (size, size)},
        fixed=tuple(named.items()),
    )
    found = construct(space, lambda low, high: low)
    if found is None:
        return None
    return replace(small, sizes=tuple((one, found[one]) for one in kernel.sizes))


def keeps_contract(kernel: Kernel, sizes: Mapping[str, int]) -> bool:
    """Whether a case may have these sizes."""
    try:
        return kernel.contract.violation(kernel.all_sizes(Case(tuple(sizes.items())))) is None
    except CudaoptError:
        return False


def is_affordable(kernel: Kernel, start: Candidate, case: Case, most_elements: int) -> bool:
    """Whether a trial may have so many elements in all arrays, and as many threads as it would."""
    with suppress(CudaoptError):
        sizes = kernel.all_sizes(case)
        if all_elements(kernel, sizes) > most_elements:
            return False
        launch = start.configure(sizes)
        return math.prod(launch.grid) * math.prod(launch.block) <= _MOST_THREADS
    # What has no value binds nobody, and takes no time.
    return True
