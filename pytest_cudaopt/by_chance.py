"""Whether the starting kernel is right at a case by chance: a property is had at all its draws or not at all.

A kernel that ignores NaN gives the right answer wherever the NaN does not matter. Nobody owes that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt.properties import Property
from pytest_cudaopt.trials import smallest_case

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel

# How well magnitudes or ties are borne is a matter of degree; these are handled or they are not.
ALL_OR_NOTHING = frozenset({Property.NON_FINITE})
# At the case's own sizes, which may be tiny, and at declared ones.
_DRAWS = 4


def other_draws(kernel: Kernel, asked: Property, case: Case) -> Iterator[Case]:
    """Yield cases at which a kernel that has the property by more than chance is right too.

    None for a property that is a matter of degree, and for a case without values of a family.
    """
    if asked not in ALL_OR_NOTHING or case.values is None:
        return
    # Of the case alone: what the start is asked must not depend on when it is asked.
    rng = random.Random(case.seed)  # noqa: S311 - reproducible on purpose
    declared = replace(smallest_case(kernel), values=case.values)
    for sizes in (case, declared):
        for _ in range(_DRAWS):
            yield replace(sizes, seed=rng.getrandbits(32))
