"""Waivers: what may be waived, which findings one covers, and that mistakes in it are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernels import axpy

from pytest_cudaopt import waive
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.finding import Finding, FindingKind, OtherParty, SourcePoint
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.waivers import Waiver, sort_out

TEXT = "one\ntwo\n    s[t] += s[t + 1];\nfour\n"
SOURCE = Path("/project/csrc/sum.cu")
RACE = Finding(FindingKind.RACE, "a race", file="sum.cu", line=3, other=OtherParty("read", "sum.cu", 4))


def candidate(text: str = TEXT, file: str = "sum.cu") -> Candidate:
    return Candidate(file, text, LaunchRule.parse("grid=(1) block=(1)"))


def is_waived(waiver: Waiver, finding: Finding = RACE, version: Candidate | None = None) -> bool:
    standing, waived = sort_out([finding], [waiver], version or candidate(), SOURCE, TEXT)
    assert len(standing) + len(waived) == 1
    return bool(waived)


@pytest.mark.parametrize(
    "at", ["sum.cu:3", "csrc/sum.cu:3", "./sum.cu:3", "project/csrc/sum.cu:3", "sum.cu:4", "sum.cu"]
)
def test_a_race_is_waived_at_either_line_or_in_the_whole_file(at: str) -> None:
    assert is_waived(waive("race", at=at, reason="known"))


@pytest.mark.parametrize("at", ["sum.cu:2", "other.cu:3", "other/sum.cu:3", "sum.cuh", "um.cu:3"])
def test_another_line_or_file_is_not_waived(at: str) -> None:
    assert not is_waived(waive("race", at=at, reason="known"))


def test_another_kind_is_not_waived() -> None:
    assert not is_waived(waive("uninitialized_read", at="sum.cu:3", reason="known"))


def test_a_finding_that_was_inlined_is_waived_where_it_was_called() -> None:
    inlined = Finding(
        FindingKind.RACE, "a race", file="detail/add.h", line=9, inlined_from=(SourcePoint("sum.cu", 3),)
    )
    assert is_waived(waive("race", at="sum.cu:3", reason="known"), inlined)
    assert is_waived(waive("race", at="add.h:9", reason="known"), inlined)
    assert not is_waived(waive("race", at="add.h:3", reason="known"), inlined)


def test_a_finding_without_a_line_is_waived_by_the_file_alone() -> None:
    dependent = Finding(FindingKind.ORDER_DEPENDENT, "depends", file="sum.cu")
    assert is_waived(waive("order_dependent", at="sum.cu", reason="known"), dependent)
    assert not is_waived(waive("order_dependent", at="sum.cu:3", reason="known"), dependent)


def test_a_waiver_follows_its_line_into_another_version() -> None:
    waiver = waive("race", at="sum.cu:3", reason="known")
    moved = candidate("zero\n" + TEXT, "faster.cu")
    at_line_4 = Finding(FindingKind.RACE, "a race", file="faster.cu", line=4)
    assert is_waived(waiver, at_line_4, moved)
    # What stands at line 3 there is other code, which nobody has looked at.
    assert not is_waived(waiver, Finding(FindingKind.RACE, "a race", file="faster.cu", line=3), moved)


def test_the_same_text_at_another_line_of_the_same_version_is_not_waived() -> None:
    twice = TEXT + "    s[t] += s[t + 1];\n"
    finding = Finding(FindingKind.RACE, "a race", file="sum.cu", line=5)
    standing, _ = sort_out(
        [finding], [waive("race", at="sum.cu:3", reason="known")], candidate(twice), SOURCE, twice
    )
    assert standing == (finding,)


def test_a_waived_finding_is_told_with_its_reason() -> None:
    _, (waived,) = sort_out(
        [RACE], [waive("race", at="sum.cu:3", reason=" known ")], candidate(), SOURCE, TEXT
    )
    assert str(waived) == "race at sum.cu:3 is waived: known"


@pytest.mark.parametrize(
    ("kind", "at", "reason", "words"),
    [
        ("races", "sum.cu:3", "known", "Did you mean 'race'?"),
        ("uninitialised_read", "sum.cu:3", "known", "Did you mean 'uninitialized_read'?"),
        ("illegal_address", "sum.cu:3", "known", "expected a kind of finding: race, uninitialized_read"),
        (3, "sum.cu:3", "known", "got 3"),
        ("race", "", "known", 'expected FILE:LINE or FILE, such as "hist.cu:31"'),
        ("race", "sum.cu:", "known", "expected FILE:LINE or FILE"),
        ("race", "sum.cu:0", "known", "expected FILE:LINE or FILE"),
        ("race", "sum.cu:3:7", "known", "expected FILE:LINE or FILE"),
        ("race", 3, "known", "expected FILE:LINE or FILE"),
        ("race", "sum.cu:3", "  ", "expected why the finding is no mistake"),
        ("race", "sum.cu:3", None, "expected why the finding is no mistake"),
    ],
)
def test_what_is_no_waiver_is_refused(kind: str, at: str, reason: str, words: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        waive(kind, at=at, reason=reason)
    assert words in str(caught.value)


def declared(folder: Path, waivers: object) -> Kernel:
    return axpy(folder, waivers=waivers)


def test_a_declaration_keeps_its_waivers(tmp_path: Path) -> None:
    waiver = waive("race", at="axpy.cu:6", reason="known")
    assert declared(tmp_path, [waiver]).waivers == (waiver,)


@pytest.mark.parametrize("given", [waive("race", at="a.cu", reason="known"), "race", ["race"], 3], ids=str)
def test_waivers_are_a_list_of_waive(tmp_path: Path, given: object) -> None:
    with pytest.raises(DeclarationError, match=r"waivers=: expected a list of waive\(\.\.\.\)"):
        declared(tmp_path, given)
