"""`pytest --optimize` with a model behind a server: the command as users give it, the server scripted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from scripted_server import (
    Answer,
    Json,
    Step,
    call,
    failure,
    message,
    proposal,
    reasoning,
    refusal,
    response,
    said,
    serving,
)

from conftest import Project

KEY = "sk-marker-that-nobody-may-write-down"
HEAD = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n'
SLOW = f"""// @launch grid=(1) block=(64)
{HEAD}    for (int i = threadIdx.x; i < n; i += 64) y[i] = 2.0f * x[i];
}}
"""


def one_each(value: str) -> Json:
    return proposal(
        f"{HEAD}    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) y[i] = {value};\n}}\n"
    )


UNDECLARED = one_each("2.0f * x[j]")
TREBLED = one_each("3.0f * x[i]")
BEYOND = one_each("2.0f * x[i + 1]")
FASTER = one_each("2.0f * x[i]")
SLOWER = proposal(
    f"{HEAD}    for (int i = threadIdx.x; i < n; i += 32) y[i] = 2.0f * x[i];\n}}\n", "grid=(1) block=(32)"
)
# Does nothing where it is timed.
CHEAT = proposal(FASTER["source"].replace("if (i < n)", "if (i < n && n != 4096)"))


def answer(form: Json) -> Answer:
    return response(reasoning(), message(json.dumps(form)))


def once_told(words: str, form: Json) -> Step:
    """Return who proposes `form` only if the request says `words`."""

    def step(request: Json) -> Answer:
        return answer(form) if words in said(request) else response(refusal(f"nobody told me: {words}"))

    return step


class Ran:
    """What a run left: its output and its folder."""

    def __init__(self, project: Project, result: pytest.RunResult) -> None:
        self.code = result.ret
        self.output = "\n".join((*result.outlines, *result.errlines))
        (self.folder,) = (project.path / "results").glob("run-*")
        lines = (self.folder / "history.jsonl").read_text().splitlines()
        self.history: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self.summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())

    @property
    def decisions(self) -> list[str]:
        return [attempt["decision"] for attempt in self.history]

    @property
    def written(self) -> str:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        assert files
        return "\n".join(path.read_bytes().decode(errors="replace") for path in files) + self.output


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    project.write("scale.cu", SLOW)

    def start(url: str, *arguments: str) -> Ran:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        chosen = ("-k", "optimize", "--optimize", "--optimize-model", "any-name", "--cudaopt-device", "sim")
        return Ran(project, project.run_alone(*chosen, "-p", "no:xdist", *arguments))

    return start


def test_a_model_repairs_what_it_is_told_and_the_best_is_kept(project: Project, run: Any) -> None:
    script = (
        response(reasoning(), call("device_properties", {})),
        answer(UNDECLARED),
        once_told('identifier "j" is undefined', TREBLED),
        once_told("WRONG: y: 51 of 51 elements", BEYOND),
        response(reasoning(), call("run_one_case", {**FASTER, "case_id": "n51"})),
        once_told("reads x[51] (4 bytes), but 'x' has 51 elements of 4 bytes, at scale.cu:4", FASTER),
        once_told("## The best so far: attempt 4", CHEAT),
        once_told("were never written", SLOWER),
    )
    with serving(*script) as server:
        ran = run(server.url, "--optimize-max-iterations", "6", "--optimize-record", "kept.jsonl")
    assert ran.code == 0
    wrong = ["not_accepted"] * 3
    assert ran.decisions == ["start", *wrong, "new_best", "not_accepted", "not_faster"]
    assert ran.summary["best_attempt"] == 4
    assert ran.summary["speedup"] > 1.3
    assert "2.0f * x[i];" in (ran.folder / "best.cu").read_text()
    assert (project.path / "scale.cu").read_text() == SLOW
    assert len((project.path / "kept.jsonl").read_text().splitlines()) == 6
    assert "6 attempts, of which 4 not accepted" in ran.output
    assert "results/run-001, 960 tokens" in ran.output

    told = [said(request) for request in server.requests]
    assert all(SLOW.splitlines()[1] in text and "y[...] = 2 * x" in text for text in told)
    assert "multiprocessors" in told[1]
    assert "y[i] = 2.0f * x[j];" in told[2]
    assert "expected" in told[3]
    assert "got" in told[3]
    assert "y[i] = 2.0f * x[i + 1]" in told[4]
    assert told[5].endswith("right")
    sealed = [item for item in server.requests[1]["input"] if item.get("type") == "reasoning"]
    assert [item["encrypted_content"] for item in sealed] == ["sealed"]
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY not in ran.written
    assert KEY not in json.dumps(server.requests)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ((response(refusal("I will not.")),), "I will not."),
        (
            (response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),),
            "max_output_tokens",
        ),
        ((Answer("not JSON"),), "not JSON"),
        ((response(message("Here you go!")),), "Invalid JSON"),
        ((failure(500, "server_error", "oops", retry_after_ms="1"),) * 3, "oops"),
        ((failure(429, "rate_limit_exceeded", "slow down", retry_after_ms="1"),) * 3, "slow down"),
        ((Answer("", dropped=True),) * 3, "no connection"),
    ],
    ids=["refused", "incomplete", "malformed", "no-form", "500", "429", "dropped"],
)
def test_an_answer_that_is_of_no_use_is_an_attempt_and_the_next_one_counts(
    run: Any, script: tuple[Step, ...], words: str
) -> None:
    with serving(*script, answer(FASTER)) as server:
        ran = run(server.url, "--optimize-max-iterations", "2")
    assert ran.code == 0
    assert ran.decisions == ["start", "no_proposal", "new_best"]
    assert words in ran.history[1]["reason"]
    assert KEY not in ran.written


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (failure(404, "model_not_found", "The model 'any-name' does not exist"), "does not exist"),
        (failure(401, "invalid_api_key", f"Incorrect API key provided: {KEY}"), "Incorrect API key provided"),
    ],
    ids=["name", "key"],
)
def test_a_name_or_key_that_is_wrong_ends_the_run(run: Any, refused: Answer, words: str) -> None:
    with serving(refused) as server:
        ran = run(server.url)
    assert ran.code == 1
    assert words in ran.output
    assert "--optimize-model" in ran.output
    assert ran.summary["stopped_because"] == "fault"
    assert ran.decisions == ["start"]
    assert KEY not in ran.written


def test_tokens_that_are_used_up_end_the_run(run: Any) -> None:
    with serving(answer(TREBLED), answer(FASTER)) as server:
        ran = run(server.url, "--optimize-max-tokens", "200")
    assert ran.code == 0
    assert ran.summary["stopped_because"] == "tokens_used"
    assert ran.decisions == ["start", "not_accepted", "new_best"]


def test_seconds_that_are_used_up_end_the_run(run: Any) -> None:
    # The start took longer: nobody is asked.
    with serving() as server:
        ran = run(server.url, "--optimize-max-seconds", "0.001", "--optimize-max-iterations", "3")
    assert ran.code == 0
    assert ran.summary["stopped_because"] == "seconds_used"
    assert ran.decisions == ["start"]


@pytest.mark.parametrize("search", ["greedy", "beam:2x1"])
def test_ctrl_c_while_a_model_thinks_ends_the_run_at_once(
    search: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("scale.cu", SLOW)
    started: list[subprocess.Popen[bytes]] = []

    def interrupt(request: Json) -> Answer:
        started[0].send_signal(signal.SIGINT)
        return Answer(" ", dribble=True)

    with serving(*[interrupt] * (1 if search == "greedy" else 2)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = (sys.executable, "-m", "pytest", "-k", "optimize", "--optimize", "--cudaopt-device", "sim")
        options = ("--optimize-model", "any-name", "--optimize-search", search)
        # A program that a shell starts in the background ignores SIGINT, and so would what it starts.
        started.append(
            subprocess.Popen(
                [*command, *options],
                cwd=project.path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        )
        try:
            output, _ = started[0].communicate(timeout=60)
        finally:
            started[0].kill()
    assert started[0].returncode == pytest.ExitCode.INTERRUPTED
    (folder,) = (project.path / "results").glob("run-*")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["stopped_because"] == "interrupted"
    assert KEY not in output.decode()
