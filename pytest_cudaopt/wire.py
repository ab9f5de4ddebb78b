"""Frozen dataclasses to JSON and back, strictly: what does not fit exactly is an error, never a guess."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, Union

from pytest_cudaopt.errors import HarnessError

T = TypeVar("T")


def to_json(value: object) -> Any:
    """Return `value` as plain JSON types; fields that hold their default are left out."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        members: dict[str, Any] = {"do": tag} if (tag := getattr(value, "DO", None)) else {}
        for member in fields(value):
            held = getattr(value, member.name)
            if not _is_default(member, held):
                members[_key(member)] = to_json(held)
        return members
    if isinstance(value, Mapping):
        return {name: to_json(held) for name, held in value.items()}
    if isinstance(value, tuple):
        return [to_json(held) for held in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise HarnessError("JSON number", expected="a finite number", got=repr(value))
    return value


def from_json(wanted: type[T], value: Any, path: str) -> T:
    """Read `value`, found at `path`, as `wanted`; raise HarnessError naming the path that does not fit."""
    read: T = _read(wanted, value, path)
    return read


def _read(wanted: Any, value: Any, path: str) -> Any:
    origin = typing.get_origin(wanted)
    if wanted is Any:
        return value
    if origin in (Union, types.UnionType):
        return _read_union(typing.get_args(wanted), value, path)
    if origin is tuple:
        return _read_tuple(typing.get_args(wanted), value, path)
    if origin in (Mapping, dict):
        _require(isinstance(value, dict), path, "an object", value)
        inner = typing.get_args(wanted)[1]
        return {name: _read(inner, held, f"{path}.{name}") for name, held in value.items()}
    if is_dataclass(wanted):
        return _read_object(wanted, value, path)
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        known = [member.value for member in wanted]
        _require(value in known, path, f"one of {', '.join(known)}", value)
        return wanted(value)
    return _read_plain(wanted, value, path)


def _read_plain(wanted: Any, value: Any, path: str) -> Any:
    # bool is an int to Python, but not to JSON.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is float:
        _require(is_number, path, "a number", value)
        return float(value)
    names = {int: "an integer", str: "text", bool: "true or false"}
    fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    _require(fits, path, names[wanted], value)
    return value


def _read_union(choices: tuple[Any, ...], value: Any, path: str) -> Any:
    if value is None and types.NoneType in choices:
        return None
    left = [choice for choice in choices if choice is not types.NoneType]
    if len(left) == 1:
        return _read(left[0], value, path)
    _require(isinstance(value, dict), path, "an object", value)
    by_tag = {choice.DO: choice for choice in left if hasattr(choice, "DO")}
    if by_tag:
        tag = value.get("do")
        _require(tag in by_tag, f"{path}.do", f"one of {', '.join(by_tag)}", tag)
        rest = {name: held for name, held in value.items() if name != "do"}
        return _read_object(by_tag[tag], rest, path)
    # Untagged: told apart by the key that is their first field.
    by_key = {_key(fields(choice)[0]): choice for choice in left}
    present = [key for key in by_key if key in value]
    _require(len(present) == 1, path, f"exactly one of {', '.join(by_key)}", value)
    return _read_object(by_key[present[0]], value, path)


def _read_tuple(parts: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    _require(isinstance(value, list), path, "a list", value)
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_read(parts[0], held, f"{path}[{i}]") for i, held in enumerate(value))
    _require(len(value) == len(parts), path, f"a list of {len(parts)}", value)
    pairs = zip(parts, value, strict=True)
    return tuple(_read(part, held, f"{path}[{i}]") for i, (part, held) in enumerate(pairs))


def _read_object(wanted: Any, value: Any, path: str) -> Any:
    _require(isinstance(value, dict), path, "an object", value)
    hints = _hints(wanted)
    members = {_key(member): member for member in fields(wanted)}
    if unknown := sorted(set(value) - set(members)):
        raise HarnessError(path, expected=f"keys among {', '.join(members)}", got=f"'{unknown[0]}'")
    given: dict[str, Any] = {}
    for key, member in members.items():
        if key in value:
            given[member.name] = _read(hints[member.name], value[key], f"{path}.{key}")
        elif member.default is MISSING and member.default_factory is MISSING:
            raise HarnessError(path, expected=f"a key '{key}'", got=f"only {', '.join(value) or 'none'}")
    return wanted(**given)


@lru_cache(maxsize=256)
def _hints(wanted: Any) -> dict[str, Any]:
    return typing.get_type_hints(wanted)


def _is_default(member: Any, held: object) -> bool:
    if member.default is not MISSING:
        return bool(held == member.default)
    return member.default_factory is not MISSING and bool(held == member.default_factory())


def _key(member: Any) -> str:
    # A trailing underscore keeps a key that is a Python word usable as a field: `from_`.
    return str(member.name).rstrip("_")


def _require(fits: bool, path: str, expected: str, got: object) -> None:
    if not fits:
        text = repr(got)
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise HarnessError(path, expected=expected, got=shown)
