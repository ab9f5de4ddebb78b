"""What a model may know of a failure beyond the declared cases: the property, not the sizes or values.

Whoever is told the case that fails can write a kernel for that case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import CaseStatus

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import CaseOutcome, Evaluation


def lost_outcome(evaluation: Evaluation) -> CaseOutcome | None:
    """Return the outcome at a case that nobody declared, if that is what decided."""
    failed = (one for one in evaluation.outcomes if one.status is not CaseStatus.PASSED)
    return next((one for one in failed if one.lost is not None), None)


def reason(evaluation: Evaluation) -> str:
    """Return the evaluation's reason, without the case if that is held out."""
    outcome = lost_outcome(evaluation)
    if outcome is None or outcome.lost is None:
        return evaluation.reason
    return (
        f"lost property {outcome.lost}: the starting kernel is right {outcome.lost.meaning}, this one is not"
        f"{_how(outcome)}"
    )


def _how(outcome: CaseOutcome) -> str:
    finding = outcome.finding
    if finding is None:
        return f" ({outcome.status.value})"
    line = "" if finding.line is None else f", line {finding.line}"
    access = f", {finding.access} of '{finding.buffer}'" if finding.buffer and finding.access else ""
    return f" ({finding.kind.value}{access}{line})"
