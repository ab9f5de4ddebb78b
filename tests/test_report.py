"""Failure texts: their class first, then what was seen, where, and how to run it again."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_kernels import (
    evaluation,
    out_of_bounds,
    scale_candidate,
    scale_kernel,
    source_folder,
    wrong_outcome,
)

from pytest_cudaopt import case
from pytest_cudaopt.errors import (
    BaselineError,
    DeclarationError,
    EnvironmentFault,
    ExpressionError,
    HarnessError,
    LaunchError,
    ReferenceFault,
    SourceError,
    SourceLocation,
)
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Diagnostic, Status
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.properties import Obligations, Property
from pytest_cudaopt.reasons import blame
from pytest_cudaopt.report import (
    FailureClass,
    describe_error,
    describe_evaluation,
    reproduce_lines,
)


def described(judged):
    return describe_evaluation(scale_kernel(), scale_candidate(), judged, source_folder())


def test_a_wrong_result_shows_share_tolerance_and_worst_element():
    failure = described(evaluation(Status.WRONG_RESULT, outcomes=(wrong_outcome(),)))

    assert failure.text.splitlines() == [
        "WRONG: y: 12 of 51 elements (23.5 %) differ from the reference",
        "  case      n=51, launched with grid=1 block=64, on sim (modelled h200)",
        "  output    y: 12 of 51 elements (23.5 %) differ",
        "  accepted  |got - expected| <= 1e-06 + 1e-05 * |expected|",
        "  worst     y[50]: expected 2.5, got 2.75, abs 0.25, rel 0.1, 1.05e+06 ulp",
        "  first     y[50]: expected 2.5, got 2.75, abs 0.25, rel 0.1, 1.05e+06 ulp",
    ]


def test_what_means_nothing_for_an_element_is_left_out():
    outcome = wrong_outcome(expected=float("nan"), got=1.0, absolute=None, relative=None, ulp=None)

    assert (
        "worst     y[50]: expected nan, got 1\n"
        in described(evaluation(Status.WRONG_RESULT, outcomes=(outcome,))).text
    )


def test_a_timed_launch_that_was_wrong_is_said_to_be_one():
    note = "a timed launch, on inputs it had not seen, is wrong"
    outcome = replace(wrong_outcome(), note=note)

    headline = described(evaluation(Status.WRONG_RESULT, outcomes=(outcome,))).headline
    assert headline == f"{note}: y: 12 of 51 elements (23.5 %) differ from the reference"


def test_an_impossible_time_is_a_finding_with_its_numbers():
    finding = Finding(FindingKind.IMPLAUSIBLE, "0.500 us (cold) is less than the 2.000 us that ... take")
    outcome = CaseOutcome(case(n=51), "n51", CaseStatus.FINDING, findings=(finding,))
    failure = described(evaluation(Status.FINDING, outcomes=(outcome,), findings=(finding,)))

    assert failure.headline.startswith("implausible: 0.500 us (cold) is less than the 2.000 us")
    assert failure.kind is FailureClass.FINDING


def test_passed_cases_are_not_shown():
    passed = CaseOutcome(case(n=64), "n64", CaseStatus.PASSED)
    text = described(evaluation(Status.WRONG_RESULT, outcomes=(passed, wrong_outcome()))).text

    assert "n=64" not in text


def test_a_fault_shows_the_access_the_thread_and_the_line():
    finding = out_of_bounds()
    outcome = CaseOutcome(case(n=51), "n51", CaseStatus.FAULT, findings=(finding,))
    failure = described(evaluation(Status.FAULT, outcomes=(outcome,), findings=(finding,)))

    assert failure.text.splitlines() == [
        "FAULT: illegal_address: read outside of 'x'",
        "  case      n=51, on sim (modelled h200)",
        "  access    read of x[51], which has 51 elements (4 bytes)",
        "  by        block (0, 0, 0), thread (51, 0, 0)",
        "  executing ld.global.f32 %f1, [%rd4]",
        "  at        scale.cu:4",
        '       2 | extern "C" __global__ void scale(const float* x, float* y, int n) {',
        "       3 |     int i = blockIdx.x * 64 + threadIdx.x;",
        "  >    4 |     y[i] = 2.0f * x[i];",
        "       5 | }",
    ]
    assert failure.at == SourceLocation(str(source_folder() / "scale.cu"), 4)


def test_what_a_faults_message_says_is_not_said_again():
    message = "reads x[51] but 'x' has 51 elements, block (0,0,0), thread (51,0,0)"
    finding = replace(out_of_bounds(), message=message)
    text = described(evaluation(Status.FAULT, findings=(finding,))).text

    assert text.count("x[51]") == 1
    assert text.count("thread (") == 1
    assert "at        scale.cu:4" in text


def test_a_fault_in_a_header_has_no_excerpt_of_the_kernel():
    finding = out_of_bounds()
    elsewhere = replace(finding, file="cuda_fp16.hpp")
    failure = described(evaluation(Status.FAULT, findings=(elsewhere,)))

    assert "at        cuda_fp16.hpp:4" in failure.text
    assert "2.0f" not in failure.text
    assert failure.at is None


def test_compile_errors_show_the_line_and_a_caret():
    diagnostics = (
        Diagnostic("scale.cu", 3, 9, "warning", "unused"),
        Diagnostic("scale.cu", 4, 7, "error", 'identifier "x" is undefined'),
        Diagnostic("scale.cu", 5, 0, "error", "expected a ;"),
    )
    failure = described(evaluation(Status.COMPILE_ERROR, diagnostics=diagnostics))

    assert failure.text.splitlines()[:7] == [
        'COMPILE: scale.cu: 2 errors, the first: identifier "x" is undefined',
        '  scale.cu:4:7: error: identifier "x" is undefined',
        '       2 | extern "C" __global__ void scale(const float* x, float* y, int n) {',
        "       3 |     int i = blockIdx.x * 64 + threadIdx.x;",
        "  >    4 |     y[i] = 2.0f * x[i];",
        "         |          ^",
        "       5 | }",
    ]
    assert "unused" not in failure.text
    assert failure.at.line == 4


def test_of_many_compile_errors_the_rest_is_counted():
    errors = tuple(Diagnostic("scale.cu", line, 1, "error", f"number {line}") for line in range(1, 9))
    text = described(evaluation(Status.COMPILE_ERROR, diagnostics=errors)).text

    assert "number 5" in text
    assert "number 6" not in text
    assert "and 3 more errors" in text


@pytest.mark.parametrize(
    ("error_type", "kind"),
    [
        (SourceError, FailureClass.SOURCE),
        (LaunchError, FailureClass.LAUNCH),
        (ReferenceFault, FailureClass.REFERENCE),
        (BaselineError, FailureClass.BASELINE),
        (EnvironmentFault, FailureClass.ENVIRONMENT),
        (HarnessError, FailureClass.ENVIRONMENT),
        (DeclarationError, FailureClass.DECLARATION),
        (ExpressionError, FailureClass.DECLARATION),
    ],
)
def test_errors_have_a_class(error_type, kind):
    assert describe_error(error_type("x"), Path("/")).kind is kind


def test_an_error_shows_expected_got_next_and_place():
    error = DeclarationError(
        "cases", expected="one", got="none\nat all", next_step="Add one", at=SourceLocation("/a/test_b.py", 3)
    )
    failure = describe_error(error, Path("/a"))

    assert failure.text.splitlines() == [
        "DECLARATION: cases",
        "  expected  one",
        "  got       none",
        "    at all",
        "  next      Add one",
        "  at        test_b.py:3",
    ]
    assert failure.summary == "DECLARATION: cases: expected one, got none"


def test_the_reproduce_line_can_be_pasted_into_a_shell():
    assert reproduce_lines("tests/test_a.py::k[check-n1]", ["--cudaopt-device=sim"], case(n=1)) == [
        "reproduce: pytest 'tests/test_a.py::k[check-n1]' --cudaopt-device=sim",
        "           case(n=1)",
    ]


LOST = replace(wrong_outcome(), case=case(n=9, seed=3), status=CaseStatus.LOST, lost=Property.MAGNITUDES)


def test_a_lost_property_is_named_with_what_gives_it_up_and_the_case_in_full():
    failure = described(evaluation(Status.LOST_PROPERTY, outcomes=(LOST,)))

    assert failure.kind is FailureClass.LOST_PROPERTY
    assert failure.headline == "magnitudes: y: 12 of 51 elements (23.5 %) differ from the reference"
    assert (
        "  case      case(n=9, seed=3), launched with grid=1 block=64, on sim (modelled h200)"
        in failure.details
    )
    assert failure.details[-2:] == (
        "  property  the starting kernel is right on tiny, huge and mixed magnitudes; this one is not",
        "  next      Mend it; if it may be given up, declare ignored=['magnitudes']",
    )


def test_a_property_that_is_required_is_not_given_up():
    judged = evaluation(Status.LOST_PROPERTY, outcomes=(LOST,))
    declared = replace(scale_kernel(), obligations=Obligations.declared(["magnitudes"], []))
    failure = describe_evaluation(declared, scale_candidate(), judged, source_folder())

    assert failure.details[-1] == (
        "  property  required=['magnitudes']: a kernel must be right on tiny, huge and mixed magnitudes"
    )


@pytest.mark.parametrize(
    ("lost", "kind"),
    [(Property.EMPTY_SIZES, FailureClass.LOST_PROPERTY), (Property.FUZZED_SIZES, FailureClass.FAULT)],
)
def test_a_fault_loses_a_property_only_beyond_the_contract(lost, kind):
    found = out_of_bounds()
    outcome = CaseOutcome(case(n=9), "n9", CaseStatus.FAULT, findings=(found,), lost=lost)
    failure = described(evaluation(Status.FAULT, outcomes=(outcome,), findings=(found,)))

    assert failure.kind is kind
    assert ("ignored=" in failure.text) is (kind is FailureClass.LOST_PROPERTY)
    assert blame(outcome).startswith("lost property") is (kind is FailureClass.LOST_PROPERTY)
