"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Project
from pytest_cudaopt.settings import OPTIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = ROOT / "example_kernels"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def masked(line: str) -> str:
    """Without numbers and registers, which another compiler version may change, and without padding."""
    # A run of more than a minute is told in hours, minutes and seconds as well.
    line = re.sub(r" \(\d+:\d\d:\d\d\)", "", line)
    return re.sub(r"=+", "=", re.sub(r"%\w+", "%", re.sub(r"\d+(\.\d+)?", "#", line))).strip()


@pytest.fixture
def examples(pytester: pytest.Pytester, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    shutil.copytree(EXAMPLES, pytester.path / "example_kernels", ignore=shutil.ignore_patterns("__pycache__"))
    return pytester.path / "example_kernels"


def test_both_commands_are_one_line_from_a_bare_clone() -> None:
    commands = blocks("sh")
    assert len(commands) == 2
    for command in commands:
        assert command.count("\n") == 1
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q ")


def test_the_example_module_is_the_one_in_the_tree() -> None:
    assert blocks("python") == [(EXAMPLES / "test_softmax.py").read_text()]


def test_the_example_source_is_an_excerpt_of_the_one_in_the_tree() -> None:
    (shown,) = blocks("cuda")
    head, signature = shown.split("...\n")
    source = (EXAMPLES / "softmax.cu").read_text()
    assert source.startswith(head)
    assert signature in source


def test_every_option_is_listed_with_its_help() -> None:
    rows = re.findall(r"^\| `(--[\w-]+)[^|]*\| (.*) \|$", README, re.MULTILINE)
    assert rows == [(option.flag, option.help) for option in OPTIONS]


def test_the_shown_output_is_what_the_first_command_prints(pytester: pytest.Pytester, examples: Path) -> None:
    arguments = blocks("sh")[0].split(".venv/bin/pytest ")[1].split()
    result = pytester.runpytest_subprocess(*arguments)
    assert result.ret == 0
    shown = [masked(line) for line in blocks("text")[0].splitlines()]
    printed = [masked(line) for line in result.outlines if line.strip()]
    # Which tunables win depends on the compiler; that something wins does not.
    winner = re.compile(r"with [A-Z_=# ]+ in")
    shown = [winner.sub("with ... in", line) for line in shown]
    printed = [winner.sub("with ... in", line) for line in printed]
    assert printed[-len(shown) :] == shown


def test_the_shown_failure_is_what_that_edit_gives(pytester: pytest.Pytester, examples: Path) -> None:
    source = examples / "saxpy.cu"
    source.write_text(source.read_text().replace("if (i < n)", "if (i <= n)"))
    result = pytester.runpytest_subprocess("example_kernels", "-k", "saxpy and n1021")
    assert result.ret == 1
    printed = [masked(line) for line in result.outlines]
    for line in blocks("text")[1].splitlines():
        assert masked(line) in printed


def test_the_shown_race_is_what_that_edit_gives(pytester: pytest.Pytester, examples: Path) -> None:
    source = examples / "softmax.cu"
    lines = source.read_text().splitlines(keepends=True)
    assert lines[16].startswith("    __syncthreads();  // nobody may refill")
    source.write_text("".join(lines[:16] + lines[17:]))
    result = pytester.runpytest_subprocess("example_kernels", "-k", "softmax and (check or sanitize)")
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (6, 1)
    printed = [masked(line) for line in result.outlines]
    for line in blocks("text")[2].splitlines():
        assert masked(line) in printed


def test_the_shown_slowdown_is_what_that_edit_gives(pytester: pytest.Pytester, examples: Path) -> None:
    latency = ("example_kernels", "-k", "softmax and latency")
    assert pytester.runpytest_subprocess(*latency, "--cudaopt-baseline", "update").ret == 0
    source = examples / "softmax.cu"
    head, loop, tail = source.read_text().rpartition(
        "    for (int col = threadIdx.x; col < cols; col += BLOCK) {\n"
    )
    assert loop
    stretch = (
        "    const int part = (cols + BLOCK - 1) / BLOCK;\n"
        "    for (int col = threadIdx.x * part; col < min(cols, part * int(threadIdx.x + 1)); ++col) {\n"
    )
    source.write_text(head + stretch + tail)
    result = pytester.runpytest_subprocess(*latency)
    (shown,) = [block for block in blocks("text") if block.startswith("SLOWER")]
    # Masked, since a compiler may allot other registers, and counters then differ.
    printed = [masked(line) for line in result.outlines]
    first = printed.index(masked(shown.splitlines()[0]))
    assert printed[first : first + shown.count("\n")] == [masked(line) for line in shown.splitlines()]


def workflows() -> dict[str, dict[str, Any]]:
    """Return the README's workflows by the name of their file."""
    yaml = pytest.importorskip("yaml")
    names = re.findall(r"^`\.github/workflows/([\w-]+\.yml)`", README, re.MULTILINE)
    return {name: yaml.safe_load(text) for name, text in zip(names, blocks("yaml"), strict=True)}


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    (job,) = workflow["jobs"].values()
    assert job["runs-on"]
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def pytest_arguments(workflow: dict[str, Any]) -> list[str]:
    (command,) = [run for step in steps_of(workflow) if "pytest kernels" in (run := step.get("run", ""))]
    return shlex.split(command)[1:]


def test_every_workflow_is_one_that_github_can_read() -> None:
    shown = workflows()
    assert list(shown) == ["kernels.yml", "kernels-gpu.yml"]
    for workflow in shown.values():
        # `on` is a truth value to YAML 1.1.
        assert {"name", True, "jobs"} <= set(workflow)
        for step in steps_of(workflow):
            assert len({"uses", "run"} & set(step)) == 1


def test_the_workflow_without_a_gpu_passes_and_leaves_what_it_uploads(project: Project) -> None:
    (workflow, _) = workflows().values()
    (project.path / "kernels").mkdir()
    for name in ("scale.cu", "test_scale.py"):
        (project.path / name).rename(project.path / "kernels" / name)
    project.run(*pytest_arguments(workflow)).assert_outcomes(passed=6)
    (uploaded,) = [
        step["with"]["path"] for step in steps_of(workflow) if "upload-artifact" in step.get("uses", "")
    ]
    assert {file.name for file in (project.path / uploaded).iterdir()} == {"kernels.html", "kernels.xml"}


def test_the_workflow_with_a_gpu_has_options_that_exist(project: Project) -> None:
    (_, workflow) = workflows().values()
    (project.path / "kernels").mkdir()
    arguments = pytest_arguments(workflow)
    assert "gpu,baseline,verdict" in arguments
    # Nothing is run, of which pytest-benchmark would warn.
    arguments += ["--collect-only", "--benchmark-disable"]
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert project.run(*arguments, "--cudaopt-unheard-of").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("command", re.findall(r"^\| `cudaopt (\w+)", README, re.MULTILINE))
def test_every_command_it_names_has_help(pytester: pytest.Pytester, command: str) -> None:
    result = pytester.run(Path(sys.executable).with_name("cudaopt"), command, "--help")
    assert result.ret == 0
