"""compile_commands.json: what matters of a command line, and files that are no such database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Project
from pytest_cudaopt.compdb import Flags, flags_of, read
from pytest_cudaopt.errors import SettingsError


def flags(*words: str) -> Flags:
    return flags_of(words, Path("/build"))


@pytest.mark.parametrize(
    ("words", "defines"),
    [
        (["-DA", "-DB=2", "-D", "C=3", "--define-macro=D=4", "--define-macro", "E"], "A=1 B=2 C=3 D=4 E=1"),
        (["-DA=1", "-DB=1", "-UA", "-U", "B"], ""),
        (["-DA=1", "-UA", "-DA=2"], "A=2"),
        (["-DF(x)=(x)"], "F(x)=(x)"),
        (["-DEMPTY="], "EMPTY="),
        (["-Xcompiler", "-DHOST", "-DA"], "A=1"),
        (["-DA=1\n#include </etc/passwd>", "-D1"], ""),
        (["-O3", "-Wall", "-gencode=arch=compute_90,code=sm_90", "-c", "a.cu", "-o", "a.o"], ""),
    ],
)
def test_macros_are_defined_in_order(words: list[str], defines: str) -> None:
    assert flags(*words).defines == tuple(tuple(one.split("=", 1)) for one in defines.split())


def test_folders_are_relative_to_the_commands_and_once_each() -> None:
    words = ["-I", "inc", "-I/abs", "-isystem", "../sys", "-isystem=/sys2", "--include-path=x", "-I/abs"]
    assert [str(one) for one in flags(*words).include] == ["/build/inc", "/abs", "/sys", "/sys2", "/build/x"]


@pytest.mark.parametrize("name", ["cuda_runtime_api.h", "cuda/std/cstddef", "stdio.h"])
def test_headers_of_the_toolkit_and_the_system_stay_the_toolchains(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).touch()
    assert flags(f"-I{tmp_path}").include == ()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["-std=c++20"], ["-std=c++20"]),
        (["--std", "gnu++14", "-std=c++2a"], ["-std=c++20"]),
        (["-use_fast_math"], ["--use_fast_math"]),
        (["-fmad=false"], ["--fmad=false"]),
        (["--fmad", "true"], ["--fmad=true"]),
        (["-maxrregcount=64"], ["--maxrregcount=64"]),
        (["--maxrregcount", "32", "-maxrregcount=x", "-fmad=maybe", "-std=what"], ["--maxrregcount=32"]),
    ],
)
def test_options_are_taken_as_kernels_may_have_them(words: list[str], options: list[str]) -> None:
    assert list(flags(*words).options) == options


def database(folder: Path, *entries: object) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps(entries))
    return path


@pytest.mark.parametrize(
    "how",
    [
        {"command": r"nvcc -DNAME=\"a\ b\" '-DX=1 2' -c ../src/k.cu"},
        {"arguments": ["nvcc", '-DNAME="a b"', "-DX=1 2", "-c", "../src/k.cu"]},
    ],
    ids=["command", "arguments"],
)
def test_the_entry_of_the_file_is_read_in_both_forms(tmp_path: Path, how: dict[str, object]) -> None:
    other = {"directory": str(tmp_path), "file": "src/other.cu", "command": "nvcc -DOTHER"}
    entry = {"directory": str(tmp_path / "build"), "file": "../src/k.cu", **how}
    found = read(database(tmp_path, other, entry), tmp_path / "src" / "k.cu")
    assert found.defines == (("NAME", '"a b"'), ("X", "1 2"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a list of objects with directory, file, .*, got no JSON"),
        ("{}", "got no list"),
        ("[1]", "got entry 0, which is no object"),
        ('[{"directory": "."}]', "got entry 0 without file"),
        ('[{"directory": ".", "file": "k.cu"}]', "got entry 0 without command and arguments"),
        (
            '[{"directory": ".", "file": "k.cu", "arguments": "x"}]',
            "got entry 0 without command and arguments",
        ),
        ('[{"directory": ".", "file": "k.cu", "command": "nvcc \'"}]', "whose command cannot be split"),
        (
            '[{"directory": ".", "file": "b.cu"}]',
            "expected an entry for .*k.cu in .*, got 1 entries; .cu files: b.cu",
        ),
    ],
)
def test_a_file_that_is_no_database_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=message):
        read(path, tmp_path / "k.cu")


def test_a_database_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"expected a readable file .*No such file.*CMAKE_EXPORT_COMPILE_COMMANDS"
    ):
        read(tmp_path / "none.json", tmp_path / "k.cu")


# With pytest.


def test_a_kernel_is_compiled_as_the_project_compiles_it(project: Project) -> None:
    project.write("lib/factor.h", "#define FACTOR SCALE_BY\n")
    project.edit("scale.cu", "2.0f * x[i]", "FACTOR * x[i]")
    project.edit("scale.cu", "// @launch", '#include "factor.h"\n// @launch')
    command = "nvcc -ccbin g++ -DSCALE_BY=2.0f -DBLOCK=999 -I../lib -std=c++14 -O3 -c ../scale.cu"
    (project.path / "build").mkdir()
    entry = {"directory": str(project.path / "build"), "file": "../scale.cu", "command": command}
    database(project.path / "build", entry)
    project.write(
        "pytest.ini", "[pytest]\ncudaopt_compdb = build/compile_commands.json\ncudaopt_device = sim\n"
    )
    project.run().assert_outcomes(passed=6)
    project.cudaopt("check", "--device=sim", "--compdb=build/compile_commands.json", "test_scale.py::scale")
    entry["command"] = command.replace("2.0f", "3.0f")
    database(project.path / "build", entry)
    project.run().assert_outcomes(passed=1, failed=3, skipped=2)


def test_a_wrong_database_is_said_at_the_declaration(project: Project) -> None:
    result = project.run("--cudaopt-compdb=no.json")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*cudaopt_compdb*"])
    result.stdout.fnmatch_lines(["*expected*a readable file*no.json*"])
