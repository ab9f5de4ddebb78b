"""A verdict in one sentence, for a person: what is right, or the first thing that is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, LatencyKind


def praise(outcomes: Sequence[CaseOutcome], checked: int) -> str:
    """Say what was found right; `checked` counts the cases that were compared with the reference."""
    parts = [f"right on {count(checked, 'case')}"] if checked else []
    sanitized = sum(o.sanitized is not None and o.sanitized.is_done for o in outcomes)
    if sanitized:
        waived = sum(len(o.sanitized.waived) for o in outcomes if o.sanitized is not None)
        but = f" but {waived} waived" if waived else ""
        parts.append(f"no findings{but} on {count(sanitized, 'case')}")
    measured = [outcome.latency for outcome in outcomes if outcome.latency is not None]
    if measured:
        verb = "measured" if measured[0].kind is LatencyKind.MEASURED else "modelled"
        parts.append(f"latency {verb} on {count(len(measured), 'case')}")
    return ", ".join(parts) or "compiled"


def blame(outcome: CaseOutcome) -> str:
    """Say what failed the case."""
    is_lost = outcome.lost is not None and outcome.lost.is_beyond_contract
    if is_lost and outcome.status is not CaseStatus.WRONG:
        return f"lost property {outcome.lost}: {_blame(replace(outcome, lost=None))}"
    return _blame(outcome)


def _blame(outcome: CaseOutcome) -> str:
    if outcome.finding is not None and outcome.status is not CaseStatus.WRONG:
        more = len(outcome.findings) - 1
        rest = f" (and {count(more, 'more finding')})" if more else ""
        return f"case {outcome.case_id}: {outcome.finding.message}{rest}"
    note = f"{outcome.note}: " if outcome.note else ""
    wrong = next((c for c in outcome.comparisons if not c.matches), None)
    if wrong is None or wrong.worst is None:
        return f"case {outcome.case_id}: {outcome.note or outcome.status}"
    worst = wrong.worst
    verb = f"are wrong by {wrong.judged_by}" if wrong.judged_by else "differ"
    expected = "" if worst.expected is None else f"expected {_text(worst.expected)}, "
    behind = "" if outcome.finding is None else f"; {outcome.finding.kind}: {outcome.finding.message}"
    return (
        f"case {outcome.case_id}: {note}{wrong.mismatched} of {count(wrong.elements, 'element')} of "
        f"'{wrong.output}' {verb}, worst at {list(worst.index)}: {expected}got {_text(worst.got)}{behind}"
    )


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number of things."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _text(value: float | int | bool) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
