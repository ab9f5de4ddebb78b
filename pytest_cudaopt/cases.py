"""Cases: the sizes a kernel is checked at, and how they are named."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral

from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import DeclarationError, SourceLocation, did_you_mean
from pytest_cudaopt.families import Family

RESERVED = ("measure", "id", "seed", "weight", "values", "misaligned", "alias")


@dataclass(frozen=True)
class Case:
    """One set of sizes; `measure` makes it count for latency with its `weight` in the geometric mean.

    `types` holds the names of the dtypes it chooses among those of `types=`; `absent` names the optional
    arrays for which the kernel gets a null pointer; `values` is the family that arrays are of instead of
    ordinary draws; `misaligned` says by how many elements an array begins after an aligned address, `alias`
    which output lies over which input; `at` is its line, if known.
    """

    sizes: tuple[tuple[str, int], ...]
    measure: bool = False
    label: str | None = None
    seed: int | None = None
    weight: float = 1.0
    types: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()
    values: Family | None = None
    misaligned: tuple[tuple[str, int], ...] = ()
    alias: tuple[tuple[str, str], ...] = ()
    at: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def by_name(self) -> dict[str, int]:
        return dict(self.sizes)

    def __str__(self) -> str:
        """The `case(...)` a user can paste."""
        parts = [f"{name}={value}" for name, value in self.sizes]
        parts += [f"{name}={dtype}" for name, dtype in self.types]
        parts += [f"{name}=None" for name in self.absent]
        parts += [f"seed={self.seed}"] if self.seed is not None else []
        parts += [f"values='{self.values}'"] if self.values is not None else []
        parts += [f"misaligned={dict(self.misaligned)}"] if self.misaligned else []
        parts += [f"alias={dict(self.alias)}"] if self.alias else []
        parts += ["measure=True"] if self.measure else []
        parts += [f"weight={self.weight!r}"] if self.weight != 1.0 else []
        parts += [f"id={self.label!r}"] if self.label is not None else []
        return f"case({', '.join(parts)})"


def case(
    *,
    measure: bool = False,
    id: str | None = None,
    seed: int | None = None,
    weight: float = 1.0,
    values: str | None = None,
    misaligned: Mapping[str, int] | None = None,
    alias: Mapping[str, str] | None = None,
    **sizes: int | DType | None,
) -> Case:
    """Declare one case; every size of the kernel that is not derived must be given.

    `T=f16` chooses a dtype of `types=`; for a type it does not name, the case stands for one of each dtype.
    `NAME=None` passes a null pointer for the optional array of that name. `values="huge"` fills arrays with
    one of the families of values, `misaligned={"x": 1}` moves an array by elements from an address that any
    vector type may have, and `alias={"y": "x"}` passes the input's memory as the output.
    """
    types = tuple((name, value.name) for name, value in sizes.items() if isinstance(value, DType))
    absent = tuple(name for name, value in sizes.items() if value is None)
    given = {n: value for n, value in sizes.items() if value is not None and not isinstance(value, DType)}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
            raise DeclarationError(
                f"case({name}=)",
                expected="an integer >= 0 or a dtype",
                got=repr(value),
                next_step=did_you_mean(name, RESERVED),
            )
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
        raise DeclarationError("case(weight=)", expected="a finite number > 0", got=repr(weight))
    if id is not None and not (isinstance(id, str) and id):
        raise DeclarationError("case(id=)", expected="a text", got=repr(id))
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise DeclarationError("case(seed=)", expected="an integer >= 0", got=repr(seed))
    if values is not None and values not in list(Family):
        raise DeclarationError(
            "case(values=)",
            expected=f"a family of values, one of {', '.join(Family)}",
            got=repr(values),
            next_step=did_you_mean(str(values), list(Family)),
        )
    moved = _moved(misaligned or {})
    # NumPy's integers are welcome, but JSON and hashes want plain ones.
    plain = tuple((name, int(value)) for name, value in given.items())
    caller = sys._getframe(1)
    at = SourceLocation(caller.f_code.co_filename, caller.f_lineno)
    family = None if values is None else Family(values)
    aliases = tuple(sorted((alias or {}).items()))
    return Case(plain, measure, id, seed, weight, types, absent, family, moved, aliases, at)


def _moved(misaligned: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    for name, elements in misaligned.items():
        if isinstance(elements, bool) or not isinstance(elements, Integral) or not 0 < elements < 256:
            raise DeclarationError(
                f"case(misaligned['{name}'])", expected="elements, from 1 to 255", got=repr(elements)
            )
    return tuple(sorted((name, int(elements)) for name, elements in misaligned.items()))


def case_ids(cases: Iterable[Case], types: Collection[str] = ()) -> tuple[str, ...]:
    """Name each case by the sizes that vary, or by its label; equal names get a number.

    The dtypes it has for `types` stand before that.
    """
    all_cases = tuple(cases)
    varying = _varying(all_cases)
    ids: list[str] = []
    for one in all_cases:
        parts = [f"{n}{v}" for n, v in one.sizes if n in varying] + [f"no_{n}" for n in one.absent]
        parts += [str(one.values)] if one.values is not None else []
        parts += [f"{name}+{elements}" for name, elements in one.misaligned]
        parts += [f"{output}_is_{source}" for output, source in one.alias]
        name = one.label or "-".join(parts) or "case"
        name = "-".join([*(dtype for type_name, dtype in one.types if type_name in types), name])
        count = sum(existing == name or existing.startswith(f"{name}~") for existing in ids)
        ids.append(f"{name}~{count + 1}" if count else name)
    return tuple(ids)


def derived_seed(kernel_name: str, one: Case) -> int:
    """Return the case's own seed, else one that depends on kernel and sizes only."""
    if one.seed is not None:
        return one.seed
    text = f"{kernel_name}/{sorted(one.sizes)}" + "".join(f"/no {name}" for name in sorted(one.absent))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _varying(cases: tuple[Case, ...]) -> frozenset[str]:
    values: dict[str, set[int]] = {}
    for one in cases:
        for name, value in one.sizes:
            values.setdefault(name, set()).add(value)
    varying = frozenset(name for name, seen in values.items() if len(seen) > 1)
    return varying or frozenset(values)


def require_sizes(what: str, one: Case, needed: Mapping[str, object]) -> None:
    """Raise DeclarationError unless `one` gives exactly the `needed` sizes."""
    given = one.by_name
    missing = [name for name in needed if name not in given]
    unknown = [name for name in given if name not in needed]
    if missing or unknown:
        raise DeclarationError(
            what,
            expected=f"the sizes {', '.join(needed) or '(none)'}",
            got=", ".join(given) or "none",
            next_step=_correction(missing, unknown),
            at=one.at,
        )


def _correction(missing: list[str], unknown: list[str]) -> str:
    meant = [hint for name in unknown if (hint := did_you_mean(name, (*missing, *RESERVED)))]
    if meant:
        return meant[0]
    if missing:
        return f"Add {', '.join(f'{name}=...' for name in missing)}"
    return f"Remove {', '.join(unknown)}"
