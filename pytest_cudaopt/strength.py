"""How much the tests of a kernel notice: which mutants the declared cases kill, and which the whole ladder.

Knows neither devices nor stages: what compiles and what judges is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import CaseStatus, Evaluation, Status
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.mutate.mutants import Mutant, by_turns


class Fate(StrEnum):
    """What became of a mutant; the declared cases come first."""

    DECLARED = "declared"
    LADDER = "ladder"
    SURVIVED = "survived"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True)
class Answer:
    """What a judge says of a mutant it did not let pass.

    `status` NOT_JUDGED says that it could not tell. `stage` is the ladder's; `case` is where it was seen,
    None for what has no case.
    """

    stage: str
    status: Status
    reason: str
    case: Case | None = None

    @property
    def is_kill(self) -> bool:
        return self.status is not Status.NOT_JUDGED


# None for a candidate it finds nothing wrong with.
Judge = Callable[[Candidate], Answer | None]
# Tells equal programs: the compiled code, None for a source that does not compile.
CodeOf = Callable[[Candidate], str | None]
# Mutants looked at, and of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Judged:
    """A mutant and its fate, with the answer that decided it, if one did."""

    mutant: Mutant
    fate: Fate
    answer: Answer | None = None


@dataclass(frozen=True)
class Strength:
    """Every mutant that was judged, in the order of its lines, and how many were not.

    `same` compile to the code of the kernel itself or of another mutant, `broken` do not compile, for `left`
    there was no time.
    """

    kernel: str
    judged: tuple[Judged, ...]
    declared: tuple[Case, ...] = ()
    same: int = 0
    broken: int = 0
    left: int = 0
    seconds: float = 0.0

    def missing_case(self, one: Judged) -> Case | None:
        """Return the case that is to be declared for `one` to be noticed, if one is known."""
        case = None if one.answer is None else one.answer.case
        if one.fate is not Fate.LADDER or case is None or case in self.declared:
            return None
        return replace(case, measure=False, weight=1.0, label=None)

    @property
    def decided(self) -> tuple[Judged, ...]:
        """Those of which the ladder can tell whether they are right."""
        return tuple(one for one in self.judged if one.fate is not Fate.NOT_JUDGED)

    def killed_by_declared(self, kind: MutantKind | None = None) -> int:
        return sum(one.fate is Fate.DECLARED for one in self._of(kind))

    def killed_by_ladder(self, kind: MutantKind | None = None) -> int:
        """Count what any stage kills: the declared cases are the ladder's first."""
        return sum(one.fate is not Fate.SURVIVED for one in self._of(kind))

    def of(self, kind: MutantKind | None = None) -> int:
        return len(self._of(kind))

    def _of(self, kind: MutantKind | None) -> list[Judged]:
        return [one for one in self.decided if kind in (None, one.mutant.kind)]


def strength(
    kernel: Kernel,
    mutants: Iterable[Mutant],
    judge_declared: Judge,
    judge_ladder: Judge,
    code_of: CodeOf,
    *,
    seconds: float | None = None,
    progress: Progress = lambda _done, _of: None,
    clock: Callable[[], float] = time.monotonic,
) -> Strength:
    """Judge every mutant until `seconds` are over: by the declared cases, and what survives by the ladder.

    The kinds take turns, so that no kind is left out for lack of time. Raises what the judges raise.
    """
    began = clock()
    waiting = by_turns(mutants)
    found: list[Judged] = []
    left = same = broken = 0
    known = {(code_of(start), _launch(start)) for start in (kernel.start(),)}
    for number, mutant in enumerate(waiting):
        if seconds is not None and clock() - began >= seconds:
            left = len(waiting) - number
            break
        code = code_of(mutant.candidate)
        if code is None:
            broken += 1
        elif (code, _launch(mutant.candidate)) in known:
            same += 1
        else:
            known.add((code, _launch(mutant.candidate)))
            found.append(_judge(mutant, judge_declared, judge_ladder))
        progress(number + 1, len(waiting))
    found.sort(key=lambda one: one.mutant.line)
    return Strength(kernel.name, tuple(found), kernel.cases, same, broken, left, clock() - began)


def first_of(answers: Iterator[Answer | None]) -> Answer | None:
    """Return the first kill, else what could not be judged, else None; later answers are not asked for."""
    undecided: Answer | None = None
    for answer in answers:
        if answer is not None and answer.is_kill:
            return answer
        undecided = undecided or answer
    return undecided


def answer_of(evaluation: Evaluation, stage: str) -> Answer | None:
    """Return an evaluation as a judge's answer; None if nothing was found."""
    if evaluation.accepted:
        return None
    failed = [one for one in evaluation.outcomes if one.status is not CaseStatus.PASSED]
    # Of a failure beside a case that could not be judged, the failure decided.
    failed.sort(key=lambda one: one.status is CaseStatus.UNSUPPORTED)
    case = failed[0].case if failed else None
    return Answer(stage, evaluation.status, evaluation.reason, case)


def _judge(mutant: Mutant, judge_declared: Judge, judge_ladder: Judge) -> Judged:
    answer = judge_declared(mutant.candidate)
    if answer is not None and answer.is_kill:
        return Judged(mutant, Fate.DECLARED, answer)
    further = judge_ladder(mutant.candidate)
    if further is not None and further.is_kill:
        return Judged(mutant, Fate.LADDER, further)
    if answer is not None or further is not None:
        return Judged(mutant, Fate.NOT_JUDGED, answer or further)
    return Judged(mutant, Fate.SURVIVED)


def _launch(candidate: Candidate) -> tuple[str, ...]:
    return tuple(candidate.launch.directives())
