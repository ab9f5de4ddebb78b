"""`kernel[limits]`: what a user sees of it, and that `cudaopt check` and `--optimize` keep the limits too."""

from __future__ import annotations

import json
import xml.etree.ElementTree
from typing import Any

import pytest

# Every thread holds ITEMS values at a time: more of them, more registers.
HOLDS = """\
// @launch grid=(cdiv(n, 64 * ITEMS)) block=(64)
// @tune ITEMS = 1, 2, 24
extern "C" __global__ void scale(const float* x, float* y, int n) {
    float held[ITEMS];
    const int first = blockIdx.x * 64 * ITEMS + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) held[k] = first + 64 * k < n ? x[first + 64 * k] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        if (first + 64 * k < n) y[first + 64 * k] = 2.0f * held[k];
    }
}
"""
UNROLLED = HOLDS.replace("ITEMS = 1, 2, 24", "ITEMS = 24, 1")
SPILLING = UNROLLED.replace("// @tune", "// @options --maxrregcount=24\n// @tune")


@pytest.fixture
def limited(project: Any) -> Any:
    """Return what declares limits, and perhaps a waiver, for the project's kernel."""

    def declare(text: str, source: str = HOLDS) -> Any:
        project.write("scale.cu", source)
        project.edit("test_scale.py", "import In", "import In, limits, waive")
        project.edit("test_scale.py", "cases=", f"{text}, cases=")
        return project

    return declare


def test_a_kernel_without_limits_has_no_such_item(project: Any) -> None:
    project.run("-m", "cudaopt_limits").assert_outcomes(deselected=6)


def test_a_kernel_within_its_limits_passes_and_shows_its_numbers(limited: Any) -> None:
    project = limited("limits=limits(registers=64, spill_bytes=0, shared_bytes=48 * 1024)")
    result = project.run("-m", "cudaopt_limits")

    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(
        ["  limits  passed  ?* registers of 64, 0 B spilled, 0 B shared of 48 KiB; could be registers=*"]
    )


def test_more_registers_than_allowed_fail_at_the_kernels_line(limited: Any) -> None:
    result = limited("limits=limits(registers=24)", UNROLLED).run("-k", "limits")

    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(
        [
            "LIMIT: * registers per thread, limits() allows 24 (sm_90, NVRTC *)",
            "  at        scale.cu:3",
            '  >    3 | extern "C" __global__ void scale(*',
            '  next      Take less, raise *, or declare waive("registers_exceeded", at="scale.cu:3", *',
            "reproduce: pytest 'test_scale.py::scale[[]limits[]]'",
            "  limits  limit  * registers of 24, 0 B spilled, 0 B shared",
            "FAILED test_scale.py::scale[[]limits[]] - LIMIT: *",
        ]
    )


def test_only_the_limits_item_fails_for_a_limit(limited: Any) -> None:
    limited("limits=limits(registers=1)").run().assert_outcomes(failed=1, passed=6)


def test_spills_are_counted_as_stores_and_loads(limited: Any) -> None:
    result = limited("limits=limits(spill_bytes=0)", SPILLING).run("-k", "limits")

    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(["LIMIT: * bytes spilled (* stored, * loaded), limits() allows 0 (sm_90, *"])


def test_shared_memory_by_the_launch_rule_counts(limited: Any) -> None:
    source = HOLDS.replace("block=(64)", "block=(64) shared=4*n")
    result = limited("limits=limits(shared_bytes=16383)", source).run("-k", "limits")

    result.stdout.fnmatch_lines(
        ["LIMIT: 16384 bytes of shared memory per block (0 static) at n4096, limits() allows 16383 (sm_90, *"]
    )


def test_every_limit_that_is_exceeded_is_shown(limited: Any) -> None:
    source = SPILLING.replace("block=(64)", "block=(64) shared=4*n")
    text = "limits=limits(registers=20, spill_bytes=0, shared_bytes=0)"
    result = limited(text, source).run("-k", "limits")

    result.stdout.fnmatch_lines(
        [
            "LIMIT: * registers per thread, *",
            "  also      * bytes spilled *",
            "  also      16384 bytes of shared memory *",
        ]
    )


def test_a_waived_limit_passes_and_is_shown_with_its_reason(limited: Any) -> None:
    waiver = 'waive("registers_exceeded", at="scale.cu:3", reason="until it is split")'
    project = limited(f"limits=limits(registers=24, spill_bytes=0), waivers=[{waiver}]", UNROLLED)
    result = project.run("-k", "limits")

    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(
        [
            "  limits  passed  * registers of 24, 0 B spilled, 0 B shared",
            "*registers_exceeded at scale.cu:3 is waived: until it is split",
        ]
    )
    result.stdout.no_fnmatch_line("warning: *")


def test_a_waiver_of_one_limit_waives_no_other(limited: Any) -> None:
    waiver = 'waive("registers_exceeded", at="scale.cu", reason="until it is split")'
    project = limited(f"limits=limits(registers=20, spill_bytes=0), waivers=[{waiver}]", SPILLING)
    result = project.run("-k", "limits")

    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(
        ["LIMIT: * bytes spilled *", "  waived    registers_exceeded at scale.cu is *"]
    )


def test_a_waiver_of_a_limit_that_is_kept_is_a_warning_of_the_limits_item_alone(limited: Any) -> None:
    waivers = 'waive("spill_exceeded", at="scale.cu", reason="x"), waive("race", at="scale.cu", reason="y")'
    result = limited(f"limits=limits(spill_bytes=0), waivers=[{waivers}]").run()

    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(
        [
            'warning: waive("race", at="scale.cu") matches no finding (scale sanitize)',
            'warning: waive("spill_exceeded", at="scale.cu") matches no finding (scale limits)',
        ]
    )


def test_a_launch_that_is_impossible_is_no_limit_but_doubtful(limited: Any) -> None:
    source = HOLDS.replace("block=(64)", "block=(64) shared=n - 100")
    result = limited("limits=limits(shared_bytes=4096)", source).run("-k", "limits")

    result.assert_outcomes(passed=1, deselected=6)
    result.stdout.fnmatch_lines(["warning: no launch, so shared memory is not known, at n51 (scale limits)"])


def test_a_source_that_does_not_compile_fails_as_everywhere(limited: Any) -> None:
    result = limited("limits=limits(registers=24)", HOLDS.replace("2.0f", "two")).run("-k", "limits")

    result.assert_outcomes(failed=1, deselected=6)
    result.stdout.fnmatch_lines(["COMPILE: scale.cu: *two*"])


def test_numbers_and_failures_reach_junit_files_through_xdist(limited: Any) -> None:
    project = limited("limits=limits(registers=24)", UNROLLED)
    project.run_alone("-n", "2", "--junitxml=out.xml", "-m", "cudaopt_limits").assert_outcomes(failed=1)

    (found,) = xml.etree.ElementTree.parse(project.path / "out.xml").iter("testcase")  # noqa: S314 - our own
    properties = {one.get("name"): one.get("value") for one in found.iter("property")}
    assert properties["cudaopt.stage"] == "limits"
    assert properties["cudaopt.status"] == "limit"
    assert " registers of 24, 0 B spilled" in properties["cudaopt.note"]
    (failure,) = found.iter("failure")
    assert failure.get("message", "").startswith("LIMIT: ")


def test_cudaopt_check_refuses_a_candidate_before_it_launches_it(limited: Any) -> None:
    project = limited("limits=limits(registers=24)")
    project.write("unrolled.cu", UNROLLED)
    accepted = project.cudaopt("check", "test_scale.py::scale", "--fuzz-examples=0")
    refused = project.cudaopt("check", "test_scale.py::scale", "unrolled.cu", "--json")

    assert accepted.ret == 0
    accepted.stdout.fnmatch_lines(
        ["  limits  passed  * registers of 24*", "  keeps limits(registers=24) (sm_90, *"]
    )
    verdict = json.loads(refused.stdout.str())
    assert refused.ret == 1
    assert (verdict["status"], verdict["cases"]) == ("finding", [])
    assert verdict["limits"]["declared"] == {"registers": 24}
    (finding,) = verdict["findings"]
    assert (finding["kind"], finding["file"], finding["line"]) == ("registers_exceeded", "unrolled.cu", 3)


def test_optimize_refuses_what_exceeds_a_limit(limited: Any) -> None:
    project = limited("limits=limits(registers=24)")
    result = project.run("--optimize", "-k", "optimize", "--cudaopt-fuzz-examples=0")

    result.assert_outcomes(passed=1, deselected=5)

    result.stdout.fnmatch_lines(["*in 2 attempts, of which 1 not accepted"])
    (history,) = project.path.glob("results/run-*/history.jsonl")
    attempts = [json.loads(line) for line in history.read_text().splitlines()]
    by_items = {one["tunables"]["ITEMS"]: one for one in attempts}
    assert by_items[2]["status"] == "accepted"
    assert by_items[24]["status"] == "finding"
    assert "registers per thread, limits() allows 24" in by_items[24]["reason"]
    logs = [(history.parent / f"attempt-0{number}" / "log.txt").read_text() for number in range(3)]
    assert all(" registers of 24, 0 B spilled, 0 B shared" in log for log in logs)


def test_a_start_that_exceeds_a_limit_is_not_optimised(limited: Any) -> None:
    result = limited("limits=limits(registers=24)", UNROLLED).run("--optimize", "-k", "optimize")

    result.assert_outcomes(failed=1, deselected=7)
    result.stdout.fnmatch_lines(["LIMIT: * registers per thread, *", "  not optimised: *"])
