"""Baselines and the gate as a user meets them: recorded, held to, failing with the cause, left alone."""

from __future__ import annotations

import json
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest
from git_projects import Repository

# Each thread a stretch of its own, so that neighbours read other sectors.
STRETCHES = (
    "int i = blockIdx.x * BLOCK + threadIdx.x;\n    if (i < n) y[i] = 2.0f * x[i];",
    "int k = blockIdx.x * BLOCK + threadIdx.x, i = k % 32 * (n / 32) + k / 32;\n"
    "    if (k < n / 32 * 32) y[i] = 2.0f * x[i];\n    else if (k < n) y[k] = 2.0f * x[k];",
)
LATENCY = ("-k", "latency")


@pytest.fixture
def recorded(project: Any) -> Any:
    """Return a project whose measured case of half a million elements is recorded."""
    project.edit("test_scale.py", "case(n=4096, measure=True)", "case(n=1 << 19, measure=True)")
    result = project.run(*LATENCY, "--cudaopt-baseline=update")
    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["*baseline of n524288 recorded"])
    return project


def files(project: Any) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.path / "__baselines__").iterdir()}


def test_nothing_is_written_unasked(project: Any) -> None:
    project.run().assert_outcomes(passed=6)
    assert not (project.path / "__baselines__").exists()


def test_a_recorded_kernel_is_the_same_and_its_files_stay_as_they_are(recorded: Any) -> None:
    before = files(recorded)
    assert set(before) == {"test_scale.scale.cu", "test_scale.scale.sim-h200.json"}

    for mode in ("check", "update", "update-new"):
        result = recorded.run(*LATENCY, f"--cudaopt-baseline={mode}")
        result.assert_outcomes(passed=1, deselected=5)
        result.stdout.fnmatch_lines(["  n524288  passed  * modelled (*), same as before"])
        assert files(recorded) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0f * x[i]", "x[i] * 2.0f"),
        ("int i = ", "int\n        i = "),
        ("// @tune", "// Doubles x.\n// @tune"),
    ],
    ids=["said-otherwise", "reformatted", "commented"],
)
def test_what_compiles_to_the_same_is_the_same(recorded: Any, old: str, new: str) -> None:
    recorded.edit("scale.cu", old, new)
    recorded.run(*LATENCY).assert_outcomes(passed=1, deselected=5)


def test_a_slowed_kernel_fails_and_is_told_the_counter_and_the_line(recorded: Any) -> None:
    before = files(recorded)
    recorded.edit("scale.cu", *STRETCHES)
    result = recorded.run(*LATENCY, "--cudaopt-baseline=update", "--junitxml=j.xml")

    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(
        [
            "SLOWER: n524288 against baseline: modelled latency is * times the earlier one, * -> *: "
            "global load sectors per request 4 -> 3* at scale.cu:5; *",
            "  changed   cudaopt baseline diff test_scale.py::scale",
            "  next      Make it as fast again, or record it: *--cudaopt-accept-slower",
            "  n524288  slower  * modelled (*)",
            "*baseline of n524288 stays: *",
        ]
    )
    assert files(recorded) == before
    (failed,) = xml.etree.ElementTree.parse(recorded.path / "j.xml").iter("testcase")  # noqa: S314 - ours
    properties = {one.get("name"): one.get("value") for one in failed.iter("property")}
    assert (properties["cudaopt.status"], properties["cudaopt.verdict"]) == ("slower", "slower")
    assert [one.get("message", "")[:7] for one in failed.iter("failure")] == ["SLOWER:"]


def test_a_slower_kernel_is_recorded_only_if_that_is_accepted(recorded: Any) -> None:
    recorded.edit("scale.cu", *STRETCHES)
    accepted = recorded.run(*LATENCY, "--cudaopt-baseline=update", "--cudaopt-accept-slower")
    accepted.assert_outcomes(passed=1, deselected=5)
    accepted.stdout.fnmatch_lines(["*baseline of n524288 recorded although *"])

    recorded.run(*LATENCY).assert_outcomes(passed=1, deselected=5)


def test_a_faster_kernel_passes_and_update_records_it(recorded: Any) -> None:
    recorded.edit("scale.cu", *STRETCHES)
    recorded.run(*LATENCY, "--cudaopt-baseline=update", "--cudaopt-accept-slower")
    recorded.edit("scale.cu", *STRETCHES[::-1])
    result = recorded.run(*LATENCY, "--cudaopt-baseline=update")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["*faster: modelled latency is 0.* times*", "*baseline of n524288 recorded*"])
    recorded.edit("scale.cu", *STRETCHES)
    recorded.run(*LATENCY).assert_outcomes(failed=1, deselected=5)


@pytest.mark.parametrize(
    "how", ["--cudaopt-baseline=off", "--cudaopt-sim-gate=off", "--cudaopt-sim-gate=warn"]
)
def test_what_is_switched_off_fails_nobody(recorded: Any, how: str) -> None:
    recorded.edit("scale.cu", *STRETCHES)
    result = recorded.run(*LATENCY, how)

    result.assert_outcomes(passed=1, deselected=5)
    warned = "*unsure: modelled latency is * times the earlier one*"
    (result.stdout.fnmatch_lines if "warn" in how else result.stdout.no_fnmatch_line)(
        [warned] if "warn" in how else warned
    )


def test_a_baseline_is_required_where_that_is_asked_for(project: Any) -> None:
    missing = project.run(*LATENCY, "--cudaopt-require=baseline")
    missing.assert_outcomes(failed=1, deselected=5)
    missing.stdout.fnmatch_lines(["NO BASELINE: --cudaopt-require=baseline: nothing is recorded *"])

    project.run(*LATENCY, "--cudaopt-baseline=update")
    project.run(*LATENCY, "--cudaopt-require=baseline").assert_outcomes(passed=1, deselected=5)


def test_what_cannot_be_told_fails_where_a_verdict_is_required(recorded: Any) -> None:
    recorded.edit("test_scale.py", "n=i32)", "n=i32, m=i32)")
    recorded.edit("test_scale.py", "n=1 << 19", "n=1 << 19, m=1")
    recorded.edit("test_scale.py", "n=51", "n=51, m=1")
    recorded.edit("scale.cu", "int n)", "int n, int m)")
    result = recorded.run(*LATENCY, "--cudaopt-require=baseline,verdict")

    # Another signature: nothing is recorded of that.
    result.assert_outcomes(failed=1, deselected=5)


def test_a_broken_baseline_fails_its_item_and_is_left_alone(recorded: Any) -> None:
    file: Path = recorded.path / "__baselines__" / "test_scale.scale.sim-h200.json"
    file.write_text(file.read_text()[:-40])
    for mode in ("check", "update"):
        result = recorded.run(*LATENCY, f"--cudaopt-baseline={mode}")
        result.assert_outcomes(failed=1, deselected=5)
        result.stdout.fnmatch_lines(["BASELINE: *"])
    with pytest.raises(json.JSONDecodeError):
        json.loads(file.read_text())


def test_workers_record_and_hold_to_baselines_too(project: Any) -> None:
    project.edit("test_scale.py", "case(n=51)", "case(n=51, measure=True)")
    project.run_alone("-n", "2", *LATENCY, "--cudaopt-baseline=update").assert_outcomes(passed=2)
    (document,) = (project.path / "__baselines__").glob("*.json")
    (version,) = json.loads(document.read_text())["versions"]
    assert sorted(version["cases"]) == ["n4096", "n51"]

    project.run_alone("-n", "2", *LATENCY, "--cudaopt-require=baseline,verdict").assert_outcomes(passed=2)


def test_a_property_that_the_baseline_has_must_not_be_lost(project: Any) -> None:
    contract = ("-k", "contract")
    project.run(*contract, "--cudaopt-baseline=update").assert_outcomes(passed=1, deselected=5)
    (document,) = (project.path / "__baselines__").glob("*.json")
    assert json.loads(document.read_text())["properties"]["non_finite"] == {"holds": True}

    project.edit("scale.cu", "2.0f * x[i]", "isnan(x[i]) ? 0.0f : 2.0f * x[i]")
    lost = project.run(*contract)
    lost.assert_outcomes(failed=1, deselected=5)
    lost.stdout.fnmatch_lines(
        ["LOST PROPERTY: non_finite: the kernel of the baseline is right with NaN and infinities *"]
    )
    accepted = project.run(*contract, "--cudaopt-baseline=update", "--cudaopt-accept-slower")
    accepted.assert_outcomes(passed=1, deselected=5)
    project.run(*contract).assert_outcomes(passed=1, deselected=5)


def test_a_revision_is_gated_against_without_any_files(project: Any) -> None:
    project.edit("test_scale.py", "case(n=4096, measure=True)", "case(n=1 << 19, measure=True)")
    Repository.begun(project.path).commit()
    against = (*LATENCY, "--cudaopt-against=main")

    same = project.run(*against, "--cudaopt-require=baseline,verdict")
    same.assert_outcomes(passed=1, deselected=5)
    same.stdout.fnmatch_lines(["*, same as before"])

    project.edit("scale.cu", *STRETCHES)
    slower = project.run(*against)
    slower.assert_outcomes(failed=1, deselected=5)
    slower.stdout.fnmatch_lines(
        ["SLOWER: n524288 against main: * at scale.cu:5; *", "  changed   git diff main -- scale.cu"]
    )
    assert not (project.path / "__baselines__").exists()


def test_a_signature_that_a_revision_had_otherwise_is_unsure(project: Any) -> None:
    Repository.begun(project.path).commit()
    project.edit("test_scale.py", "n=i32)", "n=i64)")
    project.edit("test_scale.py", "i32, kernel", "i64, kernel")
    project.edit("scale.cu", "int n)", "long long n)")
    result = project.run(*LATENCY, "--cudaopt-against=main")

    result.assert_outcomes(passed=1, deselected=5)
    result.stdout.fnmatch_lines(["*unsure: not compared with main: it does not compile as declared now: *"])
    project.run(*LATENCY, "--cudaopt-against=main", "--cudaopt-require=verdict").assert_outcomes(
        failed=1, deselected=5
    )
