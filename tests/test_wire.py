"""Dataclasses to JSON and back: what is left out, and everything that must not pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pytest

from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.wire import from_json, to_json


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Push:
    DO: ClassVar[str] = "push"
    weight: float


@dataclass(frozen=True)
class Pull:
    DO: ClassVar[str] = "pull"
    from_: str


@dataclass(frozen=True)
class ByName:
    name: str


@dataclass(frozen=True)
class ByNumber:
    number: int


@dataclass(frozen=True)
class Whole:
    text: str
    count: int = 0
    flag: bool = False
    colour: Colour | None = None
    size: tuple[int, int] = (1, 1)
    steps: tuple[Push | Pull, ...] = ()
    target: ByName | ByNumber | None = None
    table: Mapping[str, int] = field(default_factory=dict)
    anything: Any = None


FULL = Whole(
    "a", 2, True, Colour.RED, (3, 4), (Push(1.5), Pull("x")), ByNumber(5), {"k": 6}, {"free": [None]}
)
FULL_JSON = {
    "text": "a",
    "count": 2,
    "flag": True,
    "colour": "red",
    "size": [3, 4],
    "steps": [{"do": "push", "weight": 1.5}, {"do": "pull", "from": "x"}],
    "target": {"number": 5},
    "table": {"k": 6},
    "anything": {"free": [None]},
}


def test_every_kind_of_field_is_written_and_read_back() -> None:
    assert to_json(FULL) == FULL_JSON
    assert from_json(Whole, FULL_JSON, "whole") == FULL


def test_defaults_are_left_out_and_come_back() -> None:
    assert to_json(Whole("a")) == {"text": "a"}
    assert from_json(Whole, {"text": "a"}, "whole") == Whole("a")


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "whole: expected an object, got []"),
        ({}, "whole: expected a key 'text', got only none"),
        ({"text": "a", "cuont": 1}, "whole: expected keys among text, count"),
        ({"text": 1}, "whole.text: expected text, got 1"),
        ({"text": "a", "count": 1.0}, "whole.count: expected an integer, got 1.0"),
        ({"text": "a", "count": True}, "whole.count: expected an integer, got True"),
        ({"text": "a", "flag": 1}, "whole.flag: expected true or false, got 1"),
        ({"text": "a", "colour": "green"}, "whole.colour: expected one of red, got 'green'"),
        ({"text": "a", "size": [1]}, "whole.size: expected a list of 2, got [1]"),
        ({"text": "a", "size": [1, "2"]}, "whole.size[1]: expected an integer, got '2'"),
        ({"text": "a", "steps": {}}, "whole.steps: expected a list, got {}"),
        ({"text": "a", "steps": [{"do": "hop"}]}, "whole.steps[0].do: expected one of push, pull, got 'hop'"),
        ({"text": "a", "steps": [{"do": "push"}]}, "whole.steps[0]: expected a key 'weight'"),
        ({"text": "a", "steps": [{"do": "push", "weight": "1"}]}, "expected a number, got '1'"),
        ({"text": "a", "steps": [{"do": "push", "weight": True}]}, "expected a number, got True"),
        ({"text": "a", "steps": [3]}, "whole.steps[0]: expected an object, got 3"),
        ({"text": "a", "target": {}}, "whole.target: expected exactly one of name, number"),
        ({"text": "a", "target": {"name": "x", "number": 1}}, "expected exactly one of name, number"),
        ({"text": "a", "table": [1]}, "whole.table: expected an object, got [1]"),
        ({"text": "a", "table": {"k": None}}, "whole.table.k: expected an integer, got None"),
        ({"text": "a" * 500, "flag": "b" * 500}, "'" + "b" * 76 + "..."),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(value: Any, complaint: str) -> None:
    with pytest.raises(HarnessError) as caught:
        from_json(Whole, value, "whole")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_non_finite_number_is_never_written(number: float) -> None:
    with pytest.raises(HarnessError, match="expected a finite number"):
        to_json(Whole("a", steps=(Push(number),)))


def test_an_integer_is_a_number() -> None:
    assert from_json(Push, {"weight": 2}, "push") == Push(2.0)
