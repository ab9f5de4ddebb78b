"""Kernels with headers, run by pytest: folders and stubs of the project, and verdicts that follow headers."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Project
from pytest_cudaopt.errors import SettingsError
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.project import within_project
from pytest_cudaopt.settings import resolve

INI = "[pytest]\ncudaopt_device = sim\ncudaopt_include =\n    lib\n    more\ncudaopt_stub = torch/*, c10/*\n"


@pytest.fixture
def headers(project: Project) -> Project:
    project.write("lib/factor.h", '#pragma once\n#include "detail/two.h"\n#define FACTOR TWO\n')
    project.write("lib/detail/two.h", "#define TWO 2.0f\n")
    project.write("more/x.h", "")
    project.edit(
        "scale.cu",
        "// @launch",
        "#include <torch/extension.h>\n#include <c10/cuda.h>\n#include <factor.h>\n// @launch",
    )
    project.edit("scale.cu", "2.0f * x[i]", "FACTOR * x[i]")
    project.write("pytest.ini", INI)
    return project


def test_the_verdict_follows_a_header_of_a_header(headers: Project) -> None:
    headers.run().assert_outcomes(passed=6)
    headers.edit("lib/detail/two.h", "2.0f", "3.0f")
    headers.run().assert_outcomes(failed=3, skipped=2, passed=1)
    headers.edit("lib/detail/two.h", "3.0f", "2.0f")
    headers.run().assert_outcomes(passed=6)


def test_an_error_in_a_header_shows_its_lines(headers: Project) -> None:
    headers.write("lib/detail/two.h", "// two\n#define TWO 2.0f\n__device__ int f() { return nothing; }\n")
    result = headers.run()
    result.assert_outcomes(failed=6)
    result.stdout.fnmatch_lines(
        ['*  lib/detail/two.h:3:*error: identifier "nothing" is undefined*', "*> * 3 | __device__ int f()*"]
    )


def test_a_header_that_is_not_there_names_where_it_was_looked_for(headers: Project) -> None:
    headers.edit("scale.cu", "#include <factor.h>", "#include <factors.h>")
    result = headers.run()
    result.stdout.fnmatch_lines(
        ["*scale.cu:3:*include <factors.h>: no such file; searched lib, more, and the CUDA headers*"]
    )


def test_what_a_fault_in_a_header_did_is_shown_there(headers: Project) -> None:
    headers.write(
        "lib/detail/two.h",
        "#define TWO 2.0f\n__device__ inline void put(float* y, int i) {\n    y[i + 5000] = 1;\n}\n",
    )
    headers.edit("scale.cu", "if (i < n) y[i] = FACTOR * x[i];", "put(y, i);")
    result = headers.run()
    result.assert_outcomes(failed=3, skipped=3)
    result.stdout.fnmatch_lines(["*at lib/detail/two.h:3,*", "*> * 3 | *y?i + 5000? = 1;*"])


def test_a_header_of_the_candidates_own_folder_is_not_the_kernels(headers: Project) -> None:
    headers.write("elsewhere/own.h", "")
    headers.write("elsewhere/candidate.cu", '#include "own.h"\n' + (headers.path / "scale.cu").read_text())
    answered = headers.cudaopt(
        "check",
        "--device=sim",
        "--include=lib",
        "--stub=torch/*,c10/*",
        "test_scale.py::scale",
        "elsewhere/candidate.cu",
    )
    assert answered.ret == 1
    answered.stdout.fnmatch_lines(['*include "own.h": no such file*'])


def test_cudaopt_check_takes_the_same_options(headers: Project) -> None:
    options = ("--device=sim", "--include=lib", "--stub=torch/*,c10/*")
    assert headers.cudaopt("check", *options, "test_scale.py::scale").ret == 0


def test_the_line_that_reproduces_a_failure_names_them(headers: Project) -> None:
    headers.edit("lib/detail/two.h", "2.0f", "3.0f")
    headers.run().stdout.fnmatch_lines(
        ["reproduce: *--cudaopt-include=lib,more '--cudaopt-stub=torch/[*],c10/[*]'"]
    )


def test_a_folder_that_is_not_there_is_an_error(headers: Project) -> None:
    result = headers.run("--cudaopt-include=nowhere")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*cudaopt_include*"])


def test_the_projects_folders_come_behind_the_kernels(project: Project) -> None:
    (project.path / "own").mkdir()
    (project.path / "lib").mkdir()
    project.edit("test_scale.py", '"scale.cu", ', '"scale.cu", include=["own"], stub=["a/*"], ')
    kernel = load_kernel("test_scale.py::scale")
    settings = resolve({"include": "lib", "stub": "b/*"}, {}, {})
    got = within_project(kernel, settings, project.path)
    assert got.include == (project.path / "own", project.path / "lib")
    assert got.stub == ("a/*", "b/*")
    assert within_project(kernel, resolve({}, {}, {}), project.path) is kernel
    with pytest.raises(SettingsError, match="cudaopt_include: expected folders, got 'no'"):
        within_project(kernel, resolve({"include": "no"}, {}, {}), Path("/"))
