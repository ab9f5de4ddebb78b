"""The words a model gets, whole: `CUDAOPT_REWRITE_PROMPTS=1` writes the expected texts anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import SOURCE, declare_twice, evaluation

from pytest_cudaopt import In, Out, case, f32, i32, kernel, limits
from pytest_cudaopt.answers import GpuFacts, Limits
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import Evaluation, Latency, LatencyKind, Resources, Status
from pytest_cudaopt.optimize import attempt_feedback, prompts
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Trial, Verdict
from pytest_cudaopt.optimize.prompts import Allowance, brief, situation
from pytest_cudaopt.optimize.tuning import MOST_SETTINGS

KEPT = Path(__file__).parent / "prompts"
DEVICE = Limits("a made-up device", 132, 1024, 232448, 32, (1, 1, 1), (1, 1, 1), "sm_90")
ALLOWANCE = Allowance(iterations=7, allow_slower=0.02, tool_calls=8, tool_rounds=6)


def holds(name: str, text: str) -> None:
    """Compare a text with the one that is kept."""
    file = KEPT / name
    if os.environ.get("CUDAOPT_REWRITE_PROMPTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n")
    assert text == file.read_text().rstrip("\n")


def attempt(
    kernel: Kernel, number: int, decision: Decision, judged: Evaluation, reason: str = "because"
) -> Attempt:
    candidate = replace(kernel.start(), source=SOURCE.replace("2 * x", f"{number + 2} * x"))
    return Attempt(number, Proposal(candidate, f"idea {number}"), judged, Verdict(decision, reason))


@pytest.fixture
def declared(tmp_path: Path) -> Kernel:
    return declare_twice(tmp_path)


@pytest.fixture
def tried(declared: Kernel) -> list[Attempt]:
    """The start, one that is faster, one that is wrong."""
    wrong = evaluation({}, status=Status.WRONG_RESULT, reason="y[3] is wrong")
    used = Resources(
        registers=20,
        spill_store_bytes=4,
        spill_load_bytes=8,
        static_shared_bytes=16,
        stack_bytes=0,
        constant_bytes=0,
    )
    fast = replace(evaluation({"n100": 50.0, "n1000": 500.0}), resources={"twice": used})
    return [
        attempt(declared, 0, Decision.START, evaluation({"n100": 100.0, "n1000": 1000.0})),
        attempt(declared, 1, Decision.NEW_BEST, fast),
        attempt(declared, 2, Decision.NOT_ACCEPTED, wrong, "y[3] is wrong"),
    ]


def test_the_instructions_are_as_they_were_read_last() -> None:
    holds("instructions.txt", prompts.INSTRUCTIONS)


def test_the_brief_is_as_it_was_read_last(declared: Kernel) -> None:
    holds("brief.txt", brief(declared, SOURCE, DEVICE, ALLOWANCE))


def test_limits_of_the_kernel_are_told_where_there_are_some(declared: Kernel) -> None:
    limited = replace(declared, limits=limits(registers=64, spill_bytes=0))
    told = brief(limited, SOURCE, DEVICE, ALLOWANCE)
    assert "shared memory is a block's, with the dynamic part: registers <= 64, spill_bytes <= 0." in told
    assert "must keep these limits" not in brief(declared, SOURCE, DEVICE, ALLOWANCE)


def test_the_first_situation_is_as_it_was_read_last(declared: Kernel, tried: list[Attempt]) -> None:
    holds("first.txt", situation(declared, tried[:1], tried[0], ALLOWANCE))


def test_a_later_situation_is_as_it_was_read_last(declared: Kernel, tried: list[Attempt]) -> None:
    holds("later.txt", situation(declared, tried, tried[1], ALLOWANCE))


def test_an_attempt_without_a_proposal_is_told_by_its_reason(declared: Kernel, tried: list[Attempt]) -> None:
    silent = Attempt(
        3,
        Proposal(None, "no usable answer", failure="refused: no"),
        evaluation({}, status=Status.NOT_JUDGED, reason="refused: no"),
        Verdict(Decision.NO_PROPOSAL, "refused: no"),
    )
    told = situation(declared, [*tried, silent], tried[1], ALLOWANCE)
    assert "Attempt 3: no_proposal: refused: no" in told
    assert told.endswith("if that is not worth it. 4 of 7 attempts are left, this one included.")


@pytest.mark.parametrize(
    ("marker", "of_kernel", "accepted"),
    [
        ({}, {}, "- y: |got - expected| <= 1e-06 + (1e-05) * |expected|"),
        ({}, {"rtol": 0.5}, "- y: |got - expected| <= 1e-06 + (0.5) * |expected|"),
        ({"atol": "1e-3*sqrt(n)"}, {}, "- y: |got - expected| <= 1e-3*sqrt(n) + (1e-05) * |expected|"),
        ({"ulp": 2}, {}, "- y: |got - expected| <= 0 + (0) * |expected|, or 2 ulp if that is more"),
        ({"exact": True}, {}, "- y: the reference's bits"),
        ({}, {"accept": lambda **outputs: True}, "- y: what the declaration's accept= accepts"),
    ],
)
def test_the_accepted_error_is_the_one_that_is_applied(
    tmp_path: Path, marker: dict[str, Any], of_kernel: dict[str, Any], accepted: str
) -> None:
    (tmp_path / "twice.cu").write_text(SOURCE)

    @kernel(str(tmp_path / "twice.cu"), cases=[case(n=10)], **of_kernel)
    def twice(x=In(f32, "n"), y=Out(f32, "n", **marker), n=i32):
        y[...] = 2 * x

    assert accepted in brief(twice, SOURCE, DEVICE, ALLOWANCE).splitlines()


def test_what_is_told_of_an_attempt_has_a_bounded_length(declared: Kernel, tried: list[Attempt]) -> None:
    many = {f"n{number}": float(number + 1) for number in range(999)}
    long = attempt(declared, 1, Decision.NOT_FASTER, evaluation(many))
    told = attempt_feedback.text(declared, long, tried[0])
    assert len(told) < 6100
    assert told.endswith("(cut)")


def test_latencies_are_told_beside_the_bests(declared: Kernel, tried: list[Attempt]) -> None:
    told = attempt_feedback.text(declared, tried[1], tried[0])
    assert "0.500x of attempt 0 (the best so far)" in told


def test_what_is_said_of_a_thousand_attempts_is_no_more_than_of_a_hundred(declared: Kernel) -> None:
    reason = "y[3] is wrong, as it was before, " * 40
    wrong = evaluation({}, status=Status.WRONG_RESULT, reason=reason)
    start = attempt(declared, 0, Decision.START, evaluation({"n100": 100.0, "n1000": 1000.0}))
    looks = tuple(f"counters: {'n100 9.00 us, ' * 99}" for _ in range(8))
    tried = [start, *(attempt(declared, n, Decision.NOT_ACCEPTED, wrong, reason) for n in range(1, 1001))]
    tried = [replace(one, proposal=replace(one.proposal, looked=looks)) for one in tried]
    allowance = replace(ALLOWANCE, iterations=2000)
    hundred, thousand = (situation(declared, tried[:most], start, allowance) for most in (100, 1000))
    # Numbers have a digit more.
    assert abs(len(thousand) - len(hundred)) <= 60
    assert len(thousand) < 12_000


def test_the_instructions_tell_how_many_settings_are_tried() -> None:
    assert f"at most {MOST_SETTINGS} of those" in prompts.INSTRUCTIONS


@pytest.mark.parametrize(
    ("allowance", "words"),
    [
        (replace(ALLOWANCE, allow_slower=0.05), "more than 1.05 times the latency"),
        (
            replace(ALLOWANCE, tool_calls=3, tool_rounds=2),
            "called 3 times before each proposal, in at most 2",
        ),
    ],
)
def test_what_counts_is_told_as_numbers(declared: Kernel, allowance: Allowance, words: str) -> None:
    assert words in brief(declared, SOURCE, DEVICE, allowance)


def test_only_a_modelled_device_is_said_to_be_one(declared: Kernel) -> None:
    gpu = GpuFacts("uuid", (13, 0), 1 << 30, 1 << 30, 1 << 20, 1980.0, 3201.0, 6144, True)
    assert "launch + max(W, blocks) + tail" in brief(declared, SOURCE, DEVICE, ALLOWANCE)
    assert "modelled" not in brief(declared, SOURCE, replace(DEVICE, gpu=gpu), ALLOWANCE)


def test_attempts_that_are_left_are_counted(declared: Kernel, tried: list[Attempt]) -> None:
    for most, left in ((1, 7), (2, 6), (3, 5)):
        told = situation(declared, tried[:most], tried[0], ALLOWANCE)
        assert told.endswith(f" {left} of 7 attempts are left, this one included.")


def test_what_tools_answered_is_told_at_later_attempts(declared: Kernel, tried: list[Attempt]) -> None:
    looked = replace(tried[1].proposal, looked=("counters: attempt 1: BLOCK=64 at n100 50.0 ns",))
    told = situation(declared, [tried[0], replace(tried[1], proposal=looked)], tried[0], ALLOWANCE)
    assert (
        "## What tools answered before\n\nbefore 1: counters: attempt 1: BLOCK=64 at n100 50.0 ns\n" in told
    )
    assert "What tools answered" not in situation(declared, tried, tried[0], ALLOWANCE)


def test_settings_that_were_tried_are_told_fastest_first(declared: Kernel, tried: list[Attempt]) -> None:
    trials = (Trial((("BLOCK", 64),), 900.0), Trial((("BLOCK", 512),), None), Trial((("BLOCK", 128),), 700.0))
    tuned = replace(tried[1], proposal=replace(tried[1].proposal, tried=trials))
    told = attempt_feedback.text(declared, tuned, tried[0])
    assert told.splitlines()[-4:] == [
        "Settings tried, geometric mean of latency (1 of 4 allowed settings were not tried):",
        "  BLOCK=128: 700 ns",
        "  BLOCK=64: 900 ns",
        "  BLOCK=512: not measured",
    ]


def test_of_a_modelled_latency_the_terms_that_can_be_won_are_told(declared: Kernel) -> None:
    terms = (("fp32", 3000.0), ("latency", 4000.0), ("tail", 1.0), ("launch", 1000.0))
    latency = Latency(LatencyKind.MODELLED, 6001.0, bound="launch", terms_ns=terms)
    judged = evaluation({"n100": 1.0})
    judged = replace(judged, outcomes=(replace(judged.outcomes[0], latency=latency),))
    fast = attempt(declared, 1, Decision.NEW_BEST, judged)
    told = attempt_feedback.text(declared, fast, fast)
    assert "n100: 6.00 us modelled\n    launch 1.00 us (constant); " in told
    assert told.endswith("without each: latency 4.00 us (-2.00 us), fp32 3.00 us (-1.00 us)")
