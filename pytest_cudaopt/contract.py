"""The contract of a kernel: the sizes it must be right at. Data, and whether sizes keep it.

`draw_sizes` finds sizes that do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import CudaoptError, DeclarationError, did_you_mean
from pytest_cudaopt.expressions import Expression

Choices = Mapping[str, Iterable[int]]
Domain = Mapping[str, tuple[int | str, int | str]]


@dataclass(frozen=True)
class Range:
    """Sizes from `low` to `high`, both included; either end may depend on other sizes."""

    low: Expression
    high: Expression

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True)
class Contract:
    """`choices` are the only values a size may have, `where` must hold, `domain` bounds what is drawn."""

    choices: tuple[tuple[str, tuple[int, ...]], ...] = ()
    domain: tuple[tuple[str, Range], ...] = ()
    where: tuple[Expression, ...] = ()

    @classmethod
    def declared(cls, choices: Choices | None, where: Iterable[str], domain: Domain | None) -> Contract:
        """Read what `kernel(...)` was given; raise DeclarationError for what cannot be a contract."""
        return cls(
            tuple((name, _choice(name, values)) for name, values in _items("choices=", choices)),
            tuple((name, _range(name, ends)) for name, ends in _items("domain=", domain)),
            _where(where),
        )

    @property
    def constraints(self) -> tuple[Expression, ...]:
        """Everything that must hold as conditions, except the choices: `where`, and the ends of domains."""
        ends = [
            condition
            for name, range_ in self.domain
            for condition in (f"{name} >= {_operand(range_.low)}", f"{name} <= {_operand(range_.high)}")
        ]
        return (*self.where, *(expressions.parse(condition) for condition in ends))

    def violation(self, sizes: Mapping[str, int]) -> tuple[str, str] | None:
        """Return (expected, got) of the first part that `sizes`, derived ones included, break."""
        for name, values in self.choices:
            if sizes[name] not in values:
                return f"{name} among {', '.join(map(str, values))} (choices=)", f"{name}={sizes[name]}"
        for name, range_ in self.domain:
            if not range_.low.evaluate(sizes) <= sizes[name] <= range_.high.evaluate(sizes):
                return f"{name} in {range_} (domain=)", f"{name}={sizes[name]}"
        for condition in self.where:
            if not holds(condition, sizes):
                used = ", ".join(f"{name}={sizes[name]}" for name in sorted(condition.names))
                return f"{condition} (where=)", used
        return None

    def require_known(self, sizes: Iterable[str], derived: Iterable[str]) -> None:
        """Raise DeclarationError for a size that is not declared."""
        given, all_sizes = set(sizes), {*sizes, *derived}
        for what, names in (("choices", dict(self.choices)), ("domain", dict(self.domain))):
            if unknown := [name for name in names if name not in given]:
                raise unknown_size(f"{what}['{unknown[0]}']", unknown[0], given, all_sizes)
        ends = [
            (f"domain['{name}']", end) for name, range_ in self.domain for end in (range_.low, range_.high)
        ]
        for what, used in [*ends, *((f"where: '{condition}'", condition) for condition in self.where)]:
            if missing := sorted(used.names - all_sizes):
                raise unknown_size(what, missing[0], all_sizes, all_sizes)


def holds(condition: Expression, sizes: Mapping[str, int]) -> bool:
    """True if `condition` does; one that has no value (a division by zero) does not."""
    try:
        return bool(condition.evaluate(sizes))
    except CudaoptError:
        return False


def _operand(end: Expression) -> str:
    return str(end) if str(end).isidentifier() or end.constant is not None else f"({end})"


def unknown_size(what: str, name: str, expected: set[str], known: set[str]) -> DeclarationError:
    """Return the error of `name` where one of the `expected` sizes should stand; `known` are all sizes."""
    advice = f"ass it as a parameter ({name}=i32) or list it in sizes="
    hint = did_you_mean(name, expected)
    next_step = f"P{advice}" if hint is None else f"{hint} Otherwise p{advice}"
    if name in known:
        next_step = f"'{name}' is derived: constrain it with where=['{name} ...']"
    listed = ", ".join(sorted(expected)) or "none"
    return DeclarationError(what, expected=f"sizes among {listed}", got=f"'{name}'", next_step=next_step)


def _items(what: str, given: Mapping[str, object] | None) -> list[tuple[str, object]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise DeclarationError(what, expected="a dictionary from size to values", got=repr(given))
    return list(given.items())


def _choice(name: str, values: object) -> tuple[int, ...]:
    what = f"choices['{name}']"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DeclarationError(what, expected="a list of integers >= 0", got=repr(values))
    listed = list(values)
    if not listed:
        raise DeclarationError(what, expected="at least one value", got="none")
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 0:
            raise DeclarationError(what, expected="integers >= 0", got=repr(value))
    return tuple(sorted({int(value) for value in listed}))


def _range(name: str, ends: object) -> Range:
    what = f"domain['{name}']"
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        raise DeclarationError(
            what, expected="a pair (least, most)", got=repr(ends), next_step="Write it like (1, 512)"
        )
    try:
        low, high = (expressions.parse(end) for end in ends)
    except CudaoptError as error:
        raise DeclarationError(f"{what}: {error.what}", expected=error.expected, got=error.got) from error
    least, most = low.constant, high.constant
    if least is not None and least < 0:
        raise DeclarationError(what, expected="sizes >= 0", got=str(least))
    if least is not None and most is not None and least > most:
        raise DeclarationError(
            what,
            expected="least <= most",
            got=f"({least}, {most})",
            next_step=f"Write ({most}, {least})" if most >= 0 else None,
        )
    return Range(low, high)


def _where(conditions: Iterable[str]) -> tuple[Expression, ...]:
    if isinstance(conditions, str) or not isinstance(conditions, Iterable):
        raise DeclarationError(
            "where=",
            expected="a list of conditions",
            got=repr(conditions),
            next_step=f"Write where=[{conditions!r}]",
        )
    return tuple(_condition(f"where[{number}]", condition) for number, condition in enumerate(conditions))


def _condition(what: str, written: object) -> Expression:
    if not isinstance(written, str):
        raise DeclarationError(what, expected="a condition such as 'n % 4 == 0'", got=repr(written))
    condition = expressions.parse(written)
    if not condition.is_condition:
        raise DeclarationError(
            what,
            expected="a comparison, or several with and, or, not",
            got=repr(written),
            next_step="Compare it: 'n % 4 == 0', 'n > 0'",
        )
    return condition
