"""Strength: what becomes of mutants, by judges made up for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from judged_kernels import axpy

from pytest_cudaopt import case
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Evaluation, Status
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.mutate.mutants import Mutant
from pytest_cudaopt.strength import Answer, Fate, Strength, answer_of, first_of, strength

WRONG = Answer("check", Status.WRONG_RESULT, "wrong")
RACES = Answer("sanitize", Status.FINDING, "races")
UNTOLD = Answer("check", Status.NOT_JUDGED, "cannot be executed")


def mutant(kernel: Kernel, source: str, kind: MutantKind = MutantKind.OFF_BY_ONE, line: int = 1) -> Mutant:
    start = kernel.start()
    changed = Candidate(start.file, source, start.launch, start.tunables)
    return Mutant(kind, line, "before", source, changed)


def saying(**answers: Answer) -> Callable[[Candidate], Answer | None]:
    return lambda candidate: answers.get(candidate.source)


def nothing(_candidate: Candidate) -> Answer | None:
    return None


def code_of(candidate: Candidate) -> str | None:
    return None if candidate.source.startswith("broken") else candidate.source.partition("_")[0]


def judged(kernel: Kernel, *sources: str, **answers: Callable[[Candidate], Answer | None]) -> Strength:
    found = [mutant(kernel, source, line=line) for line, source in enumerate(sources, 1)]
    return strength(kernel, found, answers.get("declared", nothing), answers.get("ladder", nothing), code_of)


def fates(found: Strength) -> dict[str, Fate]:
    return {one.mutant.after: one.fate for one in found.judged}


def test_each_mutant_is_killed_by_the_first_that_notices_it(tmp_path: Path) -> None:
    asked: list[str] = []

    def ladder(candidate: Candidate) -> Answer | None:
        asked.append(candidate.source)
        return saying(a=RACES, b=RACES)(candidate)

    found = judged(axpy(tmp_path), "a", "b", "c", declared=saying(a=WRONG), ladder=ladder)

    assert fates(found) == {"a": Fate.DECLARED, "b": Fate.LADDER, "c": Fate.SURVIVED}
    assert [one.answer for one in found.judged] == [WRONG, RACES, None]
    # The declared cases are the ladder's first stage.
    assert asked == ["b", "c"]
    assert (found.killed_by_declared(), found.killed_by_ladder(), found.of()) == (1, 2, 3)


def test_what_cannot_be_judged_counts_neither_way(tmp_path: Path) -> None:
    found = judged(
        axpy(tmp_path), "a", "b", "c", declared=saying(a=UNTOLD, b=UNTOLD), ladder=saying(b=RACES, c=UNTOLD)
    )

    assert fates(found) == {"a": Fate.NOT_JUDGED, "b": Fate.LADDER, "c": Fate.NOT_JUDGED}
    assert (found.killed_by_ladder(), found.of()) == (1, 1)


def test_equal_code_and_what_does_not_compile_are_dropped_and_counted(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    start = kernel.start().source
    found = judged(kernel, f"{start}_same", "a_1", "a_2", "broken", declared=saying(a_1=WRONG))

    assert fates(found) == {"a_1": Fate.DECLARED}
    assert (found.same, found.broken, found.left) == (2, 1, 0)


def test_another_launch_of_the_same_code_is_judged(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    start = kernel.start()
    changed = Candidate(start.file, start.source, start.launch.parse("grid=(1) block=(32)"), start.tunables)
    one = Mutant(MutantKind.CHANGED_LAUNCH, 1, "", "", changed)

    assert len(strength(kernel, [one], nothing, nothing, code_of).judged) == 1


def test_kinds_take_turns_until_the_time_is_over(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    kinds = [MutantKind.OFF_BY_ONE] * 3 + [MutantKind.WRONG_OPERATOR] * 3
    found = [mutant(kernel, f"{line}", kind, line) for line, kind in enumerate(kinds)]
    now = iter(range(100))
    done: list[tuple[int, int]] = []
    result = strength(
        kernel,
        found,
        nothing,
        nothing,
        code_of,
        seconds=3,
        progress=lambda *counts: done.append(counts),
        clock=lambda: float(next(now)),
    )

    assert [one.mutant.line for one in result.judged] == [0, 3]
    assert (result.left, done) == (4, [(1, 6), (2, 6)])


def test_a_kind_is_counted_by_itself(tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    found = [mutant(kernel, "a"), mutant(kernel, "b", MutantKind.WRONG_OPERATOR)]
    result = strength(kernel, found, saying(a=WRONG), nothing, code_of)

    assert [result.killed_by_ladder(kind) for kind in (MutantKind.OFF_BY_ONE, MutantKind.WRONG_OPERATOR)] == [
        1,
        0,
    ]
    assert result.of(MutantKind.DROPPED_GUARD) == 0


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        (Answer("fuzz", Status.FAULT, "", case(n=7, seed=3, measure=True)), case(n=7, seed=3)),
        (Answer("sanitize", Status.FINDING, "", case(n=100)), None),
        (RACES, None),
    ],
    ids=["a drawn case", "a declared case", "no case"],
)
def test_a_case_to_add_is_known_where_an_undeclared_one_killed(
    tmp_path: Path, answer: Answer, missing: Case | None
) -> None:
    kernel = axpy(tmp_path, cases=[case(n=100)])
    by_ladder = judged(kernel, "a", ladder=saying(a=answer))
    by_declared = judged(kernel, "a", declared=saying(a=answer))

    assert by_ladder.missing_case(by_ladder.judged[0]) == missing
    assert by_declared.missing_case(by_declared.judged[0]) is None


def test_the_first_kill_counts_and_later_stages_are_not_asked() -> None:
    def answers() -> object:
        yield None
        yield UNTOLD
        yield RACES
        raise AssertionError("asked for more")

    assert first_of(answers()) == RACES
    assert first_of(iter([None, UNTOLD, None])) == UNTOLD
    assert first_of(iter([None])) is None


def test_an_evaluation_is_an_answer_with_the_case_that_decided() -> None:
    outcomes = tuple(
        CaseOutcome(case(n=n), f"n{n}", status)
        for n, status in ((1, CaseStatus.PASSED), (2, CaseStatus.UNSUPPORTED), (3, CaseStatus.WRONG))
    )
    wrong = Evaluation("k", "", "sim", Status.WRONG_RESULT, "why", outcomes=outcomes)

    assert answer_of(wrong, "check") == Answer("check", Status.WRONG_RESULT, "why", case(n=3))
    assert answer_of(Evaluation("k", "", "sim", Status.ACCEPTED), "check") is None
    assert answer_of(Evaluation("k", "", "sim", Status.FAULT, "hung"), "check") == Answer(
        "check", Status.FAULT, "hung"
    )
