"""`kernel[sanitize]`: what a user sees of findings and waivers, and that pytest's own features work on it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree
from dataclasses import replace
from typing import Any

import pytest
from altered_answers import Change, is_watched, showing

from pytest_cudaopt.finding import Finding, FindingKind, OtherParty
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.protocol import Request

RACY = """\
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x ^ 32] = i < n ? 2.0f * x[i] : 0.0f;
    if (i < n) y[i] = s[threadIdx.x ^ 32];
    if (i < n - 9999) y[i] = s[threadIdx.x];
}
"""
RACE = Finding(
    FindingKind.RACE,
    "made up: thread 1 writes what thread 2 reads",
    file="scale.cu",
    line=4,
    buffer="y",
    block=(0, 0, 0),
    thread=(1, 0, 0),
    times=7,
    other=OtherParty("read", "scale.cu", 5, block=(0, 0, 0), thread=(2, 0, 0)),
)
UNWRITTEN = Finding(FindingKind.UNINITIALIZED_READ, "made up: nobody wrote it", file="scale.cu", line=5)
UNKNOWN = Finding(FindingKind.UNSUPPORTED_INSTRUCTION, "sim cannot execute 'wgmma'")
WAIVERS = 'waivers=[waive("race", at="scale.cu:4", reason="same value")], cases='


@pytest.fixture
def alter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what alters the answers to launches that are watched."""
    ask = Harness.ask

    def altered(change: Change) -> None:
        def asked(self: Harness, request: Request) -> Any:
            answer = ask(self, request)
            return change(answer) if is_watched(request) else answer

        monkeypatch.setattr(Harness, "ask", asked)

    return altered


def waive_in(project: Any, old: str = "cases=", new: str = WAIVERS) -> None:
    project.edit("test_scale.py", "import In", "import waive, In")
    project.edit("test_scale.py", old, new)


def test_a_right_kernel_passes_and_says_what_was_looked_at(project: Any) -> None:
    result = project.run("-k", "sanitize")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["  sanitize  passed  5 cases, each in 3 orders"])


def test_a_race_is_shown_like_a_compilers_error(project: Any, alter: Any) -> None:
    alter(showing(RACE))
    result = project.run("-k", "sanitize")

    result.assert_outcomes(failed=1, deselected=5)
    start = result.outlines.index("RACE: made up: thread 1 writes what thread 2 reads")
    assert result.outlines[start + 1 :][:10] == [
        "  case      n=51, launched with grid=1 block=64, on sim (modelled h200)",
        "  by        block (0, 0, 0), thread (1, 0, 0)",
        "  seen      7 times",
        "  at        scale.cu:4",
        "  other     read by block (0, 0, 0), thread (2, 0, 0) at scale.cu:5",
        "       2 | // @tune BLOCK = 64, 128, 256",
        '       3 | extern "C" __global__ void scale(const float* x, float* y, int n) {',
        "  >    4 |     int i = blockIdx.x * BLOCK + threadIdx.x;",
        "  >    5 |     if (i < n) y[i] = 2.0f * x[i];",
        "       6 | }",
    ]
    result.stdout.fnmatch_lines(
        [
            "  likewise  n=4096; n=*; n=*; n=*",
            "reproduce: pytest 'test_scale.py::scale[[]sanitize[]]'",
            "           case(n=51)",
            "  sanitize  race",
            "FAILED test_scale.py::scale[[]sanitize[]] - RACE: made up: *",
        ]
    )


def test_a_real_race_is_found_where_every_check_passes(project: Any) -> None:
    project.write("scale.cu", RACY.replace("n - 9999", "0"))
    project.run().assert_outcomes(passed=6)
    project.write("scale.cu", RACY.replace("i < n - 9999", "n > 4999 || s[threadIdx.x] == 7e37f"))
    result = project.run("--cudaopt-fuzz-examples=0")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["RACE: kernel 'scale' *", "  >    5 | *", "  >    7 | *"])


def test_rounding_is_told_to_whoever_wants_to_see_more(project: Any) -> None:
    project.edit("scale.cu", "2.0f * x[i]", "2.0002f * x[i]")
    project.edit("test_scale.py", "cases=", "rtol=1e-3, cases=")
    quiet, verbose = project.run("-k", "sanitize"), project.run("-v", "-k", "sanitize")

    verbose.stdout.fnmatch_lines(
        ["  sanitize  passed  5 cases*", "*y: rounding error *e-0*, logic error 0.0001 of *"]
    )
    assert "rounding error" not in quiet.stdout.str()


def test_several_findings_are_all_shown_the_most_severe_first(project: Any, alter: Any) -> None:
    alter(showing(UNWRITTEN, RACE))
    result = project.run("-k", "sanitize")

    result.stdout.fnmatch_lines(
        [
            "RACE: made up: *",
            "  also      UNINITIALIZED READ: made up: nobody wrote it",
            "  at        scale.cu:5",
        ]
    )


def test_many_findings_are_bounded(project: Any, alter: Any) -> None:
    alter(showing(*(replace(UNWRITTEN, buffer=f"a{number}") for number in range(9))))
    result = project.run("-k", "sanitize")

    assert result.stdout.str().count("UNINITIALIZED READ: made up") == 1 + 4 + 1
    result.stdout.fnmatch_lines(["  and 4 more findings"])


def test_a_finding_without_a_line_has_no_excerpt(project: Any, alter: Any) -> None:
    alter(showing(Finding(FindingKind.RACE, "made up: nobody knows where")))
    result = project.run("-k", "sanitize")

    result.stdout.fnmatch_lines(
        ["RACE: made up: nobody knows where", "  case *", "  likewise *", "reproduce: *"]
    )
    result.stdout.no_fnmatch_line("  >*")


def test_a_waived_finding_is_shown_with_its_reason_wherever_it_would_have_been(
    project: Any, alter: Any
) -> None:
    alter(showing(RACE))
    waive_in(project)
    result = project.run("-k", "sanitize", "-rP")

    result.assert_outcomes(passed=1, deselected=5)
    told = "race at scale.cu:4 is waived: same value, seen 7 times"
    assert [line.strip() for line in result.outlines].count(told) == 2
    result.stdout.fnmatch_lines(["  sanitize  passed  5 cases, each in 3 orders", f"  * {told}"])

    checked = project.cudaopt("check", "test_scale.py::scale")
    assert checked.ret == 0
    checked.stdout.fnmatch_lines([f"  n51    passed  {told}"])
    judged = json.loads(project.cudaopt("check", "test_scale.py::scale", "--json").stdout.str())
    assert judged["findings"] == []
    assert {(one["kind"], one["case"], one["at"], one["reason"]) for one in judged["waived"]} == {
        ("race", "n51", "scale.cu:4", "same value"),
        ("race", "n4096", "scale.cu:4", "same value"),
    }


def test_a_waived_finding_stands_beside_one_that_fails(project: Any, alter: Any) -> None:
    alter(showing(RACE, UNWRITTEN))
    waive_in(project)
    result = project.run("-k", "sanitize")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "UNINITIALIZED READ: made up: nobody wrote it",
            "  waived    race at scale.cu:4 is waived: same value*",
        ]
    )


def test_a_waiver_that_matches_nothing_is_a_warning(project: Any) -> None:
    waive_in(project)
    result = project.run("-k", "sanitize")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(
        ['warning: waive("race", at="scale.cu:4") matches no finding (scale sanitize)']
    )


def test_what_sim_cannot_execute_skips_the_item(project: Any, alter: Any) -> None:
    alter(lambda answer: replace(answer, fault=UNKNOWN))
    result = project.run("-k", "sanitize", "-rs")

    result.assert_outcomes(skipped=1, deselected=5)
    result.stdout.fnmatch_lines(
        ["  sanitize  unsupported", "SKIPPED*test_scale.py:3: sim cannot execute 'wgmma'"]
    )


def test_one_case_that_sim_cannot_execute_is_mentioned(project: Any, alter: Any) -> None:
    alter(lambda answer: replace(answer, fault=UNKNOWN) if "n=4096" in answer.id else answer)
    result = project.run("-k", "sanitize")

    result.stdout.fnmatch_lines(
        ["  sanitize  passed  4 cases, each in 3 orders; 1 more case not executed: sim cannot execute *"]
    )


def test_a_fault_that_a_check_has_shown_is_not_shown_again(project: Any) -> None:
    project.edit("scale.cu", "if (i < n) ", "")
    together = project.run("--cudaopt-fuzz-examples=0", "-rs")
    alone = project.run("-k", "sanitize")

    together.assert_outcomes(failed=1, passed=3)
    alone.assert_outcomes(failed=1, deselected=5)
    alone.stdout.fnmatch_lines(["FAULT: illegal_address: *x[[]*", "           case(n=51)"])


def test_how_large_a_case_may_be_can_be_chosen_and_is_reproduced(project: Any, alter: Any) -> None:
    alter(showing(RACE))
    result = project.run("-k", "sanitize", "--cudaopt-sanitize-elements=200", "--cudaopt-fuzz-seed=3")

    result.stdout.fnmatch_lines(
        [
            "reproduce: pytest 'test_scale.py::scale[[]sanitize[]]' --cudaopt-fuzz-seed=3 "
            "--cudaopt-sanitize-elements=200"
        ]
    )
    assert "n=4096" not in result.stdout.str()


def test_the_same_declaration_draws_the_same_cases(project: Any, alter: Any) -> None:
    alter(showing(RACE))

    def likewise() -> str:
        lines = project.run("-k", "sanitize").outlines
        return next(line for line in lines if line.startswith("  likewise"))

    assert likewise() == likewise()


def test_a_draw_that_the_reference_is_not_for_is_no_failure(project: Any, alter: Any) -> None:
    alter(showing(RACE))
    project.edit("test_scale.py", "    y[...]", "    assert n in (51, 4096)\n    y[...]")

    project.run("-k", "sanitize").assert_outcomes(failed=1, deselected=5)


def test_it_reaches_junit_and_workers(project: Any) -> None:
    project.run_alone("-n", "2", "--junitxml=out.xml", "-m", "cudaopt_sanitize").assert_outcomes(passed=1)
    (one,) = xml.etree.ElementTree.parse(project.path / "out.xml").iter("testcase")  # noqa: S314 - our own
    properties = {found.get("name"): found.get("value") for found in one.iter("property")}

    assert one.get("name") == "scale[sanitize]"
    assert properties["cudaopt.note"] == "5 cases, each in 3 orders"


def test_a_candidate_with_a_race_is_a_no_with_both_lines(project: Any) -> None:
    project.write("racy.cu", RACY.replace("i < n - 9999", "i < n && s[threadIdx.x] == 7e37f"))
    result = project.cudaopt("check", "test_scale.py::scale", "racy.cu")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["RACE: kernel 'scale' *", "  at        racy.cu:*", "  >    5 | *", "  >    7 | *"]
    )
    answered = project.cudaopt("check", "test_scale.py::scale", "racy.cu", "--json")
    judged = json.loads(answered.stdout.str())
    assert (answered.ret, judged["accepted"], judged["status"]) == (1, False, "finding")
    assert {one["kind"] for one in judged["findings"]} == {"race"}
    assert {judged["findings"][0]["line"], judged["findings"][0]["other"]["line"]} == {5, 7}
    assert project.cudaopt("check", "test_scale.py::scale", "racy.cu", "--sanitize-elements=0").ret == 0


def test_optimising_does_not_start_from_a_kernel_with_a_race(project: Any, alter: Any) -> None:
    alter(showing(RACE))
    result = project.run("--optimize", "-k", "optimize")

    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(
        ["RACE: made up: *", "  not optimised: the starting kernel must pass its own checks first"]
    )


def test_optimising_rejects_a_candidate_with_a_race(project: Any) -> None:
    racy = RACY.replace("i < n - 9999", "WIDE == 2 && s[threadIdx.x] == 7e37f")
    project.write("scale.cu", racy.replace("// @launch", "// @tune WIDE = 1, 2\n// @launch"))
    result = project.run("--optimize", "-k", "optimize")

    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(["*nothing faster found in 1 attempts, of which 1 not accepted*"])
    (log,) = project.path.glob("results/run-001/attempt-01/log.txt")
    assert re.search(r"verdict: finding: case n51: kernel 'scale' .*scale\.cu:[68]", log.read_text())
