"""Candidates: what their digest covers, and the file they would become."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_cudaopt import directives
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.errors import LaunchError
from pytest_cudaopt.launch import LaunchRule

SOURCE = "// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)\n// @tune BLOCK = 64, 128\nint x;\n"
START = Candidate(
    "a.cu", SOURCE, LaunchRule.parse("grid=(cdiv(n, BLOCK)) block=(BLOCK)"), (("BLOCK", 64), ("T", 2))
)


@pytest.mark.parametrize(
    "change",
    [
        {"source": SOURCE + "//"},
        {"launch": LaunchRule.parse("grid=(n) block=(BLOCK)")},
        {"tunables": (("BLOCK", 128), ("T", 2))},
        {"defines": (("X", "1"),)},
        {"options": ("--use_fast_math",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_changes_with_whatever_decides(change: dict[str, Any]) -> None:
    assert replace(START, **change).digest != START.digest


@pytest.mark.parametrize("change", [{"file": "b.cu"}, {"tunables": (("T", 2), ("BLOCK", 64))}])
def test_the_digest_ignores_names_and_order(change: dict[str, Any]) -> None:
    assert replace(START, **change).digest == START.digest
    assert len(START.digest) == 64


def test_tunables_decide_the_launch() -> None:
    assert str(START.configure({"n": 1000})) == "grid=16 block=64"
    assert str(START.with_tunables({"BLOCK": 128}).configure({"n": 1000})) == "grid=8 block=128"


def test_a_rule_without_a_launch_raises() -> None:
    with pytest.raises(LaunchError, match="division by zero"):
        START.with_tunables({"BLOCK": 0}).configure({"n": 1000})


def test_the_standalone_source_starts_where_the_candidate_stands() -> None:
    found = directives.read(START.with_tunables({"BLOCK": 128}).standalone_source(), "a.cu")
    assert found.starting_values == {"BLOCK": 128}
    assert found.tunables[0].values == (128, 64)
    assert found.rule is not None
    assert found.rule.directives() == START.launch.directives()
