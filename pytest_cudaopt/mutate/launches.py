"""Mutations of a launch rule: too few blocks, blocks too small, what was right for one size."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.launch import LaunchConfiguration, LaunchRule

Extents = tuple[Expression, ...]


def mutated(
    rule: LaunchRule, declared: Iterable[Mapping[str, int]], strided: Collection[str]
) -> Iterator[tuple[int, LaunchRule]]:
    """Yield which of the rule's `directives` changed, and the rule.

    `declared` are values of its names, `strided` the axes in which threads stride over the whole grid: any
    number of blocks is right there.
    """
    free = [axis in strided for axis in "xyz"]
    smallest = _smallest(rule, declared)
    for grid in _grids(rule.grid, smallest, free):
        yield 0, replace(rule, grid=grid)
    for block in _halves(rule.block):
        yield 0, replace(rule, block=block)
    if rule.shared.constant is None:
        yield 0, replace(rule, shared=expressions.parse(f"({rule.shared}) / 2"))
    for number, override in enumerate(rule.overrides):
        others = list(rule.overrides)
        for changed in (
            *(replace(override, grid=grid) for grid in _grids(override.grid or (), None, free)),
            *(replace(override, block=block) for block in _halves(override.block or ())),
            *(replace(override, predicates=left) for left in _without_one(override.predicates)),
        ):
            others[number] = changed
            yield number + 1, replace(rule, overrides=tuple(others))


def _grids(grid: Extents, smallest: LaunchConfiguration | None, free: Sequence[bool]) -> Iterator[Extents]:
    for axis, extent in enumerate(grid):
        if extent.constant is not None or free[axis]:
            continue
        yield _with(grid, axis, f"max(0, {extent} - 1)")
        if extent.operation is not None and extent.operation[0] == "cdiv":
            whole, part = extent.operation[1]
            yield _with(grid, axis, f"{_operand(whole)} / {_operand(part)}")
        if smallest is not None:
            yield _with(grid, axis, str(smallest.grid[axis]))


def _halves(block: Extents) -> Iterator[Extents]:
    for axis, extent in enumerate(block):
        if extent.constant != 1:
            yield _with(block, axis, f"max(1, {_operand(extent)} / 2)")


def _without_one(predicates: Extents) -> Iterator[Extents]:
    """Yield the predicates without each of them; where there is only one, it becomes true."""
    for number in range(len(predicates)):
        yield (*predicates[:number], *predicates[number + 1 :]) or (expressions.parse("1"),)


def _with(extents: Extents, axis: int, text: str) -> Extents:
    return (*extents[:axis], expressions.parse(text), *extents[axis + 1 :])


def _operand(extent: Expression) -> str:
    is_atom = extent.operation is None or _in_parentheses(str(extent))
    return str(extent) if is_atom else f"({extent})"


def _smallest(rule: LaunchRule, declared: Iterable[Mapping[str, int]]) -> LaunchConfiguration | None:
    """Return the launch of the declared case with the fewest blocks, if any launches some."""
    found: list[LaunchConfiguration] = []
    for values in declared:
        try:
            found.append(rule.configure(values))
        except CudaoptError:
            continue
    launched = (one for one in found if not one.is_empty)
    return min(launched, key=lambda one: math.prod(one.grid), default=None)


def _in_parentheses(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1 and at > 0
    return False
