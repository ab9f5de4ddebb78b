"""Which attempts a round varies."""

from __future__ import annotations

import pytest
from made_up_runs import evaluation

from pytest_cudaopt.evaluation import Status
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.search import Search, parents


def attempts(*latencies_ns: float | None) -> list[Attempt]:
    """Return attempts with these latencies; None: one that is wrong."""
    made = []
    for number, ns in enumerate(latencies_ns):
        judged = evaluation({}, status=Status.WRONG_RESULT) if ns is None else evaluation({"n1": ns})
        decision = Decision.NOT_ACCEPTED if ns is None else Decision.NOT_FASTER
        speedup = None if ns is None else 100 / ns
        made.append(Attempt(number, Proposal(None, ""), judged, Verdict(decision, ""), speedup))
    return made


@pytest.mark.parametrize(
    ("search", "latencies_ns", "best", "most", "expected"),
    [
        (Search(), (100, 50, 80), 1, 9, [1]),
        (Search(2, 1), (100, 50, 80), 1, 9, [1, 2]),
        (Search(2, 2), (100, 50, 80), 1, 9, [1, 1, 2, 2]),
        (Search(2, 2), (100, 50, None), 1, 9, [1, 1, 0, 0]),
        (Search(2, 2), (100,), 0, 9, [0, 0, 0, 0]),
        (Search(3, 1), (100, None, 90), 2, 9, [2, 0, 2]),
        (Search(2, 2), (100, 50, 80), 1, 3, [1, 1, 2]),
        (Search(2, 2), (100, 50, 80), 1, 0, []),
        # The best may not be the fastest: one that is faster made a case slower.
        (Search(2, 1), (100, 50, 40), 1, 9, [1, 2]),
    ],
)
def test_the_best_few_are_varied(
    search: Search, latencies_ns: tuple[float | None, ...], best: int, most: int, expected: list[int]
) -> None:
    assert parents(search, attempts(*latencies_ns), best, most) == expected
    assert len(expected) == min(most, search.round_size)
