"""What is planted has to be found, and nothing else: the judge of the other tests here."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_lines import Mark, complaint, marks_in

from pytest_cudaopt.finding import Finding, FindingKind, OtherParty

SOURCE = """\
tile[t] = x[t];  // FINDING race tile
y[t] = tile[t + 1];  // ALSO race|uninitialized_read
y[n] = 0;  // FINDING illegal_address y[-3]
// FINDING what
"""
RACE = Finding(FindingKind.RACE, "", line=1, buffer="tile", other=OtherParty("read", line=2))
STRAY = Finding(FindingKind.ILLEGAL_ADDRESS, "", line=3, buffer="y", element=-3)


@pytest.fixture
def marks(tmp_path: Path) -> tuple[Mark, ...]:
    file = tmp_path / "k.cu"
    file.write_text(SOURCE)
    return marks_in(file)


def test_marks_say_line_kind_place_and_element(marks: tuple[Mark, ...]) -> None:
    assert marks[:3] == (
        Mark(1, ("race",), needed=True, place="tile"),
        Mark(2, ("race", "uninitialized_read"), needed=False),
        Mark(3, ("illegal_address",), needed=True, place="y", element=-3),
    )


def test_what_is_marked_may_be_found(marks: tuple[Mark, ...]) -> None:
    assert complaint((RACE, STRAY), marks[:3]) is None
    assert complaint((Finding(FindingKind.RACE, "", line=1, buffer="tile"), STRAY), marks[:3]) is None


@pytest.mark.parametrize(
    ("findings", "says"),
    [
        ((), "nothing was found at line 1, 3"),
        ((RACE,), "nothing was found at line 3"),
        ((RACE, STRAY, Finding(FindingKind.RACE, "", line=5)), "nobody planted a race of 'None' at line 5"),
        ((RACE, STRAY, Finding(FindingKind.TRAP, "", line=1)), "nobody planted a trap"),
        ((Finding(FindingKind.RACE, "", line=1, buffer="row"),), "nobody planted a race of 'row'"),
        (
            (Finding(FindingKind.RACE, "", line=1, buffer="tile", other=OtherParty("read", line=3)),),
            "at line 3",
        ),
        ((Finding(FindingKind.TIMEOUT, ""),), "at line 0"),
        ((Finding(FindingKind.ILLEGAL_ADDRESS, "", line=3, buffer="y", element=4),), "at line 3"),
    ],
)
def test_what_is_not_marked_and_what_is_missing_are_complained_of(
    findings: tuple[Finding, ...], says: str, marks: tuple[Mark, ...]
) -> None:
    assert says in (complaint(findings, marks[:3]) or "")


def test_the_element_counts_only_where_turns_go_forward(marks: tuple[Mark, ...]) -> None:
    other = Finding(FindingKind.ILLEGAL_ADDRESS, "", line=3, buffer="y", element=4)
    assert complaint((RACE, other), marks[:3], with_element=False) is None
