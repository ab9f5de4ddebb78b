"""An attempt's `log.txt`: what was judged and how it ended, for a person who reads the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.latency_text import format_latency

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import CaseOutcome
    from pytest_cudaopt.optimize.attempt import Attempt


def text(attempt: Attempt) -> str:
    """Return verdict, compiler messages, resources, a line per case and seconds per stage."""
    evaluation = attempt.evaluation
    lines = [
        f"attempt {attempt.number}: {attempt.label}",
        f"verdict: {evaluation.status.value}: {evaluation.reason}",
        f"decision: {attempt.verdict.decision.value}: {attempt.verdict.reason}",
        *(str(diagnostic) for diagnostic in evaluation.diagnostics),
    ]
    for entry, resources in evaluation.resources.items():
        spilled = resources.spill_store_bytes + resources.spill_load_bytes
        lines.append(
            f"resources of {entry}: {resources.registers} registers, {spilled} bytes spilled, "
            f"{resources.static_shared_bytes} bytes of static shared memory"
        )
    if evaluation.limits is not None:
        lines.append(", ".join([evaluation.limits.text, *map(str, evaluation.limits.waived)]))
    lines += [_case(outcome) for outcome in evaluation.outcomes]
    lines += [f"{stage}: {seconds:.3f} s" for stage, seconds in evaluation.seconds]
    return "\n".join(lines) + "\n"


def _case(outcome: CaseOutcome) -> str:
    parts = [f"case {outcome.case_id}: {outcome.status.value}"]
    if outcome.launch is not None:
        parts.append(str(outcome.launch))
    if outcome.latency is not None:
        parts += [format_latency(outcome.latency), *outcome.latency.notes]
    parts += [finding.message for finding in outcome.findings]
    if outcome.sanitized is not None:
        parts += [str(waived) for waived in outcome.sanitized.waived]
        parts += [
            *outcome.sanitized.notes,
            *([outcome.sanitized.skipped] if outcome.sanitized.skipped else []),
        ]
    return ", ".join(parts)
