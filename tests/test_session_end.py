"""What a session leaves: a report's file, annotations and a summary for GitHub, properties for JUnit."""

from __future__ import annotations

import re
import xml.etree.ElementTree
from pathlib import Path

import pytest
import reported_rows

SLOWER = """\
import reported_rows

def test_slower(request):
    request.node.user_properties += reported_rows.SLOWER.properties()
    raise AssertionError("SLOWER: 31 %")
"""


@pytest.fixture
def wrong(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    return project


@pytest.fixture
def actions(wrong, monkeypatch):
    """GitHub Actions around a project whose kernel is wrong; the checkout is one folder above."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(wrong.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(wrong.path / "summary.md"))
    return wrong


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_markdown_report_says_what_the_table_and_the_failures_say(wrong, workers):
    result = wrong.run_alone("--cudaopt-report=out/found.md", "-k", "n51 or latency", *workers)

    result.stdout.fnmatch_lines([f"report: {wrong.path / 'out/found.md'}"])
    text = (wrong.path / "out" / "found.md").read_text()
    assert text.startswith("# CUDA kernels on sim (modelled h200)\n")
    assert re.search(
        r"^- `test_scale.py::scale\[check-n51\]` at `test_scale.py:3`: WRONG: y: 51 of 51", text, re.M
    )
    assert "| `test_scale.py::scale` | n51 | **wrong** |" in text
    assert re.search(r"^\|  \| n4096 \| passed \| [\d.]+ us modelled \(\w+\) \|$", text, re.M)


def test_an_html_report_holds_the_whole_failure(wrong):
    wrong.run("--cudaopt-report=found.html", "-k", "n51")

    text = (wrong.path / "found.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "reproduce: pytest &#x27;test_scale.py::scale[check-n51]&#x27;" in text


def test_a_report_is_written_where_pytest_was_started(project, monkeypatch):
    project.write("pytest.ini", "[pytest]\ncudaopt_report = found.md\n")
    (project.path / "below").mkdir()
    monkeypatch.chdir(project.path / "below")
    project.run("..", "-k", "n51").assert_outcomes(passed=1, deselected=5)

    assert (project.path / "below" / "found.md").is_file()


def test_a_session_without_kernels_has_a_report_that_says_so(project):
    project.write("test_plain.py", "def test_plain(): pass\n")
    project.run("--cudaopt-report=found.md", "test_plain.py").assert_outcomes(passed=1)

    assert "no kernel items were run" in (project.path / "found.md").read_text()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("found.txt", "expected a file name that ends in .md or .html, got 'found.txt'"),
        ("scale.cu/found.md", "--cudaopt-report=scale.cu/found.md: "),
        ("folder.md", "is a folder"),
    ],
)
def test_a_report_that_cannot_be_is_refused_before_anything_runs(project, file, said):
    (project.path / "folder.md").mkdir()
    result = project.run(f"--cudaopt-report={file}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str()


def test_a_failure_is_annotated_where_github_looks(actions):
    result = actions.run("-k", "n51")

    folder = actions.path.name
    (line,) = [line for line in result.outlines if line.startswith("::")]
    place = f"::error file={folder}/test_scale.py,line=3,title=test_scale.py%3A%3Ascale[check-n51]::"
    assert line.startswith(f"{place}WRONG: y: 51 of 51 elements")


def test_workers_leave_annotations_and_the_summary_to_the_one_who_has_all_rows(actions):
    result = actions.run_alone("-n", "2", "-k", "check")

    assert sum(line.startswith("::error ") for line in result.outlines) == 2
    summary = (actions.path / "summary.md").read_text()
    assert summary.count("# CUDA kernels on sim") == 1
    assert "2 wrong" in summary


def test_summaries_of_several_steps_stand_below_each_other(actions):
    (actions.path / "summary.md").write_text("of others\n")
    actions.run("-k", "n51")
    actions.run("-k", "n51")

    summary = (actions.path / "summary.md").read_text()
    assert summary.startswith("of others\n")
    assert summary.count("# CUDA kernels on sim") == 2


def test_a_summary_that_cannot_be_written_fails_nothing(actions, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(actions.path / "none" / "summary.md"))
    result = actions.run("-k", "n51")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["WARNING: no step summary was written: *"])


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_declaration_that_is_wrong_is_told_to_github(actions, workers):
    actions.edit("test_scale.py", "case(n=51)", "case(m=51)")
    actions.write("test_broken.py", "import nonexistent\n")
    result = actions.run_alone("--cudaopt-report=found.md", *workers)

    (line,) = [line for line in result.outlines if line.startswith("::")]
    assert "test_scale.py,line=3,title=test_scale.py::DECLARATION: " in line
    for file in ("summary.md", "found.md"):
        assert "- `test_scale.py` at `test_scale.py:3`: DECLARATION: " in (actions.path / file).read_text()


def test_elsewhere_nothing_is_said_to_github(wrong, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(wrong.path / "summary.md"))
    result = wrong.run("-k", "n51")

    assert "::error" not in result.stdout.str()
    assert not (wrong.path / "summary.md").exists()


def test_a_verdict_is_in_the_table_the_annotation_the_summary_and_junit(actions):
    # Rows come from reports, whoever wrote them.
    actions.write("test_slower.py", SLOWER)
    actions.write("reported_rows.py", Path(reported_rows.__file__).read_text())
    result = actions.run("test_slower.py", "--junitxml=out.xml")

    result.stdout.fnmatch_lines(
        ["  n4096  slower  5.43 us batch*", "  *slower: 31 % slower than the baseline, *"]
    )
    assert any(line.startswith("::error ") and "31 %25" in line for line in result.outlines)
    assert "| **slower** |" in (actions.path / "summary.md").read_text()
    properties = junit(actions.path / "out.xml")
    assert properties["cudaopt.verdict"] == "slower"
    assert properties["cudaopt.gate"] == reported_rows.SLOWER.gate
    assert float(properties["cudaopt.median_ns"]) == 5430.0


def test_junit_has_the_class_of_a_failure_and_its_summary(wrong):
    wrong.run("-k", "n51", "--junitxml=out.xml").assert_outcomes(failed=1, deselected=5)

    properties = junit(wrong.path / "out.xml")
    assert properties["cudaopt.status"] == "wrong"
    assert properties["cudaopt.case"] == "n51"
    assert properties["cudaopt.device"] == "sim (modelled h200)"
    (failure,) = tree(wrong.path / "out.xml").iter("failure")
    assert failure.get("message").startswith("WRONG: y: 51 of 51 elements")
    assert "reproduce: pytest" in failure.text


def junit(file):
    return {one.get("name"): one.get("value") for one in tree(file).iter("property")}


def tree(file):
    return xml.etree.ElementTree.parse(file)  # noqa: S314 - our own


FAILING_FIXTURE = """\
import pytest

@pytest.fixture(autouse=True)
def beside():
    {}
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    "body", ["raise OSError('no disk')", "yield\n    raise OSError('no disk')"], ids=["setup", "teardown"]
)
def test_a_fixture_that_fails_is_an_error_of_the_item_wherever_items_are_shown(project, body, workers):
    project.write("conftest.py", FAILING_FIXTURE.format(body))
    result = project.run_alone(
        "--cudaopt-report=found.md", "--junit-xml=junit.xml", "-k", "check and n51", *workers
    )

    assert result.ret == 1
    result.stdout.re_match_lines([r"  n51 +error"])
    text = (project.path / "found.md").read_text()
    assert "1 items: 1 error" in text
    assert "| n51 | **error** |" in text
    assert "`test_scale.py::scale[check-n51]` at `conftest.py:" in text.replace("\\", "")
    assert "OSError: no disk" in text
    junit = (project.path / "junit.xml").read_text()
    assert set(re.findall(r'name="cudaopt\.status" value="(\w+)"', junit)) == {"error"}


def test_a_fixture_that_fails_is_annotated_for_github(actions):
    actions.write("conftest.py", FAILING_FIXTURE.format("raise OSError('no disk')"))
    result = actions.run_alone("-k", "check and n51")

    result.stdout.fnmatch_lines(["::error file=*conftest.py,line=5,title=*check-n51]*::OSError: no disk"])
    assert "| n51 | **error** |" in (actions.path / "summary.md").read_text()


def test_an_exception_that_is_none_of_ours_is_an_error_of_the_item(project):
    project.write(
        "conftest.py",
        "import pytest\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_pyfunc_call(pyfuncitem):\n    raise OSError('no disk')\n",
    )
    project.run_alone("--cudaopt-report=found.md", "-k", "check and n51").assert_outcomes(failed=1)
    assert "| n51 | **error** |" in (project.path / "found.md").read_text()


def test_a_failing_fixture_does_not_hide_what_is_wrong_with_the_kernel(wrong):
    wrong.write("conftest.py", FAILING_FIXTURE.format("yield\n    raise OSError('no disk')"))
    wrong.run_alone("--cudaopt-report=found.md", "-k", "check and n51")
    text = (wrong.path / "found.md").read_text()
    assert "| n51 | **wrong** |" in text
    assert "OSError: no disk" in text
