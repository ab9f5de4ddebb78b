"""`--cudaopt-changed`: kernels of which nothing changed are left out, and what counts as a change."""

from __future__ import annotations

import os

import pytest
from git_projects import Repository

from conftest import Project
from pytest_cudaopt.item_work import Finished

PLAIN = "def test_plain(): pass\n"


@pytest.fixture
def two(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The kernels `again` and `scale` and an ordinary test, all committed.

    Nothing is judged but in processes of their own: it is of no interest here.
    """
    monkeypatch.setattr("pytest_cudaopt.items.run", lambda work, session, announce: Finished(work.row))
    project.write("test_plain.py", PLAIN)
    for name in ("scale.cu", "test_scale.py"):
        text = (project.path / name).read_text()
        project.write(name.replace("scale", "again"), text.replace("scale", "again"))
    project.write(".gitignore", "__pycache__\n.benchmarks\n")
    Repository.begun(project.path).commit()
    return project


def commit(project: Project) -> str:
    return Repository(project.path).commit()


def head(project: Project) -> str:
    return Repository(project.path).git("rev-parse", "HEAD")[:10]


def kernels_run(result: pytest.RunResult) -> set[str]:
    lines = [line.split(" ")[0] for line in result.outlines if "::" in line and line.endswith("%]")]
    return {line.partition("::")[2].partition("[")[0] for line in lines} - {"test_plain"}


def changed(project: Project, *arguments: str) -> set[str]:
    """Return the kernels that are run although only changed ones are."""
    result = project.run("-v", "--cudaopt-changed", *arguments)
    assert result.ret == 0, result.outlines
    return kernels_run(result)


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


@pytest.mark.parametrize("how", ["edited", "staged", "committed"])
def test_a_change_counts_wherever_it_is(two: Project, how: str) -> None:
    two.edit("scale.cu", "2.0f", "4.0f / 2.0f")
    if how == "staged":
        Repository(two.path).git("add", "scale.cu")
    if how == "committed":
        commit(two)
        assert changed(two) == set()
    assert changed(two, "HEAD~1" if how == "committed" else "HEAD") == {"scale"}


def test_what_git_was_told_to_overlook_counts(two: Project) -> None:
    Repository(two.path).git("update-index", "--assume-unchanged", "scale.cu")
    two.edit("scale.cu", "2.0f", "4.0f / 2.0f")
    assert changed(two) == {"scale"}


def test_a_file_that_was_only_touched_did_not_change(two: Project) -> None:
    file = two.path / "scale.cu"
    text = file.read_text()
    file.write_text(text.replace("2.0f", "9.0f"))
    file.write_text(text)
    os.utime(file, ns=(1, 1))
    (two.path / "test_scale.py").write_bytes(
        (two.path / "test_scale.py").read_bytes().replace(b"\n", b"\r\n")
    )
    assert changed(two) == set()


def test_a_new_kernel_is_run(two: Project) -> None:
    for name in ("scale.cu", "test_scale.py"):
        text = (two.path / name).read_text()
        two.write(name.replace("scale", "fresh"), text.replace("scale", "fresh"))
    assert changed(two) == {"fresh"}


def test_a_file_that_moved_counts_as_changed(two: Project) -> None:
    (two.path / "scale.cu").rename(two.path / "moved.cu")
    two.edit("test_scale.py", '"scale.cu"', '"moved.cu"')
    assert changed(two) == {"scale"}


def test_headers_count_wherever_they_are_found(two: Project) -> None:
    two.write("inc/twice.cuh", '#include "deep.cuh"\n')
    two.write("inc/deep.cuh", "#define TWO 2.0f\n")
    two.edit("scale.cu", "2.0f", "TWO")
    two.edit("scale.cu", "// @launch", "#include <twice.cuh>\n// @launch")
    two.edit("test_scale.py", '"scale.cu"', '"scale.cu", include=["inc"]')
    commit(two)
    assert changed(two) == set()
    two.write("inc/deep.cuh", "#define TWO 2.000f\n")
    assert changed(two) == {"scale"}


def test_a_header_that_is_gone_counts_though_another_one_is_found_now(two: Project) -> None:
    two.write("first/two.cuh", "#define TWO 2.0f\n")
    two.write("second/two.cuh", "#define TWO 2.000f\n")
    two.edit("scale.cu", "2.0f", "TWO")
    two.edit("scale.cu", "// @launch", "#include <two.cuh>\n// @launch")
    two.edit("test_scale.py", '"scale.cu"', '"scale.cu", include=["first", "second"]')
    commit(two)
    assert changed(two) == set()
    (two.path / "first/two.cuh").unlink()
    assert changed(two) == {"scale"}


def test_a_header_that_no_repository_knows_counts_as_changed(two: Project) -> None:
    outside = two.path.parent / f"{two.path.name}-outside"
    outside.mkdir()
    (outside / "two.cuh").write_text("#define TWO 2.0f\n")
    two.edit("scale.cu", "2.0f", "TWO")
    two.edit("scale.cu", "// @launch", "#include <two.cuh>\n// @launch")
    two.edit("test_scale.py", '"scale.cu"', f'"scale.cu", include=["../{outside.name}"]')
    commit(two)
    assert changed(two) == {"scale"}


def test_an_ignored_header_counts_as_changed(two: Project) -> None:
    two.write(".gitignore", "__pycache__\n.benchmarks\nmade.cuh\n")
    two.write("made.cuh", "#define TWO 2.0f\n")
    two.edit("scale.cu", "2.0f", "TWO")
    two.edit("scale.cu", "// @launch", '#include "made.cuh"\n// @launch')
    commit(two)
    assert changed(two) == {"scale"}


def test_a_kernel_that_is_the_reference_counts_too(two: Project) -> None:
    two.write("naive.cu", (two.path / "scale.cu").read_text())
    two.edit("test_scale.py", '"scale.cu"', '"scale.cu", reference="naive.cu"')
    two.edit("test_scale.py", "    y[...] = 2 * x\n", "")
    commit(two)
    assert changed(two) == set()
    two.edit("naive.cu", "2.0f", "4.0f / 2.0f")
    assert changed(two) == {"scale"}


def test_of_a_file_with_regions_only_the_kernels_own_counts(two: Project) -> None:
    both = [(two.path / f"{name}.cu").read_text() for name in ("scale", "again")]
    named = zip(("scale", "again"), both, strict=True)
    two.write("both.cu", "".join(f"// @cudaopt begin {n}\n{text}// @cudaopt end\n" for n, text in named))
    for name in ("scale", "again"):
        two.edit(f"test_{name}.py", f'"{name}.cu"', '"both.cu"')
    commit(two)
    assert changed(two) == set()
    two.edit("both.cu", "__global__ void again(const float* x", "__global__ void again(float const* x")
    assert changed(two) == {"again"}


def test_the_declaration_counts_with_all_that_it_imports(two: Project) -> None:
    two.write("pack/__init__.py", "")
    two.write("pack/oracle.py", "from . import deep\n")
    two.write("pack/deep.py", "TWO = 2\n")
    two.write("pack/unused.py", "")
    two.edit("test_scale.py", "y[...] = 2 * x", "from pack import oracle\n    y[...] = oracle.deep.TWO * x")
    commit(two)
    assert changed(two) == set()
    two.write("pack/unused.py", "X = 1\n")
    assert changed(two) == set()
    two.write("pack/deep.py", "TWO = 2.0\n")
    assert changed(two) == {"scale"}
    commit(two)
    two.edit("test_again.py", "2 * x", "x + x")
    assert changed(two) == {"again"}


def test_a_module_that_makes_the_declaration_counts_however_it_was_found(two: Project) -> None:
    declared = (two.path / "test_scale.py").read_text()
    head, _, body = declared.partition("@kernel")
    indented = "\n".join(f"    {line}" for line in f"@kernel{body}".splitlines())
    two.write("maker.py", f"{head}def make():\n{indented}\n    return scale\n")
    two.write("test_scale.py", "import importlib\nscale = importlib.import_module('maker').make()\n")
    commit(two)
    assert changed(two) == set()
    two.edit("maker.py", "2 * x", "x + x")
    assert changed(two) == {"scale"}


@pytest.mark.parametrize(
    ("folder", "counts"), [("env/site-packages", False), ("prefix/lib", False), ("made", True)]
)
def test_what_is_installed_in_the_project_is_not_of_it(
    two: Project, monkeypatch: pytest.MonkeyPatch, folder: str, counts: bool
) -> None:
    two.write(".gitignore", f"__pycache__\n.benchmarks\n{folder}\n")
    two.write(f"{folder}/dependency_of_scale.py", "")
    two.edit("test_scale.py", "from pytest_cudaopt", "import dependency_of_scale\nfrom pytest_cudaopt")
    commit(two)
    monkeypatch.syspath_prepend(two.path / folder)
    monkeypatch.setattr("pytest_cudaopt.declaring_files.sys.prefix", str(two.path / "prefix"))
    assert changed(two) == ({"scale"} if counts else set())


def test_a_conftest_counts_for_all_modules_beside_and_below(two: Project) -> None:
    two.write("deeper/conftest.py", "")
    for name in ("scale.cu", "test_scale.py"):
        (two.path / name).rename(two.path / "deeper" / name)
    commit(two)
    two.write("deeper/conftest.py", "X = 1\n")
    assert changed(two) == {"scale"}
    commit(two)
    two.write("conftest.py", "")
    assert changed(two) == {"again", "scale"}


@pytest.mark.parametrize("name", ["requirements.txt", "sub.lock", "pyproject.toml", "requirements/dev.txt"])
def test_another_version_of_this_plugin_counts_for_every_kernel(two: Project, name: str) -> None:
    two.write(name, "# PyTest-CUDAopt == 1\n")
    two.write("setup.cfg", "# something else\n")
    commit(two)
    assert changed(two) == set()
    two.write("setup.cfg", "# something else entirely\n")
    assert changed(two) == set()
    two.write(name, "# PyTest-CUDAopt == 2\n")
    assert changed(two) == {"again", "scale"}
    (two.path / name).unlink()
    assert changed(two) == {"again", "scale"}


def test_what_the_root_folder_asks_for_counts_where_the_repository_is_larger(two: Project) -> None:
    for name in ("scale.cu", "test_scale.py"):
        two.write(f"part/{name}", (two.path / name).read_text())
    two.write("part/pytest.ini", "[pytest]\n")
    two.write("part/requirements.txt", "pytest-cudaopt==1\n")
    commit(two)
    two.write("part/requirements.txt", "pytest-cudaopt==2\n")
    assert changed(two, "--rootdir=part", "-cpart/pytest.ini", "part") == {"scale"}
    assert changed(two, "--ignore=part") == set()


def test_options_in_the_ini_file_count_for_every_kernel(two: Project) -> None:
    two.write("pytest.ini", "[pytest]\n")
    commit(two)
    two.write("pytest.ini", "[pytest]\ncudaopt_stub = torch/*\n")
    assert changed(two) == {"again", "scale"}


def test_flags_from_a_build_count_unless_they_are_known_to_be_the_same(two: Project) -> None:
    entries = ",".join(
        f'{{"directory": ".", "file": "{n}.cu", "command": "nvcc"}}' for n in ("again", "scale")
    )
    two.write("cc.json", f"[{entries}]")
    assert changed(two, "--cudaopt-compdb=cc.json") == {"again", "scale"}
    commit(two)
    assert changed(two, "--cudaopt-compdb=cc.json") == set()
    two.write("cc.json", f"[{entries}] ")
    assert changed(two, "--cudaopt-compdb=cc.json") == {"again", "scale"}


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
    result.stderr.fnmatch_lines([f"ERROR: {option}: *got 'topic', *. Fetch it: git fetch origin topic"])
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
