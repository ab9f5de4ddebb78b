"""A space of sizes: between which ends each lies, and what must hold between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import Expression

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Condition:
    """What must hold, and the sizes it depends on (not the derived ones between)."""

    expression: Expression
    names: frozenset[str]


@dataclass(frozen=True)
class Space:
    """Sizes to find.

    Each of `intervals` lies between its ends; `choices` are the only values of those they name; `fixed` ones
    are given. `derived` sizes follow from the others. `edges` are values worth trying beside the usual ones.
    `is_affordable` is false for sizes too large to run.
    """

    intervals: Mapping[str, tuple[int, int]]
    choices: Mapping[str, tuple[int, ...]]
    conditions: tuple[Condition, ...]
    derived: tuple[tuple[str, Expression], ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()
    edges: tuple[int, ...] = ()
    is_affordable: Callable[[Sizes], bool] = lambda sizes: True

    @property
    def names(self) -> tuple[str, ...]:
        """What is to be found, in the order it is."""
        given = dict(self.fixed)
        return tuple(name for name in self.intervals if name not in given)

    def with_derived(self, known: Sizes) -> dict[str, int]:
        """Return `known` with the derived sizes that follow from it."""
        values = dict(known)
        for name, expression in self.derived:
            if expression.names <= values.keys():
                try:
                    values[name] = expression.evaluate(values)
                except CudaoptError:
                    continue
        return values

    def least(self, name: str) -> int:
        return min(self.choices[name]) if name in self.choices else self.intervals[name][0]


def conditions_of(
    expressions: Iterable[Expression], derived: tuple[tuple[str, Expression], ...]
) -> tuple[Condition, ...]:
    """Return conditions, `a and b` as two."""
    names: dict[str, frozenset[str]] = {}
    for name, expression in derived:
        names[name] = base_names(expression, names)
    parts = [part for expression in expressions for part in _conjuncts(expression)]
    return tuple(Condition(part, base_names(part, names)) for part in parts)


def base_names(expression: Expression, derived: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the sizes an expression depends on; `derived` says which each derived one does."""
    return frozenset().union(*(derived.get(name, frozenset({name})) for name in expression.names))


def _conjuncts(expression: Expression) -> list[Expression]:
    operator, operands = expression.operation or ("", ())
    if operator != "and":
        return [expression]
    return [part for operand in operands for part in _conjuncts(operand)]
