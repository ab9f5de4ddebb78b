"""What a model is told about a judged attempt: why it failed, or how fast it is and what binds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.evaluation import CaseStatus, LatencyKind
from pytest_cudaopt.latency_text import format_latency
from pytest_cudaopt.optimize import comparing, held_out

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import CaseOutcome, Evaluation, Latency
    from pytest_cudaopt.optimize.attempt import Attempt

_MOST_CHARACTERS = 6000
_SHOWN_TERMS = 3


def text(kernel: Kernel, attempt: Attempt, incumbent: Attempt) -> str:
    """Return verdict, evidence and latencies of `attempt` beside those of `incumbent`, bounded in length."""
    lines = [f"Attempt {attempt.number}: {attempt.verdict.decision.value}: {attempt.verdict.reason}"]
    if not attempt.evaluation.accepted:
        lines += _failure(kernel, attempt)
    lines += _latencies(attempt, incumbent)
    lines += _resources(attempt.evaluation)
    whole = "\n".join(lines)
    return whole if len(whole) <= _MOST_CHARACTERS else f"{whole[:_MOST_CHARACTERS]}\n(cut)"


def _failure(kernel: Kernel, attempt: Attempt) -> list[str]:
    """Return the failure as a person reads it, at the smallest failing case only; none of held-out cases."""
    evaluation = attempt.evaluation
    failed = [one for one in evaluation.outcomes if one.status is not CaseStatus.PASSED]
    smallest = min(failed, key=_cells, default=None)
    shown = evaluation if smallest is None else replace(evaluation, outcomes=(smallest,))
    if attempt.proposal.candidate is None or held_out.lost_outcome(evaluation) is not None:
        return []
    return [report.describe_evaluation(kernel, attempt.candidate, shown, kernel.source.parent).text]


def _cells(outcome: CaseOutcome) -> int:
    cells = 1
    for size in outcome.case.by_name.values():
        cells *= max(1, size)
    return cells


def _latencies(attempt: Attempt, incumbent: Attempt) -> list[str]:
    # Beside itself the best would only say 1.000x.
    is_itself = attempt.number == incumbent.number
    pairs = {} if is_itself else comparing.case_ns(attempt.evaluation, incumbent.evaluation)
    lines = []
    for case_id, latency in attempt.evaluation.latencies.items():
        line = f"  {case_id}: {format_latency(latency)}"
        if case_id in pairs:
            own_ns, other_ns = pairs[case_id]
            line += f", {own_ns / other_ns:.3f}x of attempt {incumbent.number} (the best so far)"
        lines.append(line + _uncertainty(latency) + _limit(latency))
    return ["Latencies:", *lines] if lines else []


def _uncertainty(latency: Latency) -> str:
    if latency.kind is LatencyKind.MODELLED:
        return ""
    sampling = latency.sampling
    return "" if sampling is None else f", spread {100 * sampling.relative_iqr:.1f} % (IQR)"


def _limit(latency: Latency) -> str:
    """Say which limit binds, and the largest terms of the model."""
    if latency.bound is None:
        return ""
    largest = sorted(latency.terms_ns, key=lambda term: -term[1])[:_SHOWN_TERMS]
    terms = ", ".join(f"{name} {ns / 1e3:.2f} us" for name, ns in largest)
    return f", bound by {latency.bound} ({terms})"


def _resources(evaluation: Evaluation) -> list[str]:
    return [
        f"  {entry}: {used.registers} registers, "
        f"{used.spill_store_bytes + used.spill_load_bytes} bytes spilled, "
        f"{used.static_shared_bytes} bytes of static shared memory"
        for entry, used in evaluation.resources.items()
    ]
