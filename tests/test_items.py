"""Items on a real device: what they report, and that pytest's own features work on them."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest


def table_of(result: pytest.RunResult) -> list[str]:
    lines = result.outlines
    start = next(number for number, line in enumerate(lines) if " CUDA kernels" in line)
    end = next(
        (number for number, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("=")),
        len(lines),
    )
    return lines[start:end]


def test_the_table_shows_status_latency_with_its_kind_and_device(project):
    result = project.run()

    result.assert_outcomes(passed=6)
    title, chosen, kernel, first, second, third, fourth, fifth = table_of(result)
    assert chosen == "auto: sim, no CUDA driver (libcuda.so.1)"
    assert re.search(r"CUDA kernels on sim \(.*h200.*\)", title)
    assert kernel == "test_scale.py::scale"
    assert re.fullmatch(r"  n51 +passed", first)
    assert re.fullmatch(r"  n4096 +passed +[\d.]+ [num]s modelled \(\w+\)", second)
    assert re.fullmatch(r"  fuzz +passed +10 drawn", third)
    assert re.fullmatch(r"  contract +passed +\d+ properties", fourth)
    assert re.fullmatch(r"  sanitize +passed +5 cases, each in 3 orders", fifth)


def test_the_table_is_shown_when_quiet_but_not_when_very_quiet(project):
    assert "CUDA kernels" in project.run("-q", "-k", "n51").stdout.str()
    assert "CUDA kernels" not in project.run("-qq", "-k", "n51").stdout.str()


def test_no_kernels_no_table(project):
    project.write("test_plain.py", "def test_plain(): pass\n")

    assert "CUDA kernels" not in project.run("test_plain.py").stdout.str()


def test_two_workers_print_the_same_table(project):
    project.write("other.cu", (project.path / "scale.cu").read_text())
    project.write(
        "test_other.py", (project.path / "test_scale.py").read_text().replace("scale.cu", "other.cu")
    )
    alone = project.run()
    shared = project.run_alone("-n", "2")

    shared.assert_outcomes(passed=12)
    assert table_of(shared)[1:] == table_of(alone)[1:]


def test_failures_of_workers_are_shown_in_full(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run_alone("-n", "2", "-k", "n51")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "WRONG: y: 51 of 51 *",
            "reproduce: pytest *",
            "FAILED test_scale.py::scale[[]check-n51[]] - WRONG: *",
        ]
    )


def test_a_short_summary_says_what_is_wrong(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run("-k", "n51", "--tb=line")

    result.stdout.fnmatch_lines(["*test_scale.py:3: WRONG: y: 51 of 51 elements*"])


def test_fixtures_wrap_the_items(project):
    project.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.fixture(autouse=True)\n"
        "def around():\n    print('before'); yield; print('after')\n"
        "@pytest.fixture\n"
        "def asked(): print('asked')\n",
    )
    project.edit("test_scale.py", "from pytest_cudaopt", "import pytest\nfrom pytest_cudaopt")
    project.edit("test_scale.py", "@kernel", "@pytest.mark.usefixtures('asked')\n@kernel")
    result = project.run("-s", "-k", "n51")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*before", "asked", "*after"])


def test_an_expected_failure_is_one(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    project.edit("test_scale.py", "from pytest_cudaopt", "import pytest\nfrom pytest_cudaopt")
    project.edit("test_scale.py", "@kernel", "@pytest.mark.xfail(reason='known')\n@kernel")

    project.run("-m", "cudaopt_check").assert_outcomes(xfailed=2)


def test_junit_holds_the_numbers(project):
    project.run("--junitxml=out.xml", "-k", "latency").assert_outcomes(passed=1)
    (case,) = xml.etree.ElementTree.parse(project.path / "out.xml").iter("testcase")  # noqa: S314 - our own
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}

    assert case.get("name") == "scale[latency-n4096]"
    assert properties["cudaopt.kind"] == "modelled"
    assert float(properties["cudaopt.median_ns"]) > 0


def test_the_reproduce_line_names_the_device_if_one_was_chosen(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run("--cudaopt-device=sim", "-k", "n51")

    result.stdout.fnmatch_lines(
        ["reproduce: pytest 'test_scale.py::scale[[]check-n51[]]' --cudaopt-device=sim"]
    )


def test_the_reproduce_line_works_from_where_pytest_was_started(project, monkeypatch):
    project.write("pytest.ini", "[pytest]\n")
    project.edit("scale.cu", "2.0f", "3.0f")
    below = project.path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    result = project.run("-k", "n51", "..")

    result.stdout.fnmatch_lines(["reproduce: pytest '../test_scale.py::scale[[]check-n51[]]'"])


def test_optimize_reports_the_run_and_keeps_the_checks(project):
    result = project.run_alone("--optimize")

    result.assert_outcomes(passed=7)
    # Standard output of a subprocess is no terminal: no progress there.
    assert "attempt 1/" not in result.stdout.str()
    lines = table_of(result)
    assert any(re.search(r"^  optimize +passed .* in 2 attempts$", line) for line in lines)
    assert any(line.strip() == "results/run-001" for line in lines)
    assert (project.path / "results/run-001/best.cu").is_file()


def test_the_allowed_slowdown_is_recorded_with_the_run(project):
    project.run("--optimize", "--optimize-allow-slower=5%", "--optimize-max-iterations=1", "-k", "optimize")

    config = json.loads((project.path / "results/run-001/config.json").read_text())
    assert config["options"]["allow_slower"] == pytest.approx(0.05)


def test_a_wrong_start_is_not_optimised(project):
    project.edit("scale.cu", "2.0f", "3.0f")
    result = project.run_alone("--optimize", "-k", "optimize")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "WRONG: y: *",
            "  not optimised: the starting kernel must pass its own checks first",
            "reproduce: pytest 'test_scale.py::scale[[]optimize[]]' --optimize",
        ]
    )


def test_a_kernel_that_is_only_checked_is_not_optimised(project):
    project.edit("test_scale.py", ", measure=True", "")
    result = project.run("--optimize", "-k", "optimize", "-rs")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*test_scale.py:3: nothing to optimise for: no case(*measure=True)*"])


def run_in_terminal(project, **environ) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--optimize", "-k", "optimize"]
    environ = {name: value for name, value in {**os.environ, "TERM": "dumb", **environ}.items() if value}
    with subprocess.Popen(command, stdout=theirs, cwd=project.path, env=environ):
        os.close(theirs)
        written = bytearray()
        # Linux reports the other end's closing as an input/output error.
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 4096):
                written += chunk
    os.close(ours)
    return written.decode()


def test_progress_is_written_to_a_terminal(project):
    text = run_in_terminal(project, CI="", BUILD_NUMBER="")

    assert "test_scale.py::scale[optimize] attempt 0/7" in text
    assert "1 passed" in text


def test_progress_is_not_written_to_a_terminal_of_a_ci_service(project):
    text = run_in_terminal(project, CI="true")

    assert "attempt 0/7" not in text
    assert "1 passed" in text
