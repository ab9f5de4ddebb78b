"""`--cudaopt-changed`: items of unchanged kernels are left out, what is said of it, and what is refused."""

from __future__ import annotations

import pytest
from git_projects import Repository, changed, head

from conftest import Project

pytest_plugins = ["git_project_fixtures"]


def test_only_what_changed_is_run_and_one_line_says_so(two: Project) -> None:
    two.edit("scale.cu", "2.0f", "4.0f / 2.0f")
    result = two.run("--cudaopt-changed")
    result.assert_outcomes(passed=7, deselected=6)
    result.stdout.fnmatch_lines(["cudaopt: 1 of 2 kernels unchanged since HEAD (*)"])
    assert f"HEAD ({head(two)})" in result.stdout.str()
    result.stdout.no_fnmatch_line("*scale.cu changed*")


def test_without_the_option_everything_is_run_and_nothing_is_said(two: Project) -> None:
    result = two.run()
    result.assert_outcomes(passed=13)
    result.stdout.no_fnmatch_line("*unchanged*")


def test_asked_for_details_it_says_what_changed(two: Project) -> None:
    two.edit("scale.cu", "2.0f", "4.0f / 2.0f")
    result = two.run("-v", "--cudaopt-changed=HEAD")
    result.stdout.fnmatch_lines(["cudaopt: 1 of 2 *", "  test_scale.py::scale: scale.cu changed"])


def test_where_nothing_changed_kernels_are_left_out_and_that_is_no_failure(two: Project) -> None:
    assert changed(two) == set()
    result = two.run("--cudaopt-changed", "-k", "scale")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(deselected=13)
    result.stdout.fnmatch_lines(["cudaopt: 1 of 1 kernel unchanged since *"])
    # What somebody else left out is.
    assert two.run("--cudaopt-changed", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert two.run("-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_source_that_cannot_be_read_fails_as_ever(project: Project) -> None:
    Repository.begun(project.path).commit()
    (project.path / "scale.cu").unlink()
    result = project.run("--cudaopt-changed")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*SOURCE*"])


@pytest.mark.parametrize(("path", "run"), [("scale.cu", {"scale"}), ("", {"again", "scale"})])
def test_what_git_cannot_read_leaves_nothing_out(two: Project, path: str, run: set[str]) -> None:
    damaged = Repository(two.path).git("rev-parse", f"HEAD:{path}")
    (two.path / ".git" / "objects" / damaged[:2] / damaged[2:]).unlink()
    assert changed(two) == run


@pytest.mark.parametrize("option", ["--cudaopt-changed", "--cudaopt-against=HEAD"])
def test_outside_of_a_repository_nothing_is_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    result = project.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    named = option.partition("=")[0]
    result.stderr.fnmatch_lines(
        [f"ERROR: {named}: expected tests in a git repository, got {project.path}, *"]
    )


@pytest.mark.parametrize("option", ["--cudaopt-changed", "--cudaopt-against"])
def test_an_unknown_revision_is_told_before_anything_runs(two: Project, option: str) -> None:
    result = two.run(f"{option}=topic")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option}: *got 'topic', *. It has main, and no remote *"])
    result.stdout.no_fnmatch_line("*collected*")


def test_without_git_the_option_is_a_usage_error(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(two.path))
    result = two.run("--cudaopt-changed")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: git: *Install git*"])
    two.run("test_plain.py").assert_outcomes(passed=1)


def test_a_folder_behind_the_option_is_not_taken_for_a_revision_in_silence(two: Project) -> None:
    result = two.run("--cudaopt-changed", "test_scale.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*got 'test_scale.py', *write --cudaopt-changed=HEAD test_scale.py"])
    two.run("test_scale.py", "--cudaopt-changed").assert_outcomes(deselected=6)


def test_the_option_can_come_from_the_environment(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDAOPT_CHANGED", "HEAD")
    two.run().assert_outcomes(passed=1, deselected=12)
    two.run("--cudaopt-changed=").assert_outcomes(passed=13)


def test_workers_leave_out_the_same_and_the_controller_says_it_once(two: Project) -> None:
    result = two.run_alone("-p", "xdist", "-n2", "--cudaopt-changed", "-q", "-k", "not plain")
    assert result.ret == 0
    said = [line for line in result.outlines if "unchanged since HEAD" in line]
    assert said == [f"cudaopt: 2 of 2 kernels unchanged since HEAD ({head(two)})"]


def test_items_can_ask_their_session_for_the_revision_to_be_held_against(two: Project) -> None:
    two.write(
        "conftest.py",
        "from pytest_cudaopt.session import KernelSession\n"
        "def pytest_report_header(config):\n"
        "    session = KernelSession.of(config)\n"
        "    return f'against {session.against}, changed {session.changed_since}'\n",
    )
    two.run("--cudaopt-against=main").stdout.fnmatch_lines([f"against main ({head(two)}), changed None"])
    two.run().stdout.fnmatch_lines(["against None, changed None"])
