"""Findings as the harness words them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt.finding import (
    BEYOND_LIMITS,
    Finding,
    FindingKind,
    OtherParty,
    SourcePoint,
    distinct,
    most_severe_first,
)

FAULT = {
    "kind": "illegal_address",
    "step": 3,
    "message": "read past the end",
    "file": "softmax.cu",
    "line": 14,
    "inlined_from": [{"file": "softmax.cu", "line": 20}],
    "instruction": "ld.global.f32",
    "buffer": "x",
    "element": 1000,
    "elements": 1000,
    "bytes": 4,
    "access": "read",
    "space": "global",
    "block": [3, 0, 0],
    "thread": [232, 0, 0],
}


def test_every_part_of_a_fault_is_kept() -> None:
    finding = Finding.from_fault(FAULT)
    assert finding.kind is FindingKind.ILLEGAL_ADDRESS
    assert finding.inlined_from == (SourcePoint("softmax.cu", 20),)
    assert finding.thread == (232, 0, 0)
    assert json.loads(json.dumps(finding.to_json())) == {k: v for k, v in FAULT.items() if k != "step"}


def test_kind_and_message_are_enough() -> None:
    finding = Finding.from_fault({"kind": "trap", "message": "a trap"})
    assert finding.to_json() == {"kind": "trap", "message": "a trap"}


@pytest.mark.parametrize("fault", [{"kind": "no_such", "message": ""}, {"message": ""}, {"kind": "trap"}])
def test_a_fault_without_known_kind_and_message_is_refused(fault: dict[str, str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        Finding.from_fault(fault)


RACE = Finding(
    FindingKind.RACE,
    "a race",
    file="sum.cu",
    line=4,
    inlined_from=(SourcePoint("sum.cu", 13),),
    buffer="s",
    space="shared",
    other=OtherParty("write", "sum.cu", 9),
)


def test_a_race_comes_back_with_its_other_party_and_how_often_it_was_seen() -> None:
    race = replace(RACE, times=31, other=replace(RACE.other, block=(0, 0, 0), thread=(7, 0, 0)))
    assert Finding.from_fault(json.loads(json.dumps(race.to_json()))) == race


@pytest.mark.parametrize(
    "part",
    [
        {"other": {}},
        {"other": 3},
        {"times": "often"},
        {"line": "first"},
        {"block": [1]},
        {"inlined_from": [{}]},
    ],
    ids=str,
)
def test_a_finding_with_a_part_that_is_none_is_refused(part: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Finding.from_fault({"kind": "race", "message": "a race", **part})


def test_every_line_of_both_parties_is_a_place() -> None:
    assert RACE.places == (SourcePoint("sum.cu", 4), SourcePoint("sum.cu", 9), SourcePoint("sum.cu", 13))


def test_the_same_race_seen_from_its_other_side_is_one_mistake() -> None:
    mirrored = replace(RACE, line=9, times=5, other=OtherParty("read", "sum.cu", 4))
    (found,) = distinct([RACE, mirrored])
    assert found == replace(RACE, times=5)


@pytest.mark.parametrize(
    "change", [{"line": 5}, {"buffer": "t"}, {"kind": FindingKind.UNINITIALIZED_READ}], ids=str
)
def test_another_line_array_or_kind_is_another_mistake(change: dict[str, Any]) -> None:
    assert len(distinct([RACE, replace(RACE, **change)])) == 2


def test_without_a_line_the_message_tells_mistakes_apart() -> None:
    one = Finding(FindingKind.TRAP, "one trap")
    assert distinct([one, replace(one, message="another"), one]) == [one, replace(one, message="another")]


def test_what_depends_on_the_order_is_one_mistake_for_each_output() -> None:
    one = Finding(FindingKind.ORDER_DEPENDENT, "3 of 51 elements differ", file="sum.cu", buffer="y")
    assert len(distinct([one, replace(one, message="7 of 99 elements differ")])) == 1
    assert len(distinct([one, replace(one, buffer="z")])) == 2


def test_what_ended_the_launch_comes_before_what_was_seen() -> None:
    kinds = [FindingKind.ORDER_DEPENDENT, FindingKind.UNINITIALIZED_READ, FindingKind.TRAP, FindingKind.RACE]
    ordered = most_severe_first(Finding(kind, "") for kind in kinds)
    assert [one.kind for one in ordered] == [kinds[2], kinds[3], kinds[1], kinds[0]]


def test_a_place_is_a_line_or_an_instruction() -> None:
    finding = Finding(FindingKind.TRAP, "a trap", buffer="x", element=3)
    assert not finding.is_placed
    assert replace(finding, line=3).is_placed
    assert replace(finding, instruction="trap;").is_placed


# Said by this package of what the harness answered.
OWN_KINDS = {FindingKind.IMPLAUSIBLE, FindingKind.ORDER_DEPENDENT, *BEYOND_LIMITS}


def test_the_kinds_are_those_of_the_protocol() -> None:
    text = (Path(__file__).parents[1] / "harness_cpp" / "PROTOCOL.md").read_text()
    listed = re.search(r"Kinds:\s*`([^`]+)`", text)
    assert listed is not None
    assert set(re.split(r"[,\s]+", listed.group(1).strip())) == set(FindingKind) - OWN_KINDS
