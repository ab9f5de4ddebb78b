"""What a server understands is found out once, and kept."""

from __future__ import annotations

import json

import pytest
from model_servers import LLAMA_WITHOUT_JINJA, MODEL, OLLAMA, OLLAMA_WITHOUT_TOOLS, VLLM, Says, imitating
from scripted_server import Answer, failure, message, response, serving

from pytest_cudaopt.optimize.conversation import FailureKind, Form, ModelFailure, Request, Text, Tool
from pytest_cudaopt.optimize.dialects import Api
from pytest_cudaopt.optimize.model_server import Access
from pytest_cudaopt.optimize.responses_model import ResponsesModel
from pytest_cudaopt.optimize.server_model import KnownDialects, ServerModel

KEY = "sk-marker-of-a-test"
TOOL = Tool("floor", "How fast.", {"type": "object"})
REQUEST = Request("Be brief.", (Text("hello"),), Form("answer", {"type": "object"}), (TOOL,))
FORM = {"launch": "grid=(1)", "source": "x" * 50}
HAS_NO = failure(404, "", "Not Found")


def model_at(url: str, api: Api = Api.AUTO, known: KnownDialects | None = None, **more: str) -> ServerModel:
    return ServerModel(Access(MODEL, KEY, url, **more), api, known)


def completion(text: str) -> Answer:
    return Answer(json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))


def test_what_was_found_holds_for_every_model_of_a_session() -> None:
    told: list[str] = []
    known = KnownDialects(told.append)
    with imitating(OLLAMA_WITHOUT_TOOLS, *[Says(FORM)] * 3) as server:
        for _ in range(3):
            model = model_at(server.url, known=known)
            assert json.loads(model.read(model.fetch(REQUEST)).text) == FORM
    assert server.paths == ["/v1/responses", *["/v1/chat/completions"] * 4]
    assert told == [f"{MODEL} at {server.url}: chat completions with JSON schema"]
    assert model.name == f"{MODEL} at {server.url} (chat completions with JSON schema)"


def test_another_server_is_asked_anew() -> None:
    known = KnownDialects()
    with imitating(OLLAMA, Says(FORM)) as first, imitating(LLAMA_WITHOUT_JINJA, Says(FORM)) as second:
        for server in (first, second):
            model_at(server.url, known=known).fetch(REQUEST)
            assert server.paths[0] == "/v1/responses"


def test_a_responses_server_gets_what_it_got_before() -> None:
    told: list[str] = []
    sent = []
    for kind in ("responses", "any"):
        with serving(response(message("{}"))) as server:
            access = Access(MODEL, KEY, server.url)
            known = KnownDialects(told.append)
            model = ResponsesModel(access) if kind == "responses" else ServerModel(access, Api.AUTO, known)
            assert model.read(model.fetch(REQUEST)).text == "{}"
            assert model.name == f"{MODEL} at {server.url}"
        sent.append((server.requests, server.headers[0]["authorization"]))
    assert sent[0] == sent[1]
    assert told == []


def test_a_schema_that_is_refused_later_is_left_out_from_then_on() -> None:
    refused = Answer('{"error": {"message": "response_format is not supported"}}', 400)
    without_tools = Request(REQUEST.instructions, REQUEST.items, REQUEST.form)
    told: list[str] = []
    turns = (Says(FORM), refused, Says(FORM), Says(FORM))
    with imitating(VLLM, *turns) as server:
        model = model_at(server.url, known=KnownDialects(told.append))
        for request in (REQUEST, without_tools, without_tools):
            model.fetch(request)
    assert ["response_format" in request for path, request in server.asked if "chat" in path] == [
        False,
        True,
        False,
        False,
    ]
    assert told[1:] == [f"{MODEL} at {server.url}: chat completions with tools"]


@pytest.mark.parametrize(
    ("answer", "tries", "kind"),
    [
        (failure(401, "invalid_api_key", "no tools"), 1, FailureKind.REJECTED),
        (failure(404, "model_not_found", "no such"), 1, FailureKind.REJECTED),
        (failure(429, "", "tools are not supported now", retry_after_ms="1"), 3, FailureKind.RATE_LIMITED),
        (failure(500, "", "oops", retry_after_ms="1"), 3, FailureKind.SERVER_ERROR),
        (failure(503, "", "loading model", retry_after_ms="1"), 3, FailureKind.SERVER_ERROR),
        (Answer("", dropped=True), 3, FailureKind.UNREACHABLE),
    ],
    ids=["key", "model", "429", "500", "503", "dropped"],
)
def test_trouble_is_no_dialect(answer: Answer, tries: int, kind: FailureKind) -> None:
    with serving(*[answer] * tries) as server, pytest.raises(ModelFailure) as raised:
        model_at(server.url).fetch(REQUEST)
    assert raised.value.kind is kind


def test_a_model_that_chat_completions_do_not_know_is_named() -> None:
    with imitating(OLLAMA) as server, pytest.raises(ModelFailure, match="try pulling it first") as raised:
        ServerModel(Access("other", KEY, server.url), Api.AUTO).fetch(REQUEST)
    assert raised.value.is_final


def test_a_server_with_neither_api_is_said_to_be_at_another_address() -> None:
    nowhere = imitating(VLLM, HAS_NO)
    with nowhere as server, pytest.raises(ModelFailure, match=r"HTTP 404.*end in /v1") as raised:
        model_at(server.url).fetch(REQUEST)
    assert raised.value.is_final


@pytest.mark.parametrize(("effort", "sent"), [("medium", None), ("high", "high")])
def test_only_a_chosen_effort_is_sent(effort: str, sent: str | None) -> None:
    with imitating(OLLAMA, Says(FORM)) as server:
        model_at(server.url, Api.CHAT, reasoning_effort=effort).fetch(REQUEST)
    assert server.asked[0][1].get("reasoning_effort") == sent


def test_a_key_is_hidden_but_no_word_that_stands_for_none() -> None:
    with imitating(OLLAMA, completion(f"{KEY} EMPTY")) as server:
        assert KEY not in model_at(server.url, Api.CHAT).fetch(REQUEST)
    with imitating(OLLAMA, completion("EMPTY none")) as server:
        access = Access(MODEL, "EMPTY", server.url)
        assert "EMPTY none" in ServerModel(access, Api.CHAT).fetch(REQUEST)
    with imitating(OLLAMA, completion("none")) as server:
        assert "none" in ServerModel(Access(MODEL, None, server.url), Api.CHAT).fetch(REQUEST)
    assert server.headers[0]["authorization"] == "Bearer none"


def test_a_kept_answer_says_what_its_server_speaks() -> None:
    model = model_at("http://127.0.0.1:1/v1")
    assert not model.dialect.is_chat
    assert model.read(completion("{}").body).text == "{}"
    assert model.dialect.is_chat
    assert model.read(response(message("{}")).body).text == "{}"
