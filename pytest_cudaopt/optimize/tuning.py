"""Trying a proposal's tunables before it is judged: few samples, the fastest setting goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import directives
from pytest_cudaopt.evaluation import Stage
from pytest_cudaopt.optimize.attempt import Trial
from pytest_cudaopt.optimize.tuner import Setting, Space

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.evaluation import Evaluation, Plan

MOST_SETTINGS = 8
_SAMPLES = 20


def best_setting(
    candidate: Candidate, plan: Plan, judge: Callable[[Candidate, Plan], Evaluation], *, seed: int
) -> tuple[Candidate, tuple[Trial, ...]]:
    """Return the candidate with its fastest setting, and what was tried; nothing is if there is one setting.

    A candidate that is wrong at the smallest of the plan's cases stays as it is: how fast it is says nothing.
    """
    space = Space.of(directives.read(candidate.source, candidate.file), seed=seed)
    if not space.others or not plan.measured:
        return candidate, ()
    smallest = min(plan.cases, key=lambda case: sum(case.by_name.values()))
    first = replace(plan, stages=(Stage.COMPILE, Stage.CHECK), cases=(smallest,))
    if not judge(candidate, first).accepted:
        return candidate, ()
    quick = replace(
        plan,
        stages=(Stage.COMPILE, Stage.LIMITS, Stage.MEASURE),
        cases=plan.measured,
        samples=min(plan.samples, _SAMPLES),
        stop_at_first=True,
    )
    trials = []
    for setting in _chosen(space):
        tried = candidate.with_tunables(dict(zip(space.names, setting, strict=True)))
        evaluation = judge(tried, quick)
        mean_ns = evaluation.geometric_mean_ns if evaluation.accepted else None
        trials.append((tried, Trial(tried.tunables, mean_ns)))
    timed = [
        (trial.geometric_mean_ns, tried) for tried, trial in trials if trial.geometric_mean_ns is not None
    ]
    best = min(timed, key=lambda one: one[0])[1] if timed else candidate
    return best, tuple(trial for _, trial in trials)


def _chosen(space: Space) -> list[Setting]:
    """Return the start and the settings that are spread furthest over the rest."""
    chosen, left = [space.start], list(space.others)
    while left and len(chosen) < MOST_SETTINGS:
        furthest = max(left, key=lambda one: min(space.distance(one, other) for other in chosen))
        chosen.append(furthest)
        left.remove(furthest)
    return chosen
