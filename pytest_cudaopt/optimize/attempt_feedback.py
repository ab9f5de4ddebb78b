"""What a model is told about a judged attempt: why it failed, or how fast it is and what that is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import directives, report
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import CaseStatus, LatencyKind
from pytest_cudaopt.latency_text import format_latency
from pytest_cudaopt.optimize import comparing, floor, held_out, model_terms
from pytest_cudaopt.optimize.tuner import Space

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import CaseOutcome, Evaluation, Latency
    from pytest_cudaopt.optimize.attempt import Attempt

_MOST_CHARACTERS = 6000
_SHOWN_TERMS = 5
_SHOWN_SETTINGS = 8
# A term without which less than this share would be won is not worth a word.
_LEAST_GAIN = 0.001


def text(kernel: Kernel, attempt: Attempt, incumbent: Attempt) -> str:
    """Return verdict, evidence and latencies of `attempt` beside those of `incumbent`, bounded in length."""
    lines = [f"Attempt {attempt.number}: {attempt.verdict.decision.value}: {attempt.verdict.reason}"]
    if not attempt.evaluation.accepted:
        lines += _failure(kernel, attempt)
    lines += _latencies(kernel, attempt, incumbent)
    lines += resources(attempt.evaluation)
    lines += _settings(attempt)
    whole = "\n".join(lines)
    return whole if len(whole) <= _MOST_CHARACTERS else f"{whole[:_MOST_CHARACTERS]}\n(cut)"


def setting(tunables: Mapping[str, int]) -> str:
    """Return tunables as one writes them: `BM=64 BN=96`."""
    return " ".join(f"{name}={value}" for name, value in tunables.items())


def terms_text(latency: Latency, least_ns: Mapping[str, float] | None = None) -> str:
    """Say what a modelled latency would win without each of its terms, the largest gains first."""
    launch_ns = dict(latency.terms_ns).get("launch")
    if launch_ns is None:
        return ""
    worthwhile = [
        f"{term.name} {_us(term.ns)} (-{_us(term.gain_ns)})"
        for term in model_terms.gains(latency, least_ns)
        if term.gain_ns >= _LEAST_GAIN * latency.median_ns
    ]
    shown = ", ".join(worthwhile[:_SHOWN_TERMS]) or "nothing that could be won"
    return f"launch {_us(launch_ns)} (constant); terms, and what would be won without each: {shown}"


def _us(ns: float) -> str:
    return f"{ns / 1e3:.2f} us"


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


def _latencies(kernel: Kernel, attempt: Attempt, incumbent: Attempt) -> list[str]:
    # Beside itself the best would only say 1.000x.
    is_itself = attempt.number == incumbent.number
    pairs = {} if is_itself else comparing.case_ns(attempt.evaluation, incumbent.evaluation)
    floors = floor.floor_by_case(kernel, attempt.evaluation, None)
    lines = []
    for outcome in attempt.evaluation.outcomes:
        latency, case_id = outcome.latency, outcome.case_id
        if latency is None:
            continue
        line = f"  {case_id}: {_duration(latency)}"
        if case_id in pairs:
            own_ns, other_ns = pairs[case_id]
            line += f", {own_ns / other_ns:.3f}x of attempt {incumbent.number} (the best so far)"
        if case_id in floors:
            line += f", floor {_us(floors[case_id].floor_ns)}"
        lines.append(line + _uncertainty(latency))
        if latency.terms_ns:
            least = floor.least_terms(kernel, outcome.case, outcome.touched_bytes)
            lines.append(f"    {terms_text(latency, least)}")
    chosen = setting(attempt.tunables)
    return [f"Latencies with {chosen}:" if chosen else "Latencies:", *lines] if lines else []


def _duration(latency: Latency) -> str:
    # The largest term, which a report calls the bound, is often one that cannot be changed.
    modelled = latency.kind is LatencyKind.MODELLED
    return f"{format_duration(latency.median_ns)} modelled" if modelled else format_latency(latency)


def _uncertainty(latency: Latency) -> str:
    if latency.kind is LatencyKind.MODELLED:
        return ""
    sampling = latency.sampling
    return "" if sampling is None else f", spread {100 * sampling.relative_iqr:.1f} % (IQR)"


def resources(evaluation: Evaluation) -> list[str]:
    """Return a line for each compiled entry: registers, spills, static shared memory."""
    return [
        f"  {entry}: {used.registers} registers, "
        f"{used.spill_store_bytes + used.spill_load_bytes} bytes spilled, "
        f"{used.static_shared_bytes} bytes of static shared memory"
        for entry, used in evaluation.resources.items()
    ]


def _settings(attempt: Attempt) -> list[str]:
    """Return the settings that were tried before the attempt was judged, the fastest with their times."""
    tried = attempt.proposal.tried
    if not tried:
        return []
    timed = sorted(
        (one.geometric_mean_ns, one.tunables) for one in tried if one.geometric_mean_ns is not None
    )
    shown = [
        f"  {setting(dict(tunables))}: {format_duration(ns)}" for ns, tunables in timed[:_SHOWN_SETTINGS]
    ]
    failed = [
        f"  {setting(dict(one.tunables))}: not measured" for one in tried if one.geometric_mean_ns is None
    ]
    more = [*shown, *failed[: _SHOWN_SETTINGS - len(shown)]]
    return [f"Settings tried, geometric mean of latency{_left_out(attempt)}:", *more]


def _left_out(attempt: Attempt) -> str:
    if attempt.proposal.candidate is None:
        return ""
    candidate = attempt.candidate
    allowed = 1 + len(Space.of(directives.read(candidate.source, candidate.file), seed=0).others)
    left = allowed - len(attempt.proposal.tried)
    return f" ({left} of {allowed} allowed settings were not tried)" if left > 0 else ""
