"""Which cases fuzzing may draw: sizes that keep the contract, cheap enough to run, and a seed.

Knows neither hypothesis nor a device.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.draw_sizes import Pick, construct, space_of
from pytest_cudaopt.errors import CudaoptError, LaunchError
from pytest_cudaopt.instances import names_in

# What one draw may cost on `sim`: all arrays together, all threads of its launch, and its declared work.
_MOST_ELEMENTS = 1 << 16
_MOST_THREADS = 1 << 18
_MOST_FLOPS = 1 << 26
_LARGEST_TILE = 4096


def declared_seed(kernel: Kernel) -> int:
    """Return a seed that follows from the name, parameters, cases, choices and conditions alone."""
    parameters = [(p.name, str(p.role), str(p.dtype), [str(e) for e in p.shape]) for p in kernel.parameters]
    contract = kernel.contract
    text = repr(
        (kernel.name, parameters, [str(case) for case in kernel.cases], contract.choices, contract.where)
    )
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def draws_of(kernel: Kernel, candidate: Candidate) -> Callable[[Pick], Case]:
    """Return what makes a case of picks: sizes that keep the contract, affordable, and a seed.

    Everything else is that of a declared case, and so are sizes that name an instance of a template, or are
    the extent of a variable: only what is declared is compiled.
    """
    templates = _templates(kernel)
    budget = _Budget.of(kernel, candidate)
    smallest = min(kernel.cases, key=lambda case: budget.elements(kernel.all_sizes(case)))
    space = replace(
        space_of(kernel.contract, kernel.sizes, kernel.derived, _largest(kernel)),
        edges=_edges(candidate),
        is_affordable=_remembered(budget.allows),
    )

    def draw(pick: Pick) -> Case:
        template = templates[pick(0, len(templates) - 1)]
        sizes = construct(replace(space, fixed=template.sizes), pick)
        seed = pick(0, (1 << 32) - 1)
        if sizes is None:
            # A declared case always keeps the contract.
            return replace(smallest, measure=False, label=None, weight=1.0, seed=seed)
        ordered = tuple((name, sizes[name]) for name in kernel.sizes)
        return replace(template, sizes=ordered, seed=seed)

    return draw


def _remembered(allows: Callable[[Mapping[str, int]], bool]) -> Callable[[Mapping[str, int]], bool]:
    """Return `allows` with a memory: the sizes looked at for one draw are looked at for the next."""
    known: dict[tuple[tuple[str, int], ...], bool] = {}

    def remembered(sizes: Mapping[str, int]) -> bool:
        key = tuple(sizes.items())
        if key not in known:
            known[key] = allows(sizes)
        return known[key]

    return remembered


@dataclass(frozen=True)
class _Budget:
    kernel: Kernel
    candidate: Candidate
    most_elements: int = _MOST_ELEMENTS
    most_threads: int = _MOST_THREADS
    most_flops: int = _MOST_FLOPS

    @classmethod
    def of(cls, kernel: Kernel, candidate: Candidate) -> _Budget:
        """Return the usual budget, or what the cheapest declared case takes if that is more."""
        free = cls(kernel, candidate)
        sizes = [kernel.all_sizes(case) for case in kernel.cases]
        return replace(
            free,
            most_elements=max(_MOST_ELEMENTS, min(free.elements(one) for one in sizes)),
            most_threads=max(_MOST_THREADS, min(free.threads(one) for one in sizes)),
            most_flops=max(_MOST_FLOPS, min(free.flops(one) for one in sizes)),
        )

    def allows(self, sizes: Mapping[str, int]) -> bool:
        try:
            every = self.kernel.all_sizes(Case(tuple(sizes.items())))
            return (
                self.elements(every) <= self.most_elements
                and self.threads(every) <= self.most_threads
                and self.flops(every) <= self.most_flops
            )
        except CudaoptError:
            # Whatever has no value is for the judge to report.
            return True

    def flops(self, sizes: Mapping[str, int]) -> int:
        flops = self.kernel.work.flops
        with suppress(CudaoptError):
            return 0 if flops is None else flops.evaluate(sizes)
        return 0

    def elements(self, sizes: Mapping[str, int]) -> int:
        return all_elements(self.kernel, sizes)

    def threads(self, sizes: Mapping[str, int]) -> int:
        try:
            launch = self.candidate.configure(sizes)
        except LaunchError:
            return 0
        return math.prod(launch.grid) * math.prod(launch.block)


def named_by_instances(kernel: Kernel) -> frozenset[str]:
    """Return the sizes that name an instance of a template or are the extent of a variable."""
    # Of both there is what was compiled only: instances, and variables with so many elements.
    variables = (parameter for parameter in kernel.parameters if parameter.symbol is not None)
    named = {*names_in(kernel.entry)}.union(*(extent.names for one in variables for extent in one.shape))
    return given_sizes(kernel, named)


def given_sizes(kernel: Kernel, names: Iterable[str]) -> frozenset[str]:
    """Return the sizes a case gives that `names` are or depend on, also through derived ones."""
    derived, found = dict(kernel.derived), frozenset(names)
    while between := found & derived.keys():
        found = (found - between).union(*(derived[name].names for name in between))
    return found & frozenset(kernel.sizes)


def _templates(kernel: Kernel) -> tuple[Case, ...]:
    """Return the declared cases without what is drawn."""
    named = named_by_instances(kernel)
    kept = (
        replace(
            case,
            sizes=tuple((name, value) for name, value in case.sizes if name in named),
            measure=False,
            label=None,
            weight=1.0,
            seed=None,
        )
        for case in kernel.cases
    )
    return tuple(dict.fromkeys(kept))


def _largest(kernel: Kernel) -> dict[str, int]:
    return {name: max(case.by_name[name] for case in kernel.cases) for name in kernel.sizes}


def _edges(candidate: Candidate) -> tuple[int, ...]:
    """Return multiples of the tunables: tile and block sizes, mostly."""
    tunables = {value for _, value in candidate.tunables if 1 < value <= _LARGEST_TILE}
    return tuple(sorted(multiple * value for value in tunables for multiple in (1, 2, 3)))
