"""What a model is told in a run about what came of the attempts before."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up_models import ListModel, proposes, wants
from made_up_runs import SOURCE, MadeUpDevice, TableJudge, declare_twice, faster_with_larger_blocks
from scripted_server import proposal

from pytest_cudaopt.optimize.conversation import Text
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize

BODY = "".join(SOURCE.splitlines(keepends=True)[2:])
TUNED = proposal(
    BODY, "grid=(cdiv(n, BLOCK)) block=(BLOCK)", tunables=[{"name": "BLOCK", "values": [128, 256]}]
)


@pytest.fixture
def model(tmp_path: Path) -> ListModel:
    """A model that was asked for three attempts, and used a tool before the first."""
    model = ListModel(wants("counters", {"attempt": 0}), *[proposes(TUNED)] * 3)
    options = OptimizeOptions(max_iterations=3, allow_slower=0.03, fuzz_examples=0)
    optimize(
        declare_twice(tmp_path),
        MadeUpDevice(),
        options,
        tmp_path / "results",
        lambda attempt: None,
        model=model,
        judge=TableJudge(faster_with_larger_blocks),
        write_replay=lambda *_: None,
    )
    return model


def told(model: ListModel, request: int) -> str:
    return "\n".join(item.text for item in model.requests[request].items if isinstance(item, Text))


@pytest.mark.parametrize(
    "words",
    [
        "Attempt 1: new_best: 0.250x the latency of attempt 0, the best before it (n1000 0.250x, n100",
        "Latencies with BLOCK=256:",
        "Settings tried, geometric mean of latency:\n  BLOCK=256: 791 ns\n  BLOCK=128: 1.58 us",
        "before 1: counters: attempt 0: BLOCK=64 at n100 1.00 us (1.000x of attempt 0)",
        "2 of 3 attempts are left, this one included.",
        "more than 1.03 times the latency",
        "called 8 times before each proposal, in at most 6 replies",
    ],
)
def test_the_next_attempt_is_told(model: ListModel, words: str) -> None:
    assert words in told(model, 2)


def test_an_attempt_after_a_new_best_is_told_beside_that(model: ListModel) -> None:
    words = "Attempt 2: not_faster: 1.000x the latency of attempt 1, the best before it"
    assert words in told(model, 3)


def test_what_a_run_begins_with_stays_the_same(model: ListModel) -> None:
    assert {request.instructions for request in model.requests} == {model.requests[0].instructions}
    assert {request.items[0] for request in model.requests} == {model.requests[0].items[0]}
    assert "3 of 3 attempts are left" in told(model, 0)
