"""How the strength of a suite reads."""

from __future__ import annotations

import json
from pathlib import Path

from judged_kernels import axpy

from pytest_cudaopt import case
from pytest_cudaopt.evaluation import Status
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.mutate.mutants import Mutant
from pytest_cudaopt.strength import Answer, Fate, Judged, Strength
from pytest_cudaopt.strength_report import strength_json, strength_lines
from pytest_cudaopt.table import Mood


def found(folder: Path) -> Strength:
    kernel = axpy(folder, cases=[case(n=256)])
    start = kernel.start()

    def judged(
        kind: MutantKind, line: int, before: str, after: str, fate: Fate, answer: Answer | None = None
    ) -> Judged:
        return Judged(Mutant(kind, line, before, after, start), fate, answer)

    drawn = Answer("fuzz", Status.FAULT, "case n7: writes y[7]", case(n=7, seed=1))
    races = Answer("sanitize", Status.FINDING, "case n256: races", case(n=256))
    untold = Answer("check", Status.NOT_JUDGED, "case n256: cannot be executed", case(n=256))
    wrong = Answer("check", Status.WRONG_RESULT, "case n256: differs", case(n=256))
    guard, barrier, launch = (
        MutantKind.DROPPED_GUARD,
        MutantKind.MISSING_BARRIER,
        MutantKind.CHANGED_LAUNCH,
    )
    return Strength(
        "axpy",
        (
            judged(launch, 0, "@launch a", "@launch b", Fate.SURVIVED),
            judged(guard, 5, "if (i < n) {", "if (true) {", Fate.LADDER, drawn),
            judged(guard, 6, "y[i] = 1;", "y[i] = 2;", Fate.DECLARED, wrong),
            judged(barrier, 7, "__syncthreads();", ";", Fate.LADDER, races),
            judged(barrier, 8, "__syncwarp();", ";", Fate.NOT_JUDGED, untold),
        ),
        kernel.cases,
        same=2,
        broken=1,
        left=3,
        seconds=4.2,
    )


def test_counts_come_first_then_what_was_missed(tmp_path: Path) -> None:
    lines = strength_lines(found(tmp_path), "axpy.cu", "sim")

    assert "\n".join("".join(piece for piece, _ in line).rstrip() for line in lines) == (
        """axpy on sim: 5 mutants judged in 4 s; 2 with the same code as another; \
1 that the compiler refuses; 3 left for lack of time
  killed by         mutants  declared    ladder
  dropped guard           2         1         2
  missing barrier         1         0         1
  changed launch          1         0         0
  all                     4         1         3

The declared cases miss, a later stage kills:
  axpy.cu:5  dropped guard
    - if (i < n) {
    + if (true) {
    killed by fuzz (fault): case n7: writes y[7]
    a case that kills it: case(n=7, seed=1)
  axpy.cu:7  missing barrier
    - __syncthreads();
    + ;
    killed by sanitize (finding): case n256: races

Nothing kills (right in another way, or no case is large, odd or hostile enough):
  launch=  changed launch
    - @launch a
    + @launch b

Could not be judged:
  axpy.cu:8  missing barrier
    - __syncwarp();
    + ;
    not judged by check: case n256: cannot be executed"""
    )


def test_a_count_that_is_not_all_warns(tmp_path: Path) -> None:
    (row,) = [line for line in strength_lines(found(tmp_path), "f", "sim") if "dropped guard " in line[0][0]]
    assert [(piece.strip(), mood) for piece, mood in row[1:] if piece.strip()] == [
        ("1", Mood.WARNING),
        ("2", Mood.GOOD),
    ]


def test_nothing_to_change_is_a_table_of_nothing() -> None:
    lines = strength_lines(Strength("k", ()), "k.cu", "sim")
    assert ["".join(piece for piece, _ in line).split() for line in lines[1:]] == [
        ["killed", "by", "mutants", "declared", "ladder"],
        ["all", "0", "0", "0"],
    ]


def test_json_says_of_each_mutant_what_killed_it(tmp_path: Path) -> None:
    answer = json.loads(json.dumps(strength_json(found(tmp_path), "sim"), allow_nan=False))
    launch, guard, known, barrier, _ = answer.pop("mutants")

    assert answer == {
        "schema": 1,
        "kernel": "axpy",
        "device": "sim",
        "declared": {"killed": 1, "of": 4},
        "ladder": {"killed": 3, "of": 4},
        "dropped": {"same_code": 2, "not_compiled": 1, "no_time": 3},
        "seconds": 4.2,
    }
    assert guard == {
        "kind": "dropped guard",
        "line": 5,
        "before": "if (i < n) {",
        "after": "if (true) {",
        "fate": "ladder",
        "stage": "fuzz",
        "status": "fault",
        "reason": "case n7: writes y[7]",
        "case": "case(n=7, seed=1)",
        "case_to_add": "case(n=7, seed=1)",
    }
    assert (launch["line"], launch["fate"], launch["stage"], launch["case"]) == (None, "survived", None, None)
    assert (known["fate"], known["case"], known["case_to_add"]) == ("declared", "case(n=256)", None)
    assert (barrier["case"], barrier["case_to_add"]) == ("case(n=256)", None)
