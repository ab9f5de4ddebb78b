"""Launch rules over sizes and tunables, and the launch configurations they give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import ExpressionError, LaunchError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.launch_fields import read_fields, split

Extent3 = tuple[int, int, int]
# What every GPU that launches clusters can hold.
_MOST_CLUSTER_BLOCKS = 8


@dataclass(frozen=True)
class LaunchConfiguration:
    """What one launch is started with.

    `shared_bytes` is the dynamic part; `cluster` counts blocks. All blocks of a `cooperative` launch are
    resident at once, so that they may wait for each other.
    """

    grid: Extent3
    block: Extent3
    shared_bytes: int = 0
    cluster: Extent3 | None = None
    cooperative: bool = False

    @property
    def is_empty(self) -> bool:
        """True if a grid dimension is 0: there is nothing to launch."""
        return 0 in self.grid

    def __str__(self) -> str:
        shared = f" shared={self.shared_bytes}" if self.shared_bytes else ""
        cluster = f" cluster={_short(self.cluster)}" if self.cluster is not None else ""
        cooperative = " cooperative" if self.cooperative else ""
        return f"grid={_short(self.grid)} block={_short(self.block)}{shared}{cluster}{cooperative}"


@dataclass(frozen=True)
class Override:
    """Other launch fields for the sizes all `predicates` hold for; None keeps the rule's own."""

    predicates: tuple[Expression, ...]
    grid: tuple[Expression, ...] | None = None
    block: tuple[Expression, ...] | None = None
    shared: Expression | None = None

    @property
    def names(self) -> frozenset[str]:
        """Every size and tunable the override needs."""
        parts = [*self.predicates, *(self.grid or ()), *(self.block or ())]
        parts += [self.shared] if self.shared else []
        return frozenset().union(*(part.names for part in parts))

    def applies(self, values: Mapping[str, int]) -> bool:
        return all(predicate.evaluate(values) for predicate in self.predicates)


@dataclass(frozen=True)
class LaunchRule:
    """A launch as expressions, so that one rule holds for every size; overrides keep its attributes."""

    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared: Expression
    overrides: tuple[Override, ...] = ()
    cluster: tuple[Expression, ...] | None = None
    cooperative: bool = False

    @classmethod
    def parse(cls, text: str) -> LaunchRule:
        """Read `grid=(rows) block=(BLOCK) shared=4*BLOCK cluster=(2) cooperative`; three are optional."""
        fields = read_fields(text)
        grid, block = fields.extents("grid"), fields.extents("block")
        if grid is None or block is None:
            raise LaunchError(
                f"launch rule '{text.strip()}'",
                expected="grid=(...)" if grid is None else "block=(...)",
                got=f"only {', '.join(fields.texts) or 'nothing'}",
                next_step="Write it like: grid=(cdiv(n, BLOCK)) block=(BLOCK)",
            )
        shared = fields.expression("shared") or expressions.parse("0")
        return cls(grid, block, shared, cluster=fields.extents("cluster"), cooperative=fields.cooperative)

    @property
    def names(self) -> frozenset[str]:
        """Every size and tunable the rule and its overrides need."""
        parts: list[Expression] = [*self.grid, *self.block, self.shared, *(self.cluster or ())]
        own = (part.names for part in parts)
        return frozenset().union(*own, *(override.names for override in self.overrides))

    def configure(self, values: Mapping[str, int]) -> LaunchConfiguration:
        """Return the launch for these sizes and tunables; the first override that applies wins.

        Raises LaunchError for negative extents, a block of 0 threads, negative shared memory, or clusters
        that do not divide the grid.
        """
        chosen = next((o for o in self.overrides if o.applies(values)), Override(()))
        grid = _evaluate("grid", chosen.grid or self.grid, values, least=0)
        block = _evaluate("block", chosen.block or self.block, values, least=1)
        shared = (chosen.shared or self.shared).evaluate(values)
        if shared < 0:
            raise LaunchError(
                f"shared={chosen.shared or self.shared}",
                expected="at least 0 bytes",
                got=f"{shared} for {_given(values)}",
            )
        cluster = None if self.cluster is None else _cluster(self.cluster, grid, values)
        return LaunchConfiguration(grid, block, shared, cluster, self.cooperative)

    def directives(self) -> list[str]:
        """Return the rule as `@launch` texts, one per line, overrides included."""
        fields = f"grid=({_join(self.grid)}) block=({_join(self.block)})"
        fields += "" if self.shared.constant == 0 else f" shared={self.shared}"
        fields += "" if self.cluster is None else f" cluster=({_join(self.cluster)})"
        fields += " cooperative" if self.cooperative else ""
        return [f"@launch {fields}", *(_override_directive(o) for o in self.overrides)]


def parse_override(predicates: str, text: str) -> Override:
    """Read the predicates between the brackets of `@launch[...]` and the fields after it."""
    fields = read_fields(text)
    whole = f"launch override '[{predicates}] {text.strip()}'"
    if "cluster" in fields.texts or fields.cooperative:
        raise LaunchError(
            whole,
            expected="grid=, block= or shared=",
            got="cooperative" if fields.cooperative else "cluster=",
            next_step="Say it in the plain @launch line: the code is written for it, at every size",
        )
    if not fields.texts:
        raise LaunchError(whole, expected="grid=, block= or shared=", got="none of them")
    return Override(
        tuple(expressions.parse(part) for part in split(predicates)),
        fields.extents("grid"),
        fields.extents("block"),
        fields.expression("shared"),
    )


def _evaluate(
    field: str, extents: tuple[Expression, ...], values: Mapping[str, int], *, least: int
) -> Extent3:
    numbers: list[int] = []
    for extent in extents:
        try:
            number = extent.evaluate(values)
        except ExpressionError as error:
            raise LaunchError(
                f"{field}=({_join(extents)}): {error.what}",
                expected=error.expected,
                got=error.got,
            ) from error
        if number < least:
            raise LaunchError(
                f"{field}=({_join(extents)})",
                expected=f"at least {least}",
                got=f"{number} for {_given(values)}",
            )
        numbers.append(number)
    x, y, z = (*numbers, 1, 1)[:3]
    return (x, y, z)


def _cluster(cluster: tuple[Expression, ...], grid: Extent3, values: Mapping[str, int]) -> Extent3:
    extents = _evaluate("cluster", cluster, values, least=1)
    what = f"cluster=({_join(cluster)})"
    if (blocks := math.prod(extents)) > _MOST_CLUSTER_BLOCKS:
        raise LaunchError(
            what, expected=f"at most {_MOST_CLUSTER_BLOCKS} blocks", got=f"{blocks} for {_given(values)}"
        )
    if any(whole % part for whole, part in zip(grid, extents, strict=True)):
        raise LaunchError(
            what,
            expected="a divisor of the grid in each dimension",
            got=f"{_short(extents)} for grid={_short(grid)} and {_given(values)}",
            next_step="Round the grid up, as in: grid=(align_up(cdiv(n, BLOCK), 2))",
        )
    return extents


def _override_directive(override: Override) -> str:
    fields = []
    if override.grid is not None:
        fields.append(f"grid=({_join(override.grid)})")
    if override.block is not None:
        fields.append(f"block=({_join(override.block)})")
    if override.shared is not None:
        fields.append(f"shared={override.shared}")
    return f"@launch[{_join(override.predicates)}] {' '.join(fields)}"


def _join(extents: tuple[Expression, ...]) -> str:
    return ", ".join(str(extent) for extent in extents)


def _given(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(values.items()))


def _short(extents: Extent3) -> str:
    used = 3 if extents[2] != 1 else 2 if extents[1] != 1 else 1
    return "x".join(str(extent) for extent in extents[:used])
