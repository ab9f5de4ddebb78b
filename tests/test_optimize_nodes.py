"""What a candidate may take before it counts as hung."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_runs import MadeUpDevice, TableJudge, declare_twice, evaluation, faster_with_larger_blocks

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
    assert [p.budget.launch_timeout_s for _, p in judge.asked] == [None, *[expected_s] * 3]
    assert {p.budget.timeout_s for _, p in judge.asked} == {120}
