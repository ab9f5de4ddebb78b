"""`input_cases.json`: the sizes a kernel is checked and measured at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pytest_cudaopt.cases import Case
from pytest_cudaopt.dtypes import BY_NAME
from pytest_cudaopt.families import Family
from pytest_cudaopt.from_files.fields import Field

T = TypeVar("T")

ROOT = "cases"
OPTIONAL = (
    "id",
    "label",
    "sizes",
    "types",
    "absent",
    "measure",
    "weight",
    "seed",
    "values",
    "misaligned",
    "alias",
)


def read_cases(content: Field) -> tuple[Case, ...]:
    """Read a list of cases; raise DeclarationError at what is wrong, and without a measured one."""
    found = tuple(_case(one) for one in content.items("a list of cases"))
    if not found:
        raise content.wrong("at least one case", 'Write [{"sizes": {"n": 1000}, "measure": true}]')
    if not any(one.measure for one in found):
        raise content.wrong(
            'at least one case with "measure": true, to optimise for', got=f"none of {len(found)}"
        )
    return found


def _case(one: Field) -> Case:
    given = one.members((), OPTIONAL)
    sizes = given["sizes"].mapping() if "sizes" in given else {}
    types = given["types"].mapping() if "types" in given else {}
    # A run names a case that has no label by its sizes, as it would be named again.
    is_from_a_run = isinstance(one.value, dict) and "label" in one.value
    label = given.get("label" if is_from_a_run else "id")
    return Case(
        sizes=tuple((name, size.whole(0)) for name, size in sizes.items()),
        measure="measure" in given and given["measure"].flag(),
        label=None if label is None else label.text(),
        seed=given["seed"].whole(0) if "seed" in given else None,
        weight=_weight(given["weight"]) if "weight" in given else 1.0,
        types=tuple((name, dtype.one_of(BY_NAME)) for name, dtype in types.items()),
        absent=given["absent"].texts() if "absent" in given else (),
        values=Family(given["values"].one_of(Family)) if "values" in given else None,
        misaligned=_pairs(given.get("misaligned"), lambda elements: elements.whole(1)),
        alias=_pairs(given.get("alias"), Field.text),
    )


def _pairs(one: Field | None, read: Callable[[Field], T]) -> tuple[tuple[str, T], ...]:
    return () if one is None else tuple((name, read(value)) for name, value in one.mapping().items())


def _weight(one: Field) -> float:
    if (weight := one.number()) <= 0:
        raise one.wrong("a number > 0")
    return weight
