"""Latencies side by side, like with like: a batch is never compared with a cold launch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import SamplingMode

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import Evaluation, Latency


def comparable_ns(one: Latency, other: Latency) -> tuple[float, float]:
    """Return both medians in one mode: their own if it is the same, else the `cold` both have.

    The slower of two kernels may be above the time below which batches are measured.
    """
    if one.mode is other.mode:
        return one.median_ns, other.median_ns
    if one.cold is not None and other.cold is not None:
        return one.cold.median_ns, other.cold.median_ns
    # A mode was forced on one of them only, which no plan of ours does.
    return one.median_ns, other.median_ns


def case_ns(one: Evaluation, other: Evaluation) -> dict[str, tuple[float, float]]:
    """Return comparable medians by case id, for the cases both measured."""
    theirs = other.latencies
    return {
        case_id: comparable_ns(latency, theirs[case_id])
        for case_id, latency in one.latencies.items()
        if case_id in theirs
    }


def mean_ns(one: Evaluation, other: Evaluation) -> tuple[float, float] | None:
    """Return both weighted geometric means over the cases both measured; None if there is none."""
    pairs = case_ns(one, other)
    if not pairs:
        return None
    weight_of = {outcome.case_id: outcome.case.weight for outcome in one.outcomes}
    weights = [weight_of[case_id] for case_id in pairs]
    return _mean(weights, [ns for ns, _ in pairs.values()]), _mean(weights, [ns for _, ns in pairs.values()])


def warnings(*evaluations: Evaluation) -> tuple[str, ...]:
    """Return what makes their latencies doubtful, every sentence once."""
    notes = (note for one in evaluations for latency in one.latencies.values() for note in latency.notes)
    return tuple(dict.fromkeys(notes))


def modes(evaluation: Evaluation) -> dict[str, SamplingMode]:
    """Return how each measured case was sampled, by case id; modelled ones are left out."""
    return {
        case_id: latency.mode for case_id, latency in evaluation.latencies.items() if latency.mode is not None
    }


def _mean(weights: list[float], times_ns: list[float]) -> float:
    logs = sum(weight * math.log(ns) for weight, ns in zip(weights, times_ns, strict=True))
    return math.exp(logs / sum(weights))
