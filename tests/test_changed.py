"""What counts as a change of a kernel, and what does not."""

from __future__ import annotations

import os

import pytest
from git_projects import Repository, changed, commit

from conftest import Project

pytest_plugins = ["git_project_fixtures"]


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
