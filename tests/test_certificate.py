"""The certificate: what it says was tried, and that it claims no more than that."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_up_kernels import DEVICE, evaluation, wrong_outcome

from pytest_cudaopt import case
from pytest_cudaopt.certificate import Certificate, certificate_of
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Comparison,
    Evaluation,
    Latency,
    LatencyKind,
    Stage,
    Status,
    Tried,
)
from pytest_cudaopt.properties import Property
from pytest_cudaopt.sanitized import Sanitized

RIGHT = (Comparison("y", 51, 0, 0, 0),)
KEPT = Tried(Stage.FUZZ, Property.FUZZED_SIZES, judged=40)
AGAIN = Tried(Stage.CONTRACT, Property.MAGNITUDES, judged=6)
IN_PART = Tried(Stage.CONTRACT, Property.NON_FINITE, judged=1, discarded=3, why="NaN is lost")
LACKED = Tried(Stage.CONTRACT, Property.EMPTY_SIZES, discarded=2, why="the start fails there")


def passed(name: str = "n51", *, sanitized: Sanitized | None = None) -> CaseOutcome:
    return CaseOutcome(case(n=51), name, CaseStatus.PASSED, comparisons=RIGHT, sanitized=sanitized)


def judged(*tried: Tried, outcomes: tuple[CaseOutcome, ...] = ()) -> Evaluation:
    seed = 7 if tried else None
    shown = outcomes or (passed(),)
    return evaluation(Status.ACCEPTED, outcomes=shown, tried=tried, fuzz_seed=seed)


def certificate(*tried: Tried, outcomes: tuple[CaseOutcome, ...] = ()) -> Certificate:
    return certificate_of(judged(*tried, outcomes=outcomes))


LOOKED_AT = Sanitized(orders=("forward", "reverse", "random"))


@pytest.mark.parametrize(
    ("tried", "line"),
    [
        ((), "right at 1 declared case; not checked: 4 things"),
        ((KEPT,), "right at 1 declared case, 40 trials of 1 property (seed 7); not checked: 3 things"),
        (
            (KEPT, AGAIN, IN_PART, LACKED),
            "right at 1 declared case, 47 trials of 3 properties (seed 7); not checked: 4 things",
        ),
    ],
)
def test_one_line_counts_what_was_tried_and_what_was_not(tried: tuple[Tried, ...], line: str) -> None:
    assert certificate(*tried).line == line


def test_one_line_says_where_the_checks_of_sim_found_nothing() -> None:
    assert "no findings at 1 case" in certificate(outcomes=(passed(sanitized=LOOKED_AT),)).line
    assert "no findings" not in certificate().line
    assert "no findings" not in certificate(outcomes=(passed(sanitized=Sanitized(skipped="no sim")),)).line


def test_every_property_has_a_line_with_its_trials_and_what_bound_nobody() -> None:
    lines = certificate(KEPT, IN_PART).lines

    assert "  fuzz: right at sizes nobody listed: 40 trials" in lines
    assert (
        "  contract: right with NaN and infinities among its inputs: 1 trial, 3 bind nobody (NaN is lost)"
        in lines
    )


def test_what_was_proved_comes_first_and_what_was_not_checked_last() -> None:
    lines = certificate(KEPT).lines

    assert lines[:2] == (
        "  compiles, with the declared parameter types",
        "  matches the reference within tolerance at n51",
    )
    assert lines[-1] == "  not checked: latency on a GPU"


def test_a_property_of_which_every_trial_was_discarded_is_not_checked() -> None:
    said = "being right on empty arrays: the start fails there"

    assert said in certificate(LACKED).not_checked
    assert not any("being right" in one for one in certificate(KEPT, IN_PART).not_checked)
    # Another stage has judged it.
    assert said not in certificate(LACKED, replace(LACKED, judged=1, stage=Stage.FUZZ)).not_checked


def test_without_trials_nothing_is_said_of_other_sizes() -> None:
    assert "sizes and values other than those of the declared cases" in certificate().not_checked
    assert "sizes and values other than those of the declared cases" not in certificate(KEPT).not_checked
    assert "arrays of more than 2^31 elements" in certificate(KEPT).not_checked


def test_races_are_not_checked_at_cases_that_sim_has_not_seen() -> None:
    def races(*outcomes: CaseOutcome) -> list[str]:
        return [one for one in certificate(outcomes=outcomes).not_checked if one.startswith("races")]

    seen = passed("n51", sanitized=LOOKED_AT)
    (everywhere,) = races(passed())
    assert not everywhere.endswith("n51")
    assert races(seen) == []
    assert races(seen, passed("n4096")) == [f"{everywhere} at n4096"]


def test_only_sim_vouches_for_every_access() -> None:
    on_gpu = certificate_of(replace(judged(), device="cuda:0 (NVIDIA H200)"))

    assert "no access out of bounds or misaligned at these cases" in certificate().proved
    assert not any("no access" in one for one in on_gpu.proved)
    assert "reads outside an array that meet no unmapped page" in on_gpu.not_checked


def test_a_case_that_is_wrong_is_no_part_of_what_was_proved() -> None:
    outcomes = (passed("n1"), wrong_outcome())
    rejected = certificate_of(evaluation(Status.WRONG_RESULT, outcomes=outcomes))

    assert not rejected.accepted
    assert rejected.cases == ("n1",)
    assert not any("n51" in one for one in rejected.proved)


def test_what_does_not_compile_proves_nothing() -> None:
    assert certificate_of(evaluation(Status.COMPILE_ERROR)).proved == ()


def test_its_json_has_all_of_it() -> None:
    measured = replace(passed(sanitized=LOOKED_AT), latency=Latency(LatencyKind.MEASURED, 1.0))
    shown = json.loads(json.dumps(certificate(IN_PART, outcomes=(measured,)).to_json(), allow_nan=False))

    assert (shown["kernel"], shown["device"], shown["accepted"], shown["seed"]) == ("scale", DEVICE, True, 7)
    assert (shown["cases"], shown["sanitized"], shown["latency"]) == (["n51"], ["n51"], "measured")
    assert shown["properties"] == [
        {
            "property": "non_finite",
            "stage": "contract",
            "trials": 1,
            "discarded": 3,
            "why_discarded": "NaN is lost",
        }
    ]
    assert shown["proved"]
    assert "latency on a GPU" not in shown["not_checked"]


def test_where_nothing_was_drawn_there_is_no_seed() -> None:
    assert certificate().to_json()["seed"] is None
    assert certificate().to_json()["latency"] is None
