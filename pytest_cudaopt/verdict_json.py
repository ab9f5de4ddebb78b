"""An evaluation as the JSON that `cudaopt check --json` prints; schema 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    Comparison,
    Evaluation,
    Latency,
    LatencyKind,
    Mismatch,
    Sampling,
    Status,
)
from pytest_cudaopt.gated import Gated, worst
from pytest_cudaopt.report import Failure
from pytest_cudaopt.resources_taken import LimitsJudged
from pytest_cudaopt.rounding_error import ErrorSplit, RoundingLoss
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.waivers import Waived

SCHEMA = 1
Json = dict[str, Any]


def evaluation_json(evaluation: Evaluation, done: Mapping[str, Achieved] | None = None) -> Json:
    """Return the verdict, its findings, cases and latency, and what was and was not proved.

    `done` holds what latencies achieve, by case id.
    """
    return {
        "schema": SCHEMA,
        "accepted": evaluation.accepted,
        "status": str(evaluation.status),
        "kernel": evaluation.kernel,
        "candidate": evaluation.candidate,
        "device": evaluation.device,
        "reason": evaluation.reason,
        "findings": _findings(evaluation),
        "waived": _waived(evaluation),
        "limits": None if evaluation.limits is None else _limits(evaluation.limits),
        "cases": [_case(outcome, (done or {}).get(outcome.case_id)) for outcome in evaluation.outcomes],
        "latency": _overall_latency(evaluation),
        "certificate": certificate_of(evaluation).to_json(),
    }


def failure_json(failure: Failure, status: Status) -> Json:
    """Return the answer where something other than a verdict came out."""
    finding: Json = {"kind": failure.kind.lower(), "message": failure.brief or failure.headline}
    if failure.at is not None:
        finding |= {"file": failure.at.file, "line": failure.at.line}
    if failure.details:
        finding["details"] = [line.strip() for line in failure.details]
    return {
        "schema": SCHEMA,
        "accepted": False,
        "status": str(status),
        "findings": [finding],
        "cases": [],
        "latency": None,
        "certificate": {"proved": [], "not_checked": ["everything"]},
    }


def _findings(evaluation: Evaluation) -> list[Json]:
    found: list[Json] = []
    if evaluation.status is Status.COMPILE_ERROR:
        found += [
            {
                "kind": "compile_error",
                "message": diagnostic.text,
                "file": diagnostic.file,
                "line": diagnostic.line,
                "column": diagnostic.column,
            }
            for diagnostic in evaluation.diagnostics
            if diagnostic.severity == "error"
        ]
    for outcome in evaluation.outcomes:
        for comparison in outcome.comparisons:
            if not comparison.matches:
                found.append(_wrong_result(outcome, comparison))
        found += [{**finding.to_json(), "case": outcome.case_id} for finding in outcome.findings]
    if not found:
        found += [finding.to_json() for finding in evaluation.findings]
    return found


def _waived(evaluation: Evaluation) -> list[Json]:
    of_limits = () if evaluation.limits is None else evaluation.limits.waived
    of_cases = [
        {**_waived_one(waived), "case": outcome.case_id}
        for outcome in evaluation.outcomes
        if outcome.sanitized is not None
        for waived in outcome.sanitized.waived
    ]
    return [*map(_waived_one, of_limits), *of_cases]


def _waived_one(waived: Waived) -> Json:
    return {**waived.finding.to_json(), "at": waived.waiver.at, "reason": waived.waiver.reason}


def _limits(judged: LimitsJudged) -> Json:
    return {
        "declared": dict(judged.limits.given),
        "compiled_for": judged.compiled_for,
        "taken": [asdict(one) for one in judged.taken],
        "no_launch": list(judged.no_launch),
    }


def _wrong_result(outcome: CaseOutcome, comparison: Comparison) -> Json:
    note = f"{outcome.note}: " if outcome.note else ""
    message = f"{note}{comparison.output}: {comparison.mismatched} of {comparison.elements} elements differ"
    return {
        "kind": "wrong_result",
        "message": message,
        "case": outcome.case_id,
        "output": comparison.output,
        "worst": None if comparison.worst is None else _mismatch(comparison.worst),
    }


def _case(outcome: CaseOutcome, done: Achieved | None) -> Json:
    printed = {"printed": outcome.printed} if outcome.printed else {}
    return printed | {
        "id": outcome.case_id,
        "sizes": outcome.case.by_name,
        "types": dict(outcome.case.types),
        "absent": list(outcome.case.absent),
        "declare": str(outcome.case),
        "lost_property": None if outcome.lost is None else str(outcome.lost),
        "status": str(outcome.status),
        "launch": None if outcome.launch is None else str(outcome.launch),
        "sanitized": None if outcome.sanitized is None else _sanitized(outcome.sanitized),
        "touched_bytes": outcome.touched_bytes,
        "outputs": [_comparison(comparison) for comparison in outcome.comparisons],
        "latency": None if outcome.latency is None else _latency(outcome.latency, done),
        "gated": [_gated(one) for one in outcome.gated],
    }


def _sanitized(found: Sanitized) -> Json:
    return {
        "orders": list(found.orders),
        "findings": len(found.findings),
        "waived": len(found.waived),
        "notes": list(found.notes),
        "skipped": found.skipped or None,
        "rounding": [_split(split) for split in found.errors],
        "most_digits_lost": None if found.loss is None else _loss(found.loss),
    }


def _split(split: ErrorSplit) -> Json:
    return {
        "output": split.output,
        "rounding_error": _number(split.relative_rounding),
        "logic_error": _number(split.relative_logic),
        "undecided": split.undecided,
    }


def _loss(loss: RoundingLoss) -> Json:
    return {
        "file": loss.file,
        "line": loss.line,
        "instruction": loss.instruction,
        "mean_growth": _number(loss.mean_growth),
        "value": _number(loss.value),
        "shadow": _number(loss.shadow),
    }


def _comparison(comparison: Comparison) -> Json:
    return {
        "output": comparison.output,
        "elements": comparison.elements,
        "mismatched": comparison.mismatched,
        "rtol": comparison.rtol,
        "atol": comparison.atol,
        "ulp": comparison.ulp,
        "judged_by": comparison.judged_by or None,
        "max_absolute": _number(comparison.max_absolute),
        "worst": None if comparison.worst is None else _mismatch(comparison.worst),
    }


def _mismatch(mismatch: Mismatch) -> Json:
    return {
        "index": list(mismatch.index),
        "expected": _number(mismatch.expected),
        "got": _number(mismatch.got),
        "absolute": _number(mismatch.absolute),
        "relative": _number(mismatch.relative),
        "ulp": _number(mismatch.ulp),
    }


def _latency(latency: Latency, done: Achieved | None) -> Json:
    shared: Json = {"kind": str(latency.kind), "median_ns": latency.median_ns}
    if latency.kind is LatencyKind.MODELLED:
        return {**shared, "bound": latency.bound}
    return {
        **shared,
        "mode": None if latency.mode is None else str(latency.mode),
        "cold": _sampling(latency.cold),
        "batch": _sampling(latency.batch),
        "batch_refused": latency.batch_refused,
        "warmup_launches": latency.warmup_launches,
        "tick_ns": latency.tick_ns,
        "sm_clock_mhz": [clock or None for clock in latency.sm_clock_mhz],
        "contents": latency.contents,
        "achieved": None if done is None else asdict(done),
        "notes": list(latency.notes),
    }


def _gated(one: Gated) -> Json:
    return {
        "against": one.against,
        "verdict": str(one.verdict),
        "reason": one.reason,
        "ratio": one.ratio,
        "lower": one.lower,
        "upper": one.upper,
        "blocks": one.blocks,
        "causes": [str(cause) for cause in one.causes],
    }


def _sampling(sampling: Sampling | None) -> Json | None:
    if sampling is None:
        return None
    return {
        "median_ns": sampling.median_ns,
        "relative_iqr": sampling.relative_iqr,
        "samples": len(sampling.samples_ns),
        "launches": sampling.launches,
        "copies": sampling.copies,
        "floor_ns": sampling.floor_ns,
    }


def _overall_latency(evaluation: Evaluation) -> Json | None:
    kinds = {latency.kind for latency in evaluation.latencies.values()}
    if not kinds:
        return None
    # No verdict without something to compare with.
    found = worst(one for outcome in evaluation.outcomes for one in outcome.gated)
    return {
        "kind": str(kinds.pop()),
        "verdict": None if found is None else str(found.verdict),
        "geometric_mean_ns": evaluation.geometric_mean_ns,
    }


def _number(value: float | int | bool | None) -> float | int | bool | str | None:
    """JSON holds no non-finite number: they become the texts nan, inf, -inf."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
