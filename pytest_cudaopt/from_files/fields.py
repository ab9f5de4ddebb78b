"""JSON files that people write: values with their place, and errors that name it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_cudaopt.errors import CudaoptError, DeclarationError, did_you_mean, why_unreadable

_MOST_SHOWN = 60
_OVER_SIZES = "a text over sizes such as 'rows // 2'"
_BEYOND_FLOATS = 1 << 1024


@dataclass(frozen=True)
class Field:
    """A value of a JSON file. `file` is named as the user named it; `path` is such as `cases[2].sizes.cols`.

    Every method raises DeclarationError, at that place, for a value that is not what it reads. A null counts
    as not given.
    """

    file: str
    path: str
    value: object

    @property
    def place(self) -> str:
        return f"{self.file}: {self.path}" if self.path else self.file

    def wrong(
        self, expected: str, next_step: str | None = None, *, got: str | None = None
    ) -> DeclarationError:
        """Return the error of a value that is not what was `expected`."""
        return DeclarationError(
            self.place, expected=expected, got=_shown(self.value) if got is None else got, next_step=next_step
        )

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Put this place in front of what an error of this package is about."""
        try:
            yield
        except CudaoptError as error:
            raise DeclarationError(
                f"{self.place}: {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
            ) from error

    def members(self, required: Iterable[str], optional: Iterable[str]) -> dict[str, Field]:
        """Return the given ones of an object that may have these and no others."""
        required, known = list(required), [*required, *optional]
        for name in (own := self._object()):
            if name not in known:
                expected = f"one of {', '.join(known)}"
                raise self._at(name, own[name]).wrong(expected, did_you_mean(name, known), got=f"'{name}'")
        given = {name: self._at(name, value) for name, value in own.items() if value is not None}
        for name in required:
            if name not in given:
                listed = ", ".join(given) or "an empty object"
                raise self.wrong(f"'{name}' in it", f'Add "{name}": ...', got=listed)
        return given

    def mapping(self) -> dict[str, Field]:
        """Return an object's members, whatever their names."""
        return {name: self._at(name, value) for name, value in self._object().items()}

    def items(self, expected: str = "a list") -> list[Field]:
        if not isinstance(self.value, list):
            raise self.wrong(expected)
        return [Field(self.file, f"{self.path}[{number}]", value) for number, value in enumerate(self.value)]

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items("a list of texts"))

    def text(self, expected: str = "a text") -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(expected)
        return self.value

    def name(self) -> str:
        """Return a text that is a name in Python and C++."""
        text = self.text("a name")
        if not (text.isidentifier() and text.isascii()):
            raise self.wrong("a name: letters, digits and _, no digit first")
        return text

    def one_of(self, known: Iterable[str]) -> str:
        listed, text = list(known), self.text()
        if text not in listed:
            raise self.wrong(f"one of {', '.join(listed)}", did_you_mean(text, listed))
        return text

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def whole(self, least: int | None = None) -> int:
        """Return an integer; `3.0` is none."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("an integer")
        if least is not None and self.value < least:
            raise self.wrong(f"an integer of at least {least}")
        return self.value

    def number(self, expected: str = "a number") -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong(expected)
        if isinstance(self.value, int) and abs(self.value) >= _BEYOND_FLOATS:
            raise self.wrong(f"{expected} that a float64 can hold")
        return self.value

    def number_or_text(self) -> float | str:
        return self.text() if isinstance(self.value, str) else self.number(f"a number, or {_OVER_SIZES}")

    def whole_or_text(self) -> int | str:
        if isinstance(self.value, bool) or not isinstance(self.value, int | str):
            raise self.wrong(f"an integer, or {_OVER_SIZES}")
        return self.text() if isinstance(self.value, str) else self.value

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self.value

    def _at(self, name: str, value: object) -> Field:
        shown = name if name.isidentifier() else f"[{name!r}]"
        return Field(self.file, f"{self.path}.{shown}" if self.path else shown, value)


def read_json(path: Path, shown: str, what: str, root: str = "") -> Field:
    """Return the content of a JSON file; raise DeclarationError if there is none.

    `what` the file is stands in the message. `root` is how places begin.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(
            f"{what} {shown}",
            expected="a readable JSON file",
            got=why_unreadable(error),
            next_step=_near(path),
        ) from error
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        got = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DeclarationError(shown, expected="JSON", got=got, next_step=_advice(error)) from error
    return Field(shown, root, value)


def _near(path: Path) -> str | None:
    beside = sorted(found.name for found in path.parent.glob("*.json")) if path.parent.is_dir() else []
    return f"JSON files beside it: {', '.join(beside)}" if beside else None


def _advice(error: Exception) -> str | None:
    if isinstance(error, json.JSONDecodeError):
        return "JSON has no comments, no trailing commas, and its texts stand between double quotes"
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            raise ValueError(f"'{name}' twice in one object")
        seen[name] = value
    return seen


def _refused(constant: str) -> float:
    raise ValueError(f"{constant}, which JSON does not have")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text}, which is beyond all floats")
    return value


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
