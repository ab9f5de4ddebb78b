"""What a candidate would compute without rounding, beside what the starting kernel would: another formula.

Evidence, no verdict: another polynomial for the same function is a gap too, and tolerances say what is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.rounding_error import ErrorSplit, is_logic_error
from pytest_cudaopt.run import configure
from pytest_cudaopt.shadow_run import rounding_of
from pytest_cudaopt.tripwire import Tripwire, TripwireKind

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.case_judge import CaseJudge
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import CaseOutcome

_Splits = tuple[ErrorSplit, ...]
# The start is asked once for all candidates of a session.
_KNOWN: WeakKeyDictionary[Device, dict[tuple[Kernel, str, Case], _Splits]] = WeakKeyDictionary()


def logic_gaps(judge: CaseJudge, start: Candidate, outcomes: Iterable[CaseOutcome]) -> tuple[Tripwire, ...]:
    """Return one tripwire for each output that is further from its reference than the start's, unrounded.

    By `is_logic_error`, at the cases whose errors were split. Raises as `pipeline.evaluate` does.
    """
    if start.digest == judge.candidate.digest:
        return ()
    worst: dict[str, tuple[ErrorSplit, ErrorSplit, str]] = {}
    for outcome in outcomes:
        for own, starts in _pairs(judge, start, outcome):
            known = worst.get(own.output)
            is_worse = known is None or own.relative_logic > known[0].relative_logic
            if is_logic_error(own, starts) and is_worse:
                worst[own.output] = own, starts, outcome.case_id
    return tuple(_tripwire(*found) for found in worst.values())


def _pairs(
    judge: CaseJudge, start: Candidate, outcome: CaseOutcome
) -> Iterator[tuple[ErrorSplit, ErrorSplit]]:
    if outcome.sanitized is None or not outcome.sanitized.errors:
        return
    starts = {one.output: one for one in _splits_of(judge, start, outcome.case)}
    for own in outcome.sanitized.errors:
        if own.output in starts:
            yield own, starts[own.output]


def _splits_of(judge: CaseJudge, start: Candidate, case: Case) -> _Splits:
    known = _KNOWN.setdefault(judge.device, {})
    key = (judge.kernel, start.digest, case)
    if key not in known:
        known[key] = _split(judge, start, case)
    return known[key]


def _split(judge: CaseJudge, start: Candidate, case: Case) -> _Splits:
    sim, budget = judge.device.on_sim, judge.plan.budget
    compiled = compile_candidate(judge.kernel, start, sim, budget, judge.cases)
    if isinstance(compiled, CompileFailure):
        return ()
    prepared = prepare(judge.kernel, case, judge.device)
    launch = configure(start, prepared, compiled, judge.device)
    return () if isinstance(launch, Finding) else rounding_of(prepared, compiled, launch, sim, budget)[0]


def _tripwire(own: ErrorSplit, start: ErrorSplit, case_id: str) -> Tripwire:
    message = (
        f"without any rounding '{own.output}' would be off its reference by {own.relative_logic:.2g} of its "
        f"largest value, that of the starting kernel by {start.relative_logic:.2g} (at {case_id}): another "
        "formula or constant, or a mistake that the tolerance hides"
    )
    return Tripwire(TripwireKind.OTHER_FORMULA, own.output, message)
