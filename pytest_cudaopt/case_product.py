"""`product`: cases at every combination of sizes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pytest_cudaopt.cases import Case, case
from pytest_cudaopt.errors import DeclarationError, SourceLocation


def product(**given: Any) -> list[Case]:
    """Return a case for every combination of the lists given; what is no list is the same in all.

    `product(n=[1, 2], k=3)` is `[case(n=1, k=3), case(n=2, k=3)]`. The last list varies fastest.
    """
    lists = [_listed(name, values) for name, values in given.items()]
    caller = sys._getframe(1)
    at = SourceLocation(caller.f_code.co_filename, caller.f_lineno)
    cases = (case(**dict(zip(given, chosen, strict=True))) for chosen in itertools.product(*lists))
    return [replace(one, at=at) for one in cases]


def _listed(name: str, values: object) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    listed = list(values)
    if not listed:
        raise DeclarationError(f"product({name}=)", expected="at least one value", got="an empty list")
    return listed
