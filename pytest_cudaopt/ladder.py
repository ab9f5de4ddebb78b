"""The upper rungs: what a candidate must still survive once its declared cases are right.

Each stage holds the candidate against the starting kernel and stops at the first thing that the start can do
and the candidate cannot.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cudaopt import large_offsets
from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.checked import Checked
from pytest_cudaopt.differential import Challenger, Tested
from pytest_cudaopt.draw_cases import draws_of
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Plan, Stage, Tried
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.precision import computes_narrowly, lost_precision
from pytest_cudaopt.probe import Probed, relaunch, repeat, times_on
from pytest_cudaopt.properties import Property
from pytest_cudaopt.trials import Trial, available_families, trials_of

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.draw_sizes import Pick

# How many times as often values are ordinary as of any family.
_ORDINARY_SHARE = 2
# Cases that are tried to show a failure at smaller sizes.
_SMALLER = 24
_OUT_OF_BOUNDS = (Property.INTEGER_RANGE,)
# Warp instructions of a launch that is repeated in every order.
_MOST_REPEATED = 2_000_000


@dataclass(frozen=True)
class Rung:
    """What a stage came to: the outcome that fails the candidate, if any, and what was tried."""

    failed: CaseOutcome | None
    tried: tuple[Tried, ...]


def probe(challenger: Challenger, checked: Iterable[CaseOutcome]) -> Rung:
    """Launch the smallest case that was right many times, and a larger one in several orders."""
    right = [outcome for outcome in checked if outcome.status is CaseStatus.PASSED and outcome.launch]
    right = [outcome for outcome in right if outcome.launch is not None and not outcome.launch.is_empty]
    if not right:
        return Rung(None, ())
    right.sort(key=lambda outcome: _instructions(outcome) or 0)
    tried: list[Tried] = []
    for asked, outcome in ((Property.RELAUNCH, right[0]), (Property.REPEATABLE, _most_blocks(right))):
        if not challenger.owes(asked):
            continue
        found = _probe_one(challenger, asked, outcome)
        tried.append(_count(Stage.PROBE, asked, found))
        if found.outcome is not None and found.outcome.status is not CaseStatus.PASSED:
            return Rung(found.outcome, tuple(tried))
    precise = _precision(challenger, right)
    tried += [] if precise is None else [_count(Stage.PROBE, Property.PRECISION, precise)]
    failed = None if precise is None or precise.outcome is None else precise.outcome
    return Rung(None if failed is None or failed.lost is None else failed, tuple(tried))


def _precision(challenger: Challenger, right: list[CaseOutcome]) -> Tested | None:
    """Look at rounding where the code computes with fewer bits than the start's; None where it does not."""
    narrow = computes_narrowly(challenger.tripwires)
    if narrow is None or not challenger.owes(Property.PRECISION):
        return None
    outcome = _most_blocks(right)
    observed = challenger.observed(Property.PRECISION, outcome.case)
    if not observed.holds:
        return Tested(None, observed.why)
    lost = lost_precision(challenger.check(outcome.case), observed, narrow)
    return Tested(lost or outcome)


def fuzz(challenger: Challenger, plan: Plan) -> Rung:
    """Draw sizes that keep the contract, with values of every family, and shrink what fails."""
    # Loads hypothesis, which only sessions that fuzz should pay for.
    from pytest_cudaopt.fuzz import Judged
    from pytest_cudaopt.fuzz import fuzz as fuzz_cases

    log = _Log(Stage.FUZZ)

    def judge(case: Case) -> Judged[CaseOutcome]:
        asked = Property.FUZZED_SIZES if case.values is None else case.values.property
        tested = log.add(asked, challenger.stand(asked, case))
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
    log = _Log(Stage.CONTRACT)
    took_long: set[Property] = set()
    for trial in trials_of(challenger.kernel, challenger.witness, plan.fuzz_seed):
        if not challenger.owes(trial.property) or trial.property in took_long:
            continue
        tested = log.add(
            trial.property, challenger.stand(trial.property, trial.case, start_first=trial.is_risky)
        )
        took_long |= {trial.property} if tested.took_long else set()
        if tested.outcome is not None and tested.outcome.status is not CaseStatus.PASSED:
            failed = _plainest(challenger, _smallest(challenger, trial, tested.outcome))
            return Rung(challenger.explained(failed), log.tried)
    return Rung(_at_large_offsets(challenger, plan, log), log.tried)


def _at_large_offsets(challenger: Challenger, plan: Plan, log: _Log) -> CaseOutcome | None:
    """Return what fails beyond 2^31 elements; smaller sizes or other values would not show it."""
    asked = Property.LARGE_OFFSETS
    if not challenger.owes(asked):
        return None
    large = large_offsets.large_case(challenger.kernel, challenger.witness, plan.fuzz_seed)
    if large.case is None:
        log.skip(asked, large.why)
        return None
    outcome = log.add(asked, large_offsets.stand(challenger, large.case)).outcome
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
        outcome = challenger.stand(trial.property, case, start_first=trial.is_risky).outcome
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
    """Counts how each property fared."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._tried: dict[Property, Tried] = {}

    def add(self, asked: Property, tested: Tested) -> Tested:
        before = self._tried.get(asked, Tried(self._stage, asked))
        now = _count(self._stage, asked, tested)
        self._tried[asked] = replace(
            before,
            judged=before.judged + now.judged,
            discarded=before.discarded + now.discarded,
            why=before.why or now.why,
        )
        return tested

    def skip(self, asked: Property, why: str) -> None:
        """Note that there is no trial of a property."""
        self._tried[asked] = Tried(self._stage, asked, why=why)

    @property
    def tried(self) -> tuple[Tried, ...]:
        return tuple(self._tried.values())


def _count(stage: Stage, asked: Property, tested: Tested) -> Tried:
    judged = tested.outcome is not None
    return Tried(stage, asked, judged=int(judged), discarded=int(not judged), why=tested.why)


def _draws(challenger: Challenger) -> Callable[[Pick], Case]:
    """Return what draws a case: sizes of the contract, and values of a family that the candidate owes."""
    draw_sizes = draws_of(challenger.kernel, challenger.candidate)
    families = [
        family
        for family in available_families(challenger.kernel)
        # Places that no declared draw has may end a GPU's process: they are asked for one by one.
        if challenger.owes(family.property)
        and not (challenger.device.is_gpu and family.property in _OUT_OF_BOUNDS)
    ]
    ordinary = max(1, _ORDINARY_SHARE * len(families))

    def draw(pick: Pick) -> Case:
        case = draw_sizes(pick)
        chosen = pick(0, ordinary + len(families) - 1) - ordinary
        return case if chosen < 0 else replace(case, values=families[chosen])

    return draw


def _probe_one(challenger: Challenger, asked: Property, outcome: CaseOutcome) -> Tested:
    checked = challenger.check(outcome.case)
    probed = _probed(challenger, asked, checked)
    if probed.holds:
        return Tested(outcome)
    if not challenger.requires(asked):
        start = challenger.check_start(outcome.case)
        if start is None or not start.passed or not _probed(challenger, asked, start).holds:
            return Tested(None, f"at {outcome.case}: the starting kernel fails there: {probed.note}")
    status = CaseStatus.FAULT if probed.fault is not None else CaseStatus.LOST
    found = () if probed.fault is None else (probed.fault,)
    return Tested(
        replace(
            outcome,
            status=status,
            findings=found,
            comparisons=probed.comparisons,
            note=probed.note,
            lost=asked,
        )
    )


def _probed(challenger: Challenger, asked: Property, checked: Checked) -> Probed:
    """Probe what `checked` launched."""
    if checked.launch is None:
        return Probed()
    device, budget = challenger.device, challenger.budget
    if asked is Property.REPEATABLE:
        return repeat(checked.prepared, checked.compiled, checked.launch, device, budget)
    times = times_on(device, _instructions(checked.outcome))
    return relaunch(checked.prepared, checked.compiled, checked.launch, device, budget, times)


def _most_blocks(outcomes: list[CaseOutcome]) -> CaseOutcome:
    """Return the case with most blocks among those that are cheap enough to repeat."""
    cheap = [one for one in outcomes if (_instructions(one) or 0) <= _MOST_REPEATED] or outcomes[:1]
    return max(cheap, key=_blocks)


def _blocks(outcome: CaseOutcome) -> int:
    return 0 if outcome.launch is None else outcome.launch.grid[0] * outcome.launch.grid[1]


def _instructions(outcome: CaseOutcome) -> int | None:
    """Return the warp instructions a launch of the case executes, where the device counts."""
    if outcome.counters is None:
        return None
    return sum(int(number) for number in outcome.counters["warp_instructions"].values())
