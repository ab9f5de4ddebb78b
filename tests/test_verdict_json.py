"""The JSON of a verdict: complete, readable by any JSON parser, honest about what was not checked."""

import json
from dataclasses import replace

import pytest
from made_up_kernels import DEVICE, evaluation, out_of_bounds, wrong_outcome
from measured_latencies import batch_latency

from pytest_cudaopt import case
from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.errors import EnvironmentFault, SourceLocation
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Comparison,
    Diagnostic,
    Latency,
    LatencyKind,
    Status,
)
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.report import Failure, FailureClass
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.verdict_json import evaluation_json, failure_json
from pytest_cudaopt.waivers import Waived, waive


def passed(*, latency=None):
    return CaseOutcome(
        case(n=51), "n51", CaseStatus.PASSED, comparisons=(Comparison("y", 51, 0, 0, 0),), latency=latency
    )


def test_an_accepted_kernel():
    latency = Latency(LatencyKind.MODELLED, 12_300.0, bound="dram")
    judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(passed(latency=latency),)))

    assert (judged["schema"], judged["accepted"], judged["status"]) == (1, True, "accepted")
    assert judged["device"] == DEVICE
    assert judged["findings"] == []
    assert judged["cases"][0]["latency"] == {"kind": "modelled", "median_ns": 12_300.0, "bound": "dram"}
    assert judged["latency"]["kind"] == "modelled"
    assert judged["latency"]["geometric_mean_ns"] == pytest.approx(12_300.0)


def test_a_modelled_latency_is_not_one_on_a_gpu():
    modelled = Latency(LatencyKind.MODELLED, 1.0)
    measured = Latency(LatencyKind.MEASURED, 1.0)

    def not_checked(latency):
        judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(passed(latency=latency),)))
        return judged["certificate"]["not_checked"]

    assert "latency on a GPU" in not_checked(modelled)
    assert "latency on a GPU" not in not_checked(measured)


@pytest.mark.parametrize(("device", "sees"), [(DEVICE, True), ("cuda:0 (NVIDIA H200)", False)])
def test_only_a_simulator_vouches_for_every_access(device, sees):
    judged = evaluation_json(replace(evaluation(Status.ACCEPTED, outcomes=(passed(),)), device=device))
    certificate = judged["certificate"]

    assert any("no access out of bounds" in proved for proved in certificate["proved"]) is sees
    assert any("unmapped page" in unseen for unseen in certificate["not_checked"]) is not sees


def test_a_measured_latency_comes_with_both_modes_doubts_and_what_it_achieves():
    latency = batch_latency(2_500.0, cold_ns=5_000.0, notes=("the clock moved",), tick_ns=32.0)
    judged = evaluation_json(
        evaluation(Status.ACCEPTED, outcomes=(passed(latency=latency),)),
        {"n51": Achieved(bytes_per_s=3.46e12, copy_peak_share=0.816)},
    )
    shown = json.loads(json.dumps(judged, allow_nan=False))["cases"][0]["latency"]

    assert (shown["kind"], shown["mode"], shown["median_ns"]) == ("measured", "batch", 2_500.0)
    assert (shown["cold"]["median_ns"], shown["batch"]["floor_ns"]) == (5_000.0, 850.0)
    assert shown["notes"] == ["the clock moved"]
    assert shown["achieved"]["copy_peak_share"] == 0.816
    assert shown["achieved"]["flops_per_s"] is None


def test_a_verdict_of_the_gate_comes_with_all_it_stands_on():
    gated = Gated("baseline", GateVerdict.SLOWER, "why", 1.3, 1.2, 1.4, 100.0, 130.0, blocks=48, epochs=3)
    outcome = replace(passed(latency=Latency(LatencyKind.MODELLED, 130.0)), gated=(gated,))
    found = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(outcome,)))

    assert found["cases"][0]["gated"] == [
        {
            "against": "baseline",
            "verdict": "slower",
            "reason": "why",
            "ratio": 1.3,
            "lower": 1.2,
            "upper": 1.4,
            "before_ns": 100.0,
            "after_ns": 130.0,
            "blocks": 48,
            "epochs": 3,
            "causes": [],
        }
    ]


def test_an_impossible_time_is_a_finding():
    finding = Finding(FindingKind.IMPLAUSIBLE, "0.500 us (cold) is less than the 2.000 us that ... take")
    outcome = CaseOutcome(case(n=51), "n51", CaseStatus.FINDING, findings=(finding,))
    judged = evaluation_json(evaluation(Status.FINDING, outcomes=(outcome,), findings=(finding,)))

    assert (judged["accepted"], judged["status"]) == (False, "finding")
    assert [one["kind"] for one in judged["findings"]] == ["implausible"]


def test_only_cases_that_passed_count_as_proved():
    judged = evaluation_json(evaluation(Status.WRONG_RESULT, outcomes=(wrong_outcome(),)))

    assert not any("matches the reference" in proved for proved in judged["certificate"]["proved"])


def test_arrays_that_a_case_leaves_out_are_named():
    outcome = replace(passed(), case=case(n=51, bias=None))
    judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(outcome, passed())))

    assert [one["absent"] for one in judged["cases"]] == [["bias"], []]


def test_non_finite_numbers_become_texts():
    outcome = wrong_outcome(expected=float("inf"), got=float("nan"), absolute=None, relative=None, ulp=None)
    judged = evaluation_json(evaluation(Status.WRONG_RESULT, outcomes=(outcome,)))
    worst = json.loads(json.dumps(judged, allow_nan=False))["findings"][0]["worst"]

    assert (worst["expected"], worst["got"], worst["absolute"]) == ("inf", "nan", None)


def test_a_compile_error_is_a_finding_per_error():
    diagnostics = (
        Diagnostic("scale.cu", 3, 0, "warning", "unused"),
        Diagnostic("scale.cu", 4, 7, "error", "undefined"),
    )
    judged = evaluation_json(evaluation(Status.COMPILE_ERROR, diagnostics=diagnostics))

    assert judged["findings"] == [
        {"kind": "compile_error", "message": "undefined", "file": "scale.cu", "line": 4, "column": 7}
    ]
    assert judged["certificate"]["proved"] == []


def test_a_fault_is_one_finding_with_its_place():
    finding = out_of_bounds()
    outcome = CaseOutcome(case(n=51), "n51", CaseStatus.FAULT, findings=(finding,))
    judged = evaluation_json(evaluation(Status.FAULT, outcomes=(outcome,), findings=(finding,)))

    assert len(judged["findings"]) == 1
    assert judged["findings"][0]["kind"] == "illegal_address"
    assert judged["findings"][0]["line"] == 4


def test_what_prevented_a_verdict_is_a_finding():
    failure = Failure(
        FailureClass.ENVIRONMENT,
        "NVRTC",
        ("  next      Install it",),
        SourceLocation("a.py", 3),
        "NVRTC: gone",
    )
    judged = failure_json(failure, Status.NOT_JUDGED)

    assert (judged["accepted"], judged["status"]) == (False, "not_judged")
    assert judged["findings"] == [
        {
            "kind": "environment",
            "message": "NVRTC: gone",
            "file": "a.py",
            "line": 3,
            "details": ["next      Install it"],
        }
    ]
    assert judged["certificate"] == {"proved": [], "not_checked": ["everything"]}


def test_both_answers_have_the_same_required_keys():
    required = {"schema", "accepted", "status", "findings", "cases", "latency", "certificate"}
    failure = Failure(FailureClass.ENVIRONMENT, str(EnvironmentFault("x")))

    assert required <= set(failure_json(failure, Status.NOT_JUDGED))
    assert required <= set(evaluation_json(evaluation(Status.ACCEPTED)))


RACE = Finding(FindingKind.RACE, "a race", file="scale.cu", line=4)
UNWRITTEN = Finding(FindingKind.UNINITIALIZED_READ, "nobody wrote it", file="scale.cu", line=3)


def sanitized(**known) -> CaseOutcome:
    return replace(passed(), sanitized=Sanitized(("forward", "reverse"), **known))


def test_every_finding_of_a_case_is_listed_with_it():
    seen = (RACE, UNWRITTEN)
    outcome = replace(sanitized(findings=seen), status=CaseStatus.FINDING, findings=seen)
    judged = evaluation_json(evaluation(Status.FINDING, outcomes=(outcome,), findings=seen))

    assert [(one["kind"], one["case"]) for one in judged["findings"]] == [
        ("race", "n51"),
        ("uninitialized_read", "n51"),
    ]
    assert not any("races" in proved for proved in judged["certificate"]["proved"])


def test_what_is_waived_is_listed_apart_with_its_reason():
    waived = Waived(RACE, waive("race", at="scale.cu:4", reason="same value"))
    judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(sanitized(waived=(waived,)),)))

    assert judged["findings"] == []
    (one,) = judged["waived"]
    assert (one["kind"], one["line"], one["at"], one["reason"]) == ("race", 4, "scale.cu:4", "same value")
    assert any("but what is waived at n51" in proved for proved in judged["certificate"]["proved"])


def test_cases_that_were_not_sanitized_are_named():
    left = replace(passed(), case_id="n64", sanitized=Sanitized(skipped="sim cannot execute it"))
    judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(sanitized(), left)))

    assert any(
        one.startswith("races, ") and one.endswith(" at n64") for one in judged["certificate"]["not_checked"]
    )
    assert judged["cases"][1]["sanitized"]["skipped"] == "sim cannot execute it"
    assert judged["cases"][0]["sanitized"]["orders"] == ["forward", "reverse"]


def test_nothing_is_proved_of_races_where_nobody_looked():
    judged = evaluation_json(evaluation(Status.ACCEPTED, outcomes=(passed(),)))

    assert any(one.startswith("races, ") for one in judged["certificate"]["not_checked"])
