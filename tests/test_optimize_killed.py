"""`pytest --optimize` killed in the middle, and going on: the command as users give it, a scripted server."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import Any

import pytest
from scripted_server import Answer, Json, Step, call, message, proposal, response, serving

from conftest import Project

HEAD = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n'
SLOW = f"""// @launch grid=(1) block=(64)
{HEAD}    for (int i = threadIdx.x; i < n; i += 64) y[i] = 2.0f * x[i];
}}
"""


def threads(block: int, value: str = "2.0f * x[i]") -> Answer:
    body = f"    int i = blockIdx.x * {block} + threadIdx.x;\n    if (i < n) y[i] = {value};\n}}\n"
    form = proposal(f"{HEAD}{body}", f"grid=(cdiv(n, {block})) block=({block})")
    return response(message(json.dumps(form)))


class Started:
    """A run under way in a process of its own, which a step of the server's script may end."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self, url: str, *options: str) -> None:
        command = (
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-k",
            "optimize",
        )
        asked = ("--optimize", "--optimize-model", "any-name", "--cudaopt-device", "sim")
        self.process = subprocess.Popen(
            [*command, *asked, *options],
            cwd=self.project.path,
            env={**os.environ, "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # What a shell starts in the background ignores SIGINT, and so would what it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def end(self) -> tuple[int, str]:
        assert self.process is not None
        try:
            output, _ = self.process.communicate(timeout=120)
        finally:
            self.process.kill()
        return self.process.returncode, output.decode()

    def killing(self, how: int) -> Step:
        """Return a step that ends the run instead of answering."""

        def step(request: Json) -> Answer:
            assert self.process is not None
            self.process.send_signal(how)
            if how == signal.SIGKILL:
                self.process.wait()
            return Answer(" ", dribble=True)

        return step


@pytest.fixture
def started(project: Project) -> Started:
    project.write("scale.cu", SLOW)
    return Started(project)


def history(project: Project) -> list[dict[str, Any]]:
    (folder,) = (project.path / "results").glob("run-*")
    return [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]


def test_a_run_killed_in_the_middle_goes_on_and_buys_nothing_twice(
    project: Project, started: Started
) -> None:
    tool = response(call("device_properties", {}))
    with serving(threads(32), threads(128, "3.0f * x[i]"), tool, started.killing(signal.SIGKILL)) as server:
        started.begin(server.url, "--optimize-max-iterations=4")
        code, _ = started.end()
    assert code == -signal.SIGKILL
    assert [line["attempt"] for line in history(project)] == [0, 1, 2]
    # The answer that wants a tool was paid for; only what follows it is asked again.
    with serving(threads(256), threads(96)) as server:
        started.begin(server.url, "--optimize-max-iterations=4", "--optimize-from=run-001")
        code, output = started.end()
    assert code == 0, output
    assert [item["type"] for item in server.requests[0]["input"][2:]] == [
        "function_call",
        "function_call_output",
    ]
    lines = history(project)
    assert [line["attempt"] for line in lines] == [0, 1, 2, 3, 4]
    assert [line["decision"] for line in lines][:3] == ["start", "new_best", "not_accepted"]
    folder = project.path / "results" / "run-001"
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["tokens"]["total"] == 5 * 120
    best = folder / f"attempt-0{lines[-1]['best']}" / "candidate.cu"
    assert (folder / "best.cu").read_text() == best.read_text() != SLOW
    assert (project.path / "scale.cu").read_text() == SLOW


def killed_before(words: str) -> str:
    """Return a conftest that kills the process where it would write what has `words` in its path."""
    return f"""
import os, signal
from pytest_cudaopt.optimize import record

append = record.append_line

def killed(path, line):
    if {words!r} in line:
        os.kill(os.getpid(), signal.SIGKILL)
    append(path, line)

record.append_line = killed
"""


def test_an_answer_without_a_line_in_the_history_is_judged_and_not_bought_again(
    project: Project, started: Started
) -> None:
    conftest = project.write("conftest.py", killed_before('"attempt": 1'))
    with serving(threads(256)) as server:
        started.begin(server.url, "--optimize-max-iterations=1")
        code, _ = started.end()
    assert code == -signal.SIGKILL
    assert [line["attempt"] for line in history(project)] == [0]
    conftest.unlink()
    with serving() as server:
        started.begin(server.url, "--optimize-max-iterations=1", "--optimize-from=results/run-001")
        code, output = started.end()
    assert code == 0, output
    assert [line["decision"] for line in history(project)] == ["start", "new_best"]


def go_on_command(output: str) -> list[str]:
    """Return the words of the command the output says the run goes on with."""
    (line,) = [line for line in output.splitlines() if line.strip().startswith("go on ")]
    return shlex.split(line.strip().removeprefix("go on "))


def test_ctrl_c_says_where_the_run_is_and_the_command_that_goes_on(
    project: Project, started: Started
) -> None:
    with serving(threads(256), started.killing(signal.SIGINT)) as server:
        started.begin(server.url, "--optimize-max-iterations=2")
        code, output = started.end()
    assert code == pytest.ExitCode.INTERRUPTED
    assert "recorded  results/run-001" in output
    command = go_on_command(output)
    assert command[:2] == ["pytest", "test_scale.py::scale[optimize]"]
    with serving(threads(128)) as server:
        again = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=project.path,
            env={**os.environ, "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
    assert again.returncode == 0, again.stdout
    assert [line["attempt"] for line in history(project)] == [0, 1, 2]


def test_two_processes_do_not_work_on_one_run(project: Project, started: Started) -> None:
    other: list[tuple[int, str]] = []

    def beside(request: Json) -> Answer:
        second = Started(project)
        second.begin("http://127.0.0.1:9/v1", "--optimize-from=run-001", "--optimize-max-iterations=1")
        other.append(second.end())
        return threads(256)

    with serving(beside) as server:
        started.begin(server.url, "--optimize-max-iterations=1")
        code, output = started.end()
    assert code == 0, output
    ((refused, said),) = other
    assert refused == 1
    assert f"one under way in process {started.process.pid}" in said
    assert [line["attempt"] for line in history(project)] == [0, 1]
