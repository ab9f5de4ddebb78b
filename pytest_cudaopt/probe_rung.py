"""The first rung: right cases launched again and again, in other orders, and the rounding of narrow code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_cudaopt.checked import Checked
from pytest_cudaopt.decoys import among_decoys
from pytest_cudaopt.differential import Challenger, Tested
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Stage, Tried
from pytest_cudaopt.precision import computes_narrowly, lost_precision
from pytest_cudaopt.probe import relaunch, repeat, times_on
from pytest_cudaopt.probed import Probed
from pytest_cudaopt.properties import Property
from pytest_cudaopt.rung import Rung, counted

# Warp instructions of a launch that is repeated in every order.
_MOST_REPEATED = 2_000_000


def probe(challenger: Challenger, checked: Iterable[CaseOutcome]) -> Rung:
    """Launch the smallest case that was right many times, and a larger one in several orders."""
    right = [outcome for outcome in checked if outcome.status is CaseStatus.PASSED and outcome.launch]
    right = [outcome for outcome in right if outcome.launch is not None and not outcome.launch.is_empty]
    if not right:
        return Rung(None, ())
    right.sort(key=lambda outcome: _instructions(outcome) or 0)
    tried: list[Tried] = []
    probes = (
        (Property.RELAUNCH, right[0]),
        (Property.DECOYS, right[0]),
        (Property.REPEATABLE, _most_blocks(right)),
    )
    for asked, outcome in probes:
        if not challenger.owes(asked):
            continue
        found = _probe_one(challenger, asked, outcome)
        tried.append(counted(Stage.PROBE, asked, found))
        if found.outcome is not None and found.outcome.status is not CaseStatus.PASSED:
            return Rung(found.outcome, tuple(tried))
    precise = _precision(challenger, right)
    tried += [] if precise is None else [counted(Stage.PROBE, Property.PRECISION, precise)]
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


def _probe_one(challenger: Challenger, asked: Property, outcome: CaseOutcome) -> Tested:
    checked = challenger.check(outcome.case)
    probed = _probed(challenger, asked, checked)
    if probed.holds:
        return Tested(None, f"at {outcome.case}: {probed.untried}") if probed.untried else Tested(outcome)
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
    match asked:
        case Property.REPEATABLE:
            return repeat(checked.prepared, checked.compiled, checked.launch, device, budget)
        case Property.DECOYS:
            return among_decoys(checked.prepared, checked.compiled, checked.launch, device, budget)
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
