"""Which cases the checks of `sim` execute: declared ones that are small, and a few that are drawn."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.draw_cases import declared_seed, draws_of

# Cases that nobody listed, which the checks look at beside the declared ones.
DRAWN = 3


def small_cases(kernel: Kernel, cases: Iterable[Case], most_elements: int) -> tuple[Case, ...]:
    """Return those of `cases` with at most `most_elements` in all their arrays, or else the smallest."""
    elements = {case: all_elements(kernel, kernel.all_sizes(case)) for case in cases}
    if not elements:
        return ()
    most = max(most_elements, min(elements.values()))
    return tuple(case for case, number in elements.items() if number <= most)


def drawn_cases(kernel: Kernel, candidate: Candidate, number: int, seed: int | None) -> tuple[Case, ...]:
    """Draw cases as fuzzing does; a `seed` of None stands for one that depends on the declaration only."""
    rng = random.Random(declared_seed(kernel) if seed is None else seed)  # noqa: S311 - reproducible on purpose
    draw = draws_of(kernel, candidate)
    return tuple(dict.fromkeys(draw(rng.randint) for _ in range(number)))
