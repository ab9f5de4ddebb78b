"""The upper rungs: what a candidate must still survive once its declared cases are right.

Each stage holds the candidate against the starting kernel and stops at the first thing that the start can do
and the candidate cannot.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_cudaopt import batch, large_offsets
from pytest_cudaopt.allowance import Allowance
from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.differential import Challenger, Tested
from pytest_cudaopt.draw_cases import draws_of
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Plan, Stage, Tried
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.properties import Property
from pytest_cudaopt.rung import Rung, counted
from pytest_cudaopt.trials import Trial, available_families, trials_of

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.draw_sizes import Pick

# How many times as often values are ordinary as of any family.
_ORDINARY_SHARE = 2
# Cases that are tried to show a failure at smaller sizes.
_SMALLER = 24


def fuzz(challenger: Challenger, plan: Plan) -> Rung:
    """Draw sizes that keep the contract, with values of every family, and shrink what fails."""
    # Loads hypothesis, which only sessions that fuzz should pay for.
    from pytest_cudaopt.fuzz import Judged
    from pytest_cudaopt.fuzz import fuzz as fuzz_cases

    log = _Log(Stage.FUZZ, Allowance.of(Stage.FUZZ, plan.fuzz_examples, challenger.device))

    def judge(case: Case) -> Judged[CaseOutcome]:
        asked = Property.FUZZED_SIZES if case.values is None else case.values.property
        tested = log.ask(asked, lambda: challenger.stand(asked, case))
        if tested.outcome is None:
            return Judged(None, discarded=tested.why)
        outcome = tested.outcome
        timed_out = outcome.finding is not None and outcome.finding.kind is FindingKind.TIMEOUT
        return Judged(outcome, failed=outcome.status is not CaseStatus.PASSED, stops=timed_out)

    draw = _draws(challenger)
    fuzzed = fuzz_cases(draw, judge, plan.fuzz_examples, plan.fuzz_seed)
    failed = None if fuzzed.failed is None else challenger.explained(fuzzed.failed[1])
    return Rung(failed, log.tried)


def contract(challenger: Challenger, plan: Plan) -> Rung:
    """Ask for every property at cases made for it."""
    log = _Log(Stage.CONTRACT, Allowance.of(Stage.CONTRACT, plan.fuzz_examples, challenger.device))
    took_long: set[Property] = set()
    for trial in trials_of(challenger.kernel, challenger.witness, plan.fuzz_seed):
        if not challenger.owes(trial.property) or trial.property in took_long:
            continue
        tested = log.ask(trial.property, partial(challenger.stand, trial.property, trial.case))
        took_long |= {trial.property} if tested.took_long else set()
        if tested.outcome is not None and tested.outcome.status is not CaseStatus.PASSED:
            failed = _plainest(challenger, _smallest(challenger, trial, tested.outcome))
            return Rung(challenger.explained(failed), log.tried)
    unlike = _in_batches(challenger, plan, log)
    return Rung(unlike or _at_large_offsets(challenger, plan, log), log.tried)


def _in_batches(challenger: Challenger, plan: Plan, log: _Log) -> CaseOutcome | None:
    """Return what has other bits where fewer of the same rows are in a batch."""
    asked = Property.BATCH_INVARIANT
    parts = batch.parts_of(challenger.kernel, challenger.witness, plan.fuzz_seed)
    if challenger.owes(asked) and not parts:
        log.skip(asked, "no batch of the contract is cheap and has more than one row")
    for part in parts:
        outcome = log.ask(asked, partial(batch.stand, challenger, part)).outcome
        if outcome is not None and outcome.status is not CaseStatus.PASSED:
            return outcome
    return None


def _at_large_offsets(challenger: Challenger, plan: Plan, log: _Log) -> CaseOutcome | None:
    """Return what fails beyond 2^31 elements; smaller sizes or other values would not show it."""
    asked = Property.LARGE_OFFSETS
    if not challenger.owes(asked):
        return None
    if log.spent:
        log.skip(asked, log.spent)
        return None
    large = large_offsets.large_case(challenger.kernel, challenger.witness, plan.fuzz_seed)
    if large.case is None:
        log.skip(asked, large.why)
        return None
    outcome = log.ask(asked, partial(large_offsets.stand, challenger, large.case)).outcome
    return None if outcome is None or outcome.status is CaseStatus.PASSED else outcome


def _smallest(challenger: Challenger, trial: Trial, failed: CaseOutcome) -> CaseOutcome:
    """Return what fails for the same values at smaller sizes, if any that are tried do."""
    kernel, values = challenger.kernel, trial.case.values
    if values is None:
        return failed
    rng = random.Random(trial.case.seed)  # noqa: S311 - reproducible on purpose
    draw = draws_of(kernel, challenger.candidate)
    drawn = [replace(draw(rng.randint), values=values) for _ in range(_SMALLER)]
    sizes = {case: all_elements(kernel, kernel.all_sizes(case)) for case in (trial.case, *drawn)}
    for case in sorted(drawn, key=lambda one: sizes[one]):
        if sizes[case] >= sizes[trial.case]:
            break
        outcome = challenger.stand(trial.property, case).outcome
        if outcome is not None and outcome.status is not CaseStatus.PASSED:
            return outcome
    return failed


def _plainest(challenger: Challenger, failed: CaseOutcome) -> CaseOutcome:
    """Return what is wrong at the same sizes with ordinary values, if that is wrong too."""
    if failed.case.values is None:
        return failed
    ordinary = challenger.stand(Property.FUZZED_SIZES, replace(failed.case, values=None)).outcome
    return failed if ordinary is None or ordinary.status is CaseStatus.PASSED else ordinary


class _Log:
    """Counts how each property fared, as long as the stage may go on."""

    def __init__(self, stage: Stage, allowance: Allowance) -> None:
        self._stage = stage
        self._allowance = allowance
        self._tried: dict[Property, Tried] = {}

    def ask(self, asked: Property, trial: Callable[[], Tested]) -> Tested:
        """Make the trial, unless the stage has spent what it may take."""
        tested = Tested(None, self.spent) if self.spent else trial()
        before = self._tried.get(asked, Tried(self._stage, asked))
        now = counted(self._stage, asked, tested)
        self._tried[asked] = replace(
            before,
            judged=before.judged + now.judged,
            discarded=before.discarded + now.discarded,
            why=before.why or now.why,
        )
        return tested

    @property
    def spent(self) -> str:
        """Why nothing more is tried; empty as long as something may be."""
        return self._allowance.spent

    def skip(self, asked: Property, why: str) -> None:
        """Note that there is no trial of a property."""
        self._tried[asked] = Tried(self._stage, asked, why=why)

    @property
    def tried(self) -> tuple[Tried, ...]:
        return tuple(self._tried.values())


def _draws(challenger: Challenger) -> Callable[[Pick], Case]:
    """Return what draws a case: sizes of the contract, and values of a family that the candidate owes."""
    draw_sizes = draws_of(challenger.kernel, challenger.candidate)
    families = [
        family
        for family in available_families(challenger.kernel)
        # Places that no declared draw has may end a GPU's process: they are asked for one by one.
        if challenger.owes(family.property) and not (challenger.device.is_gpu and family.property.is_risky)
    ]
    ordinary = max(1, _ORDINARY_SHARE * len(families))

    def draw(pick: Pick) -> Case:
        case = draw_sizes(pick)
        chosen = pick(0, ordinary + len(families) - 1) - ordinary
        return case if chosen < 0 else replace(case, values=families[chosen])

    return draw
