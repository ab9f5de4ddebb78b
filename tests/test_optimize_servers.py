"""`pytest --optimize` with servers that lack the Responses API: as they are, the same kernel comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from model_servers import (
    CONVENTIONS,
    LLAMA_WITHOUT_JINJA,
    MODEL,
    OLLAMA,
    VLLM,
    Call,
    Convention,
    Says,
    imitating,
)
from scripted_server import Answer, call, failure, message, proposal, response, serving

from conftest import Project

KEY = "sk-marker-that-nobody-may-write-down"
HEAD = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n'
SLOW = f"""// @launch grid=(1) block=(64)
{HEAD}    for (int i = threadIdx.x; i < n; i += 64) y[i] = 2.0f * x[i];
}}
"""
BODY = "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) y[i] = {} * x[i];\n}}\n"
TREBLED = proposal(HEAD + BODY.format("3.0f"))
FASTER = proposal(HEAD + BODY.format("2.0f"))
LOOK = Call("device_properties", {})


class Ran:
    """What a run left."""

    def __init__(self, result: pytest.RunResult, folder: Path) -> None:
        self.code = result.ret
        self.output = "\n".join((*result.outlines, *result.errlines))
        self.folder = folder
        lines = (folder / "history.jsonl").read_text().splitlines()
        self.decisions = [json.loads(line)["decision"] for line in lines]
        self.best = (folder / "best.cu").read_text()

    @property
    def models(self) -> set[str]:
        """Who was asked, as the record has it."""
        requests = self.folder.glob("model/attempt-*/*-request.json")
        return {json.loads(path.read_text())["model"] for path in requests}

    @property
    def written(self) -> str:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return "\n".join(path.read_bytes().decode(errors="replace") for path in files) + self.output


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    project.write("scale.cu", SLOW)

    def start(url: str, *arguments: str, key: str = KEY) -> Ran:
        if key:
            monkeypatch.setenv("OPENAI_API_KEY", key)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        chosen = ("-k", "optimize", "--optimize", "--optimize-model", MODEL, "--cudaopt-device", "sim")
        most = ("--optimize-max-iterations", "2")
        result = project.run_alone(*chosen, *most, "-p", "no:xdist", *arguments)
        return Ran(result, project.path / "results" / "run-001")

    return start


@pytest.mark.parametrize("convention", CONVENTIONS.values(), ids=CONVENTIONS)
def test_every_server_leads_to_the_same_kernel(convention: Convention, run: Any) -> None:
    looks = (LOOK,) if convention.has_tools else ()
    with imitating(convention, *looks, Says(TREBLED), Says(FASTER)) as server:
        ran = run(server.url)
    assert ran.code == 0
    assert ran.decisions == ["start", "not_accepted", "new_best"]
    assert ran.best == f"// @launch grid=(cdiv(n, 256)) block=(256)\n{FASTER['source']}"
    name = f"{MODEL} at {server.url} ({convention.found})"
    assert ran.models == {name}
    assert ran.output.count(f"{MODEL} at {server.url}: {convention.found}") == 1
    assert len(server.paths) == convention.refusals + len(looks) + 2
    assert server.paths[0] == "/v1/responses"
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert KEY not in ran.written


def test_the_same_answers_of_a_responses_server_lead_there_too(run: Any) -> None:
    turns = [response(message(json.dumps(form))) for form in (TREBLED, FASTER)]
    with serving(response(call("device_properties", {})), *turns) as server:
        ran = run(server.url)
    assert ran.decisions == ["start", "not_accepted", "new_best"]
    assert ran.best == f"// @launch grid=(cdiv(n, 256)) block=(256)\n{FASTER['source']}"
    assert ran.models == {f"{MODEL} at {server.url}"}


def test_what_a_tool_answered_and_what_was_wrong_is_told(run: Any) -> None:
    with imitating(OLLAMA, LOOK, Says(TREBLED), Says(FASTER)) as server:
        run(server.url)
    _, first, looked, after_wrong = [request for _, request in server.asked]
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert "Your answer" in first["messages"][1]["content"]
    assert [message["role"] for message in looked["messages"]] == ["system", "user", "assistant", "tool"]
    assert "multiprocessors" in looked["messages"][3]["content"]
    (called,) = looked["messages"][2]["tool_calls"]
    assert called["id"] == looked["messages"][3]["tool_call_id"]
    assert "WRONG: y" in after_wrong["messages"][1]["content"]


def test_a_server_that_needs_no_key_gets_none(run: Any) -> None:
    with imitating(VLLM, Says(FASTER), Says(FASTER)) as server:
        ran = run(server.url, key="")
    assert ran.code == 0
    assert {headers["authorization"] for headers in server.headers} == {"Bearer none"}
    assert "new_best" in ran.decisions


@pytest.mark.parametrize(
    ("api", "words"),
    [("chat", "chat completions with tools, JSON schema"), ("plain", "chat completions, plain text")],
)
def test_a_named_api_is_not_looked_for(api: str, words: str, run: Any) -> None:
    with imitating(OLLAMA, Says(FASTER), Says(TREBLED)) as server:
        ran = run(server.url, "--optimize-api", api)
    assert set(server.paths) == {"/v1/chat/completions"}
    assert ran.models == {f"{MODEL} at {server.url} ({words})"}
    offers = [("tools" in request, "response_format" in request) for _, request in server.asked]
    assert offers == [(api == "chat", False)] * 2


def test_responses_that_are_asked_for_and_missing_end_the_run(run: Any) -> None:
    with imitating(OLLAMA) as server:
        ran = run(server.url, "--optimize-api", "responses")
    assert ran.code == 1
    assert server.paths == ["/v1/responses"]
    assert "HTTP 404: 404 page not found" in ran.output


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (failure(401, "invalid_api_key", f"Incorrect API key provided: {KEY}"), "Incorrect API key provided"),
        (OLLAMA.no_model, "try pulling it first"),
        (VLLM.no_model, "does not exist"),
    ],
    ids=["key", "ollama-model", "vllm-model"],
)
def test_a_wrong_key_or_model_is_no_reason_to_ask_otherwise(refused: Answer, words: str, run: Any) -> None:
    with serving(refused) as server:
        ran = run(server.url)
    assert ran.code == 1
    assert len(server.requests) == 1
    assert words in ran.output
    assert KEY not in ran.written


def test_an_address_that_has_neither_api_is_said_to_be_wrong(run: Any) -> None:
    page = LLAMA_WITHOUT_JINJA.no_route
    with imitating(VLLM, page) as server:
        ran = run(server.url)
    assert ran.code == 1
    assert "a page for people" in ran.output
    assert "does OPENAI_BASE_URL end in /v1?" in ran.output


def test_a_run_that_goes_on_reads_answers_in_the_dialect_they_are_in(run: Any) -> None:
    down = failure(401, "invalid_api_key", "no")
    with imitating(VLLM, LOOK, down) as server:
        assert run(server.url).code == 1
    with imitating(VLLM, Says(FASTER), Says(TREBLED)) as server:
        ran = run(server.url, "--optimize-from", "run-001")
    assert ran.code == 0
    assert ran.decisions == ["start", "new_best", "not_accepted"]
    # What the kept answer is written in was found before.
    assert set(server.paths) == {"/v1/chat/completions"}
    first = server.asked[0][1]["messages"]
    assert [one["role"] for one in first] == ["system", "user", "assistant", "tool"]


def test_a_run_of_chat_completions_goes_on_with_the_responses_api(run: Any) -> None:
    down = failure(401, "invalid_api_key", "no")
    with imitating(VLLM, LOOK, down) as server:
        assert run(server.url).code == 1
    turns = [response(message(json.dumps(form))) for form in (FASTER, TREBLED)]
    with serving(*turns) as other:
        ran = run(other.url, "--optimize-from", "run-001", "--optimize-api", "responses")
    assert ran.decisions == ["start", "new_best", "not_accepted"]
    kinds = [item.get("type") for item in other.requests[0]["input"]]
    assert kinds == [None, None, "function_call", "function_call_output"]
