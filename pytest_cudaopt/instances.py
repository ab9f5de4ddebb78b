"""Instances: what a kernel's entry and parameters are once a case says which sizes and dtypes they have.

An entry is a pattern such as `ns::attn<{head_dim}, {T}>`: braces hold a size, or a type that `types=` lists.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_cudaopt.cases import Case
from pytest_cudaopt.dtypes import BY_NAME, DType, TypeName
from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.parameters import Parameter

Types = tuple[tuple[str, tuple[DType, ...]], ...]
_FIELD = re.compile(r"\{([^{}]*)\}")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Instance:
    """A kernel's `entry` as the compiler knows it, and its parameters with the dtypes they have in it."""

    entry: str
    parameters: tuple[Parameter, ...]

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.is_output)


def instance_at(
    entry: str, parameters: Iterable[Parameter], sizes: Mapping[str, int], types: Mapping[str, DType]
) -> Instance:
    """Fill in a pattern and the parameters' dtypes with what a case says."""

    def value(match: re.Match[str]) -> str:
        name = match.group(1).strip()
        return types[name].cuda[0] if name in types else str(sizes[name])

    return Instance(
        _FIELD.sub(value, entry),
        tuple(_with_names(parameter.at(types), value) for parameter in parameters),
    )


def _with_names(parameter: Parameter, value: Callable[[re.Match[str]], str]) -> Parameter:
    """Fill in the patterns that a variable's name and a struct's type are."""
    if parameter.symbol is not None:
        return replace(parameter, symbol=_FIELD.sub(value, parameter.symbol))
    if parameter.struct is not None:
        type_name = _FIELD.sub(value, parameter.struct.type_name)
        return replace(parameter, struct=replace(parameter.struct, type_name=type_name))
    return parameter


def chosen_types(case: Case, types: Types) -> dict[str, DType]:
    """Return the dtype `case` has for each type; one that has a single dtype need not be named.

    Raises DeclarationError where the case leaves it open.
    """
    named, chosen = dict(case.types), {}
    for name, dtypes in types:
        if name not in named and len(dtypes) > 1:
            raise DeclarationError(
                str(case),
                expected=f"a dtype for {name}: {_or(map(str, dtypes))}",
                got="none",
                next_step=f"Write case(..., {name}={dtypes[0]})",
                at=case.at,
            )
        chosen[name] = next(dtype for dtype in dtypes if dtype.name == named.get(name, dtype.name))
    return chosen


def distinct(instances: Iterable[Instance]) -> tuple[Instance, ...]:
    """Return one instance per entry, in the order they come."""
    by_entry: dict[str, Instance] = {}
    for instance in instances:
        by_entry.setdefault(instance.entry, instance)
    return tuple(by_entry.values())


def names_in(entry: str) -> tuple[str, ...]:
    """Return what stands between braces."""
    return tuple(match.group(1).strip() for match in _FIELD.finditer(entry))


def declared_types(types: object) -> Types:
    """Read `types=`; raise DeclarationError unless it maps names to dtypes."""
    if types is None:
        return ()
    if not isinstance(types, Mapping) or not types:
        raise DeclarationError(
            "types=",
            expected="a mapping of names to dtypes",
            got=repr(types),
            next_step='Write types={"T": (f16, f32)}',
        )
    return tuple((_type_name(name), _dtypes(name, dtypes)) for name, dtypes in types.items())


def _type_name(name: object) -> str:
    if isinstance(name, str) and _IDENTIFIER.fullmatch(name):
        return name
    raise DeclarationError("types=", expected="names as keys, such as 'T'", got=repr(name))


def _dtypes(name: str, given: object) -> tuple[DType, ...]:
    what, several = f"types[{name!r}]", (given,) if isinstance(given, DType) else given
    next_step = f"Write types={{{name!r}: (f16, f32)}}"
    if isinstance(several, str) or not isinstance(several, Iterable):
        raise DeclarationError(what, expected="dtypes", got=repr(given), next_step=next_step)
    dtypes = tuple(several)
    if not dtypes:
        raise DeclarationError(what, expected="at least one dtype", got="none", next_step=next_step)
    if wrong := [one for one in dtypes if not isinstance(one, DType) or isinstance(one, TypeName)]:
        raise DeclarationError(
            what, expected="dtypes of this package such as f32", got=repr(wrong[0]), next_step=next_step
        )
    if len(set(dtypes)) < len(dtypes):
        raise DeclarationError(what, expected="each dtype once", got=", ".join(map(str, dtypes)))
    return dtypes


def require_known(
    entry: str, types: Types, parameters: Sequence[Parameter], sizes: Iterable[str], taken: Iterable[str]
) -> None:
    """Raise DeclarationError for a name in `entry` or a parameter that is no size or type, or a clash.

    `taken` holds the names that a type may not have.
    """
    names, known = dict(types), [*sizes]
    if clash := next((name for name in names if name in set(taken)), None):
        raise DeclarationError(
            f"types[{clash!r}]", expected="a name no size or parameter has", got=f"'{clash}'"
        )
    _require_entry(entry, [*known, *names])
    for parameter in parameters:
        if isinstance(parameter.dtype, TypeName):
            _require_type(parameter, parameter.dtype.name, names)
        _require_pattern(parameter, entry, names)
    used = {*names_in(entry), *(parameter.dtype.name for parameter in parameters)}
    for name, dtypes in types:
        if name not in used:
            raise DeclarationError(
                f"types[{name!r}]",
                expected=f'a use of it: {{{name}}} in entry=, or In("{name}", ...)',
                got="none",
            )
        if len(dtypes) > 1 and name not in names_in(entry):
            raise DeclarationError(
                f"entry='{entry}'",
                expected=f"{{{name}}} in it, since {name} may be {_or(map(str, dtypes))}",
                got="one entry for all of them",
                next_step=f"Write entry='{entry.partition('<')[0]}<{{{name}}}>', or a kernel for each",
            )


def _require_pattern(parameter: Parameter, entry: str, types: Mapping[str, Sequence[DType]]) -> None:
    """Refuse braces in a struct's type or a variable's name that the entry does not decide."""
    pattern = parameter.struct.type_name if parameter.struct is not None else parameter.symbol or ""
    decided = {*names_in(entry), *(name for name, dtypes in types.items() if len(dtypes) == 1)}
    for name in names_in(pattern):
        if name not in decided:
            raise DeclarationError(
                f"'{pattern}' of parameter '{parameter.name}'",
                expected=f"braces the entry has as well ({', '.join(sorted(decided)) or 'it has none'})",
                got=f"{{{name}}}",
                next_step=did_you_mean(name, decided) or "Each instance has one entry: name it there",
            )


def _require_entry(entry: str, known: Sequence[str]) -> None:
    if not isinstance(entry, str) or not entry.strip():
        raise DeclarationError("entry=", expected="the name of a __global__ function", got=repr(entry))
    for name in names_in(entry):
        if name not in known:
            raise DeclarationError(
                f"entry='{entry}'",
                expected=f"braces that hold one of {', '.join(known) or '(there is no size or type)'}",
                got=f"{{{name}}}",
                next_step=did_you_mean(name, known) or "List sizes in sizes= or derive=, dtypes in types=",
            )
    if "{" in (rest := _FIELD.sub("", entry)) or "}" in rest:
        raise DeclarationError(
            f"entry='{entry}'", expected="every brace closed, such as {T}", got="one that is not"
        )


def _require_type(parameter: Parameter, name: str, types: Mapping[str, object]) -> None:
    if name in types:
        return
    if name in BY_NAME:
        next_step: str | None = f"Without quotes it is a dtype: {name}"
    else:
        next_step = did_you_mean(name, types) or f'List it: types={{"{name}": (f16, f32)}}'
    raise DeclarationError(
        f"parameter '{parameter.name}'",
        expected=f"a dtype, or one of the types {', '.join(types) or '(types= lists none)'}",
        got=repr(name),
        next_step=next_step,
    )


def with_types(cases: Iterable[Case], types: Types) -> tuple[Case, ...]:
    """Multiply every case over the dtypes it does not name itself, in the order given."""
    return tuple(one for case in cases for one in _over_types(case, types))


def _over_types(case: Case, types: Types) -> list[Case]:
    named = dict(case.types)
    choices = [[named[name]] if name in named else [dtype.name for dtype in dtypes] for name, dtypes in types]
    names = [name for name, _ in types]
    # What it names beyond those stays, to be refused with the line of the case.
    rest = tuple((name, dtype) for name, dtype in case.types if name not in names)
    return [
        replace(case, types=(*zip(names, chosen, strict=True), *rest))
        for chosen in itertools.product(*choices)
    ]


def require_case_types(what: str, case: Case, types: Types) -> None:
    """Raise DeclarationError unless `case` names one of the dtypes of each type, and no other type."""
    possible = {name: [dtype.name for dtype in dtypes] for name, dtypes in types}
    for name, size in case.sizes:
        if name in possible:
            raise DeclarationError(f"{what}.{name}", expected=_or(possible[name]), got=str(size), at=case.at)
    for name, dtype in case.types:
        if name not in possible:
            raise DeclarationError(
                f"{what}.{name}",
                expected=f"one of the types {', '.join(possible)}" if possible else "an integer >= 0",
                got=f"the dtype {dtype}",
                next_step=did_you_mean(name, possible) or f'List it: types={{"{name}": ({dtype},)}}',
                at=case.at,
            )
        if dtype not in possible[name]:
            raise DeclarationError(
                f"{what}.{name}",
                expected=_or(possible[name]),
                got=dtype,
                next_step=f"Add {dtype} to types[{name!r}]",
                at=case.at,
            )


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)
