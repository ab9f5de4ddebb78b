"""The way back from `describe.plain`: JSON values to the frozen dataclasses they were written from."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from pytest_cudaopt.errors import EnvironmentFault

T = TypeVar("T")
_NON_FINITE = frozenset({"nan", "inf", "-inf"})


def read(kind: type[T], value: Any, where: str) -> T:
    """Return the `kind`, a dataclass, that `value` was written from.

    Raises EnvironmentFault that names the member at fault, `where` and then the path inside it.
    """
    found: T = _read(kind, value, where)
    return found


def _read(kind: Any, value: Any, where: str) -> Any:
    if kind is Any or kind is object:
        return value
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(kind), value, where)
    if origin is tuple:
        return _tuple(typing.get_args(kind), value, where)
    if origin is not None and issubclass(origin, Mapping):
        _, of = typing.get_args(kind)
        return {key: _read(of, item, f"{where}.{key}") for key, item in _of(dict, value, where).items()}
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    if issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            raise _unfit(where, f"one of {', '.join(str(one.value) for one in kind)}", value) from None
    return _scalar(kind, value, where)


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    members, fields = _of(dict, value, where), _fields(kind)
    if unknown := sorted(set(members) - set(fields)):
        raise _unfit(where, f"members of {kind.__name__}", unknown[0])
    return kind(**{name: _read(fields[name], item, f"{where}.{name}") for name, item in members.items()})


def _tuple(of: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    items = _of(list, value, where)
    if len(of) == 2 and of[1] is Ellipsis:
        return tuple(_read(of[0], item, f"{where}[{at}]") for at, item in enumerate(items))
    if len(items) != len(of):
        raise _unfit(where, f"{len(of)} items", items)
    return tuple(
        _read(one, item, f"{where}[{at}]") for at, (one, item) in enumerate(zip(of, items, strict=True))
    )


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not types.NoneType]
    # The same type first: True is an int as well, and an int would pass for a float.
    others.sort(key=lambda kind: kind is not type(value))
    for kind in others[:-1]:
        try:
            return _read(kind, value, where)
        except EnvironmentFault:
            continue
    return _read(others[-1], value, where)


def _scalar(kind: type, value: Any, where: str) -> Any:
    if kind is float:
        if value in _NON_FINITE or type(value) in (int, float):
            return float(value)
        raise _unfit(where, "a number", value)
    return _of(kind, value, where)


def _of(kind: type[T], value: Any, where: str) -> T:
    if type(value) is not kind:
        raise _unfit(where, _WORDS.get(kind, kind.__name__), value)
    return value


def _unfit(where: str, expected: str, value: Any) -> EnvironmentFault:
    shown = repr(value)
    return EnvironmentFault(where, expected=expected, got=shown if len(shown) <= 80 else f"{shown[:77]}...")


@cache
def _fields(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


_WORDS: dict[Any, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
}
