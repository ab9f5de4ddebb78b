"""The offline tuner: which settings it proposes, in which order, and when it stops."""

from __future__ import annotations

import pytest
from made_up_runs import declare_twice, evaluation

from pytest_cudaopt import directives
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.tuner import Space, Tuner

RULE = LaunchRule.parse("grid=(1) block=(1)")


def tuner_for(source: str, *, limit: int, seed: int = 0) -> Tuner:
    found = directives.read(source, "k.cu")
    start = Candidate("k.cu", source, RULE, tuple(found.starting_values.items()))
    return Tuner.of(start, found, limit=limit, seed=seed)


def attempt(number: int, candidate: Candidate, decision: Decision) -> Attempt:
    return Attempt(number, Proposal(candidate, ""), evaluation({}), Verdict(decision, ""))


def run_to_the_end(tuner: Tuner, best: dict[str, int] | None = None) -> list[dict[str, int]]:
    """Ask for proposals until there are none; the setting `best` is decided to be a new best."""
    attempts = [attempt(0, tuner.start, Decision.START)]
    while proposal := tuner.propose(attempts):
        is_best = proposal.candidate.chosen == best
        decision = Decision.NEW_BEST if is_best else Decision.NOT_FASTER
        attempts.append(attempt(len(attempts), proposal.candidate, decision))
    return [one.candidate.chosen for one in attempts[1:]]


@pytest.mark.parametrize(
    ("tune", "limit", "expected"),
    [
        ("// @tune B = 64, 128", 7, [{"B": 128}]),
        # Nearest to the start first, by rank and not by the order they are written in.
        ("// @tune B = 64, 512, 128", 7, [{"B": 128}, {"B": 512}]),
        # The start takes no place of the limit.
        ("// @tune B = 1, 2, 3", 2, [{"B": 2}, {"B": 3}]),
        ("// @tune B = 64", 7, []),
        ("// nothing to tune", 7, []),
        ("// @tune B = 64, 128, 256", 0, []),
        ("// @tune B = 1, 2, 3\n// @tune where B != 2", 7, [{"B": 3}]),
    ],
)
def test_a_grid_that_fits_is_tried_completely(tune: str, limit: int, expected: list[dict[str, int]]) -> None:
    assert run_to_the_end(tuner_for(tune, limit=limit)) == expected


def test_no_setting_is_proposed_twice_and_all_satisfy_the_constraints() -> None:
    source = "// @tune A = 1, 2, 4, 8\n// @tune B = 1, 2, 4, 8\n// @tune where A * B <= 16"
    proposed = run_to_the_end(tuner_for(source, limit=100))
    allowed = {(a, b) for a in (1, 2, 4, 8) for b in (1, 2, 4, 8) if a * b <= 16}
    assert len(proposed) == len(allowed) - 1
    assert {(p["A"], p["B"]) for p in proposed} == allowed - {(1, 1)}


BIG = "// @tune A = 1, 2, 3, 4, 5, 6, 7, 8\n// @tune B = 1, 2, 3, 4, 5, 6, 7, 8"


def test_a_larger_grid_gets_as_many_proposals_as_the_limit_allows() -> None:
    proposed = run_to_the_end(tuner_for(BIG, limit=7))
    assert len(proposed) == 7
    assert len({tuple(p.items()) for p in proposed}) == 7


def test_the_first_proposals_are_spread_and_the_last_surround_the_best() -> None:
    tuner = tuner_for(BIG, limit=8)
    proposed = run_to_the_end(tuner)
    assert proposed[0] == {"A": 8, "B": 8}, "the corner farthest from the start"
    best = proposed[2]
    later = run_to_the_end(tuner, best=best)[4:]
    assert all(abs(p["A"] - best["A"]) + abs(p["B"] - best["B"]) <= 2 for p in later)


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    first, again, other = (run_to_the_end(tuner_for(BIG, limit=20, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_grid_too_large_to_list_is_sampled_within_the_constraints() -> None:
    values = ", ".join(str(v) for v in range(1, 41))
    source = "\n".join(f"// @tune {name} = {values}" for name in "ABCD") + "\n// @tune where A <= B"
    space = Space.of(directives.read(source, "k.cu"), seed=3)
    assert len(space.others) > 500
    assert len(set(space.others)) == len(space.others)
    assert all(a <= b for a, b, _, _ in space.others)
    assert space == Space.of(directives.read(source, "k.cu"), seed=3)


def test_an_impossible_constraint_leaves_only_the_start() -> None:
    values = ", ".join(str(v) for v in range(1, 101))
    source = f"// @tune A = {values}\n// @tune B = {values}\n// @tune where A == 1 and B == 1"
    assert run_to_the_end(tuner_for(source, limit=7)) == []


def test_why_it_stopped_names_the_tunables_or_says_how_to_add_one() -> None:
    assert "every allowed setting of A, B" in tuner_for(BIG, limit=7).exhausted_reason
    assert "@tune BLOCK" in tuner_for("// none", limit=7).exhausted_reason


def test_the_proposed_source_starts_at_its_own_setting(tmp_path) -> None:
    kernel = declare_twice(tmp_path)
    tuner = Tuner.of(kernel.start(), kernel.read_directives(), limit=7, seed=0)
    proposal = tuner.propose([attempt(0, kernel.start(), Decision.START)])
    assert proposal is not None
    written = directives.read(proposal.candidate.standalone_source(), "twice.cu")
    assert written.starting_values == {"BLOCK": 128}
    assert set(written.tunables[0].values) == {64, 128, 256, 512}
