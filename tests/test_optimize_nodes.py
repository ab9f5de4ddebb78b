"""What a candidate may take before it counts as hung, and what it must be beside the best one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import MadeUpDevice, TableJudge, declare_twice, evaluation, faster_with_larger_blocks

from pytest_cudaopt.evaluation import Evaluation, LatencyKind, Stage
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.optimize.attempt import Decision
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.run_budget import launch_timeout_s


@pytest.mark.parametrize(
    ("seconds", "most_s", "expected_s"),
    [
        ((), 120.0, 10.0),
        ((("check", 0.1), ("measure", 0.2)), 120.0, 10.0),
        ((("check", 2.0), ("measure", 1.5)), 120.0, 40.0),
        ((("check", 1.0), ("measure", 7.0)), 120.0, 120.0),
        ((("check", 0.1),), 5.0, 5.0),
        ((("compile", 60.0), ("check", 0.1)), 120.0, 10.0),
    ],
    ids=["unknown", "quick", "slow", "slower", "short-limit", "compiler"],
)
def test_a_launch_may_take_a_multiple_of_the_starts_slowest_stage(
    seconds: tuple[tuple[str, float], ...], most_s: float, expected_s: float
) -> None:
    assert launch_timeout_s(replace(evaluation({}), seconds=seconds), most_s) == expected_s


@pytest.mark.parametrize(("selector", "expected_s"), [("sim", None), ("cuda:0", 10.0)])
def test_only_a_gpu_bounds_candidates_by_time(
    tmp_path: Path, selector: str, expected_s: float | None
) -> None:
    judge = TableJudge(faster_with_larger_blocks)
    device = MadeUpDevice(selector=selector)
    optimize(
        declare_twice(tmp_path),
        device,
        OptimizeOptions(timeout_s=120, fuzz_examples=0),
        tmp_path / "results",
        lambda attempt: None,
        judge=judge,
        write_replay=lambda *launch: None,
    )
    judged = [plan for _, plan in judge.asked if Stage.GATE not in plan.stages]
    assert [plan.budget.launch_timeout_s for plan in judged] == [None, *[expected_s] * 3]
    assert {p.budget.timeout_s for _, p in judge.asked} == {120}


class SideBySide(TableJudge):
    """Says of what is timed beside another version what `bounds` says by its block size."""

    def __init__(self, bounds: Mapping[int, tuple[float, float]]) -> None:
        super().__init__(faster_with_larger_blocks, LatencyKind.MEASURED)
        self.bounds = bounds
        self.beside: list[tuple[int, int]] = []

    def __call__(self, kernel: Any, candidate: Any, plan: Any, device: object) -> Evaluation:
        found = super().__call__(kernel, candidate, plan, device)
        if Stage.GATE not in plan.stages:
            return found
        (best,) = plan.incumbents
        block = candidate.chosen["BLOCK"]
        self.beside.append((block, best.candidate.chosen["BLOCK"]))
        lower, upper = self.bounds[block]
        gated = (Gated("best", GateVerdict.UNSURE, "of no matter", lower=lower, upper=upper),)
        return replace(found, outcomes=tuple(replace(one, gated=gated) for one in found.outcomes))


def test_on_a_gpu_only_what_is_faster_side_by_side_replaces_the_best(tmp_path: Path) -> None:
    judge = SideBySide({128: (0.9, 0.95), 256: (0.99, 1.01), 512: (0.8, 0.9)})
    summary = optimize(
        declare_twice(tmp_path),
        MadeUpDevice(selector="cuda:0"),
        OptimizeOptions(fuzz_examples=0),
        tmp_path / "results",
        lambda attempt: None,
        judge=judge,
        write_replay=lambda *launch: None,
    )
    # Each is held against the best so far, which the second one did not become.
    assert judge.beside == [(128, 64), (256, 128), (512, 128)]
    decisions = [attempt.verdict.decision for attempt in summary.attempts]
    assert decisions == [Decision.START, Decision.NEW_BEST, Decision.NOT_FASTER, Decision.NEW_BEST]
    assert "not confirmed beside attempt 1" in summary.attempts[2].verdict.reason
