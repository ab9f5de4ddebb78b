"""Findings as the harness words them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_cudaopt.finding import Finding, FindingKind, SourcePoint

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


def test_a_place_is_a_line_or_an_instruction() -> None:
    finding = Finding(FindingKind.TRAP, "a trap", buffer="x", element=3)
    assert not finding.is_placed
    assert replace(finding, line=3).is_placed
    assert replace(finding, instruction="trap;").is_placed


# Said by this package of what the harness answered.
OWN_KINDS = {FindingKind.IMPLAUSIBLE}


def test_the_kinds_are_those_of_the_protocol() -> None:
    text = (Path(__file__).parents[1] / "harness_cpp" / "PROTOCOL.md").read_text()
    listed = re.search(r"Kinds:\s*`([^`]+)`", text)
    assert listed is not None
    assert set(re.split(r"[,\s]+", listed.group(1).strip())) == set(FindingKind) - OWN_KINDS
