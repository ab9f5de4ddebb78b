"""What GitHub Actions reads: commands that hold any text, and a summary that it shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reported_rows import CHECKED, FAULT, ROWS, SESSION, SLOW, SLOWER, UNSURE

from pytest_cudaopt.github import annotation_lines, is_in_actions, step_summary
from pytest_cudaopt.markdown_report import markdown_report
from pytest_cudaopt.session_report import FailedItem, SessionReport

ROOT = Path("/checkout/kernels")
MISSING = FailedItem("test_a.py::a[check-n1]", "ENVIRONMENT: no GPU", "", "test_a.py", 3)


def lines_of(*failed, rows=(), workspace="/checkout"):
    return list(annotation_lines(SessionReport(rows, failed), ROOT, Path(workspace)))


def test_a_failure_is_an_error_at_its_line_in_the_checkout():
    title = "test_softmax.py%3A%3Asoftmax[latency-n4096]"

    assert lines_of(SLOW) == [f"::error file=kernels/softmax.cu,line=12,title={title}::SLOWER: 31 %25"]


@pytest.mark.parametrize(
    ("summary", "shown"),
    [("50% off", "50%25 off"), ("a\r\nb", "a%0D%0Ab"), ("%0A", "%250A"), ("a::b,c=d", "a::b,c=d")],
)
def test_a_message_may_hold_anything(summary, shown):
    (line,) = lines_of(replace(FAULT, summary=summary))

    assert line.split("::", 2)[2] == shown
    assert "\n" not in line


def test_a_title_may_hold_what_separates_properties():
    (line,) = lines_of(replace(FAULT, item="a,b::c\n%"))

    assert line.split("::")[1].endswith(",title=a%2Cb%3A%3Ac%0A%25")


def test_a_file_outside_of_the_checkout_keeps_its_path():
    (line,) = lines_of(replace(FAULT, file="/elsewhere/saxpy.cu"))

    assert line.startswith("::error file=/elsewhere/saxpy.cu,line=16,")


def test_failures_alike_share_a_line():
    again = replace(MISSING, item="test_b.py::b[check-n1]", file="test_b.py")
    other = replace(FAULT, line=17)
    lines = lines_of(MISSING, FAULT, again, replace(FAULT, item="x"), other)

    assert [line.split("title=")[1].split("::")[0] for line in lines] == [
        "test_a.py%3A%3Aa[check-n1] and 1 more",
        "test_saxpy.py%3A%3Asaxpy[check-n1021] and 1 more",
        "test_saxpy.py%3A%3Asaxpy[check-n1021]",
    ]


def test_what_somebody_should_look_at_is_a_warning():
    passed_over = replace(CHECKED, device_warning="auto: sim, cuda:0 cannot be opened")
    lines = lines_of(rows=(passed_over, SLOWER, UNSURE))

    assert lines == [
        "::warning title=CUDA kernels::WARNING: auto: sim, cuda:0 cannot be opened",
        "::warning title=test_softmax.py%3A%3Asoftmax[latency-n8192]::unsure: too few blocks",
        "::warning title=test_softmax.py%3A%3Asoftmax[latency-n8192]::the clock moved",
    ]


def test_the_cut_of_a_budget_is_a_warning():
    lines = list(annotation_lines(SESSION, ROOT, ROOT))

    assert f"::warning title=CUDA kernels::{SESSION.cut}" in lines


def test_nothing_to_say_is_no_line():
    assert lines_of(rows=(CHECKED,)) == []


@pytest.mark.parametrize(
    ("environ", "is_in"), [({}, False), ({"GITHUB_ACTIONS": "true"}, True), ({"GITHUB_ACTIONS": ""}, False)]
)
def test_only_actions_are_actions(environ, is_in):
    assert is_in_actions(environ) is is_in


def test_a_summary_that_is_too_long_shows_what_did_not_pass():
    many = tuple(replace(CHECKED, position=10 + number, case=f"n{number}") for number in range(100))
    report = SessionReport((*ROWS, *many), SESSION.failed)
    whole = markdown_report(report)

    assert step_summary(report, len(whole.encode())) == whole
    short = step_summary(report, len(whole.encode()) - 1)
    assert "n1021" in short
    assert "| n57 |" in whole
    assert "| n57 |" not in short
    assert "Cases that passed are left out" in short
    assert len(step_summary(report, 300).encode()) <= 300
