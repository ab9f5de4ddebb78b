"""Launch rules over sizes and tunables, and the launch configurations they give."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import ExpressionError, LaunchError
from pytest_cudaopt.expressions import Expression

Extent3 = tuple[int, int, int]
_FIELD = re.compile(r"(grid|block|shared)\s*=\s*")


@dataclass(frozen=True)
class LaunchConfiguration:
    """What one launch is started with; `shared_bytes` is the dynamic part."""

    grid: Extent3
    block: Extent3
    shared_bytes: int = 0

    @property
    def is_empty(self) -> bool:
        """True if a grid dimension is 0: there is nothing to launch."""
        return 0 in self.grid

    def __str__(self) -> str:
        shared = f" shared={self.shared_bytes}" if self.shared_bytes else ""
        return f"grid={_short(self.grid)} block={_short(self.block)}{shared}"


@dataclass(frozen=True)
class Override:
    """Other launch fields for the sizes all `predicates` hold for; None keeps the rule's own."""

    predicates: tuple[Expression, ...]
    grid: tuple[Expression, ...] | None = None
    block: tuple[Expression, ...] | None = None
    shared: Expression | None = None

    def applies(self, values: Mapping[str, int]) -> bool:
        return all(predicate.evaluate(values) for predicate in self.predicates)


@dataclass(frozen=True)
class LaunchRule:
    """Grid, block and dynamic shared bytes as expressions, so that one rule holds for every size."""

    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared: Expression
    overrides: tuple[Override, ...] = ()

    @classmethod
    def parse(cls, text: str) -> LaunchRule:
        """Read `grid=(rows) block=(BLOCK) shared=4*BLOCK`; `shared` may be left out."""
        fields = _fields(text)
        for required in ("grid", "block"):
            if required not in fields:
                raise LaunchError(
                    f"launch rule '{text.strip()}'",
                    expected=f"{required}=(...)",
                    got=f"only {', '.join(fields) or 'nothing'}",
                    next_step="Write it like: grid=(cdiv(n, BLOCK)) block=(BLOCK)",
                )
        return cls(
            _extents(fields["grid"]),
            _extents(fields["block"]),
            expressions.parse(fields.get("shared", "0")),
        )

    @property
    def names(self) -> frozenset[str]:
        """Every size and tunable the rule and its overrides need."""
        parts: list[Expression] = [*self.grid, *self.block, self.shared]
        for override in self.overrides:
            parts += [*override.predicates, *(override.grid or ()), *(override.block or ())]
            parts += [override.shared] if override.shared else []
        return frozenset().union(*(part.names for part in parts))

    def configure(self, values: Mapping[str, int]) -> LaunchConfiguration:
        """Return the launch for these sizes and tunables; the first override that applies wins.

        Raises LaunchError for negative extents, a block of 0 threads or negative shared memory.
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
        return LaunchConfiguration(grid, block, shared)

    def directives(self) -> list[str]:
        """Return the rule as `@launch` texts, one per line, overrides included."""
        fields = f"grid=({_join(self.grid)}) block=({_join(self.block)})" + (
            "" if self.shared.constant == 0 else f" shared={self.shared}"
        )
        return [f"@launch {fields}", *(_override_directive(o) for o in self.overrides)]


def parse_override(predicates: str, text: str) -> Override:
    """Read the predicates between the brackets of `@launch[...]` and the fields after it."""
    fields = _fields(text)
    if not fields:
        raise LaunchError(
            f"launch override '[{predicates}] {text.strip()}'",
            expected="grid=, block= or shared=",
            got="none of them",
        )
    return Override(
        tuple(expressions.parse(part) for part in _split(predicates)),
        _extents(fields["grid"]) if "grid" in fields else None,
        _extents(fields["block"]) if "block" in fields else None,
        expressions.parse(fields["shared"]) if "shared" in fields else None,
    )


def _fields(text: str) -> dict[str, str]:
    matches = list(_FIELD.finditer(text))
    if text.strip() and (not matches or text[: matches[0].start()].strip()):
        raise LaunchError(
            f"launch rule '{text.strip()}'",
            expected="grid=(...) block=(...) shared=...",
            got=f"'{text.strip().split()[0]}'",
        )
    fields: dict[str, str] = {}
    ends = [*(match.start() for match in matches[1:]), len(text)][: len(matches)]
    for match, end in zip(matches, ends, strict=True):
        name = match.group(1)
        if name in fields:
            raise LaunchError(f"launch rule '{text.strip()}'", expected=f"one {name}=", got="two")
        fields[name] = text[match.end() : end].strip().rstrip(",")
    return fields


def _extents(text: str) -> tuple[Expression, ...]:
    inner = text[1:-1] if text.startswith("(") and _closes_at_end(text) else text
    extents = tuple(expressions.parse(part) for part in _split(inner) if part.strip())
    if not 1 <= len(extents) <= 3:
        raise LaunchError(f"extents '{text}'", expected="1 to 3 dimensions", got=str(len(extents)))
    return extents


def _closes_at_end(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(text) - 1
    return False


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


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
