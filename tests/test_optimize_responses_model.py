"""A language model behind a server: what is sent, what is tried again, how each failure reads."""

from __future__ import annotations

import pytest
from scripted_server import Answer, Step, failure, message, response, serving

from pytest_cudaopt.optimize.conversation import FailureKind, Form, ModelFailure, Request, Text
from pytest_cudaopt.optimize.model_server import Access
from pytest_cudaopt.optimize.responses_model import ResponsesModel

KEY = "sk-marker-of-a-test"
REQUEST = Request("Be brief.", (Text("hello"),), Form("answer", {"type": "object"}))
SOON = {"retry_after_ms": "1"}


def ask(url: str, *, timeout_s: float = 30.0) -> str:
    model = ResponsesModel(Access("any-name", KEY, url, "low", timeout_s))
    return model.read(model.fetch(REQUEST)).text


def test_a_question_is_answered() -> None:
    with serving(response(message("{}"))) as server:
        assert ask(server.url) == "{}"
    (request,) = server.requests
    assert (request["model"], request["reasoning"]) == ("any-name", {"effort": "low"})
    assert request["input"] == [{"role": "user", "content": "hello"}]
    assert request["store"] is False
    assert request["include"] == ["reasoning.encrypted_content"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "first",
    [
        failure(429, "rate_limit_exceeded", "slow down", **SOON),
        failure(500, "server_error", "oops", **SOON),
        failure(503, "overloaded", "later", **SOON),
        Answer("", dropped=True),
    ],
    ids=["429", "500", "503", "dropped"],
)
def test_what_passes_is_tried_again(first: Step) -> None:
    with serving(first, response(message("{}"))) as server:
        assert ask(server.url) == "{}"


@pytest.mark.parametrize(
    ("answer", "tries", "kind", "words", "is_final"),
    [
        (
            failure(429, "rate_limit_exceeded", "slow", **SOON),
            3,
            FailureKind.RATE_LIMITED,
            "429.*slow",
            False,
        ),
        (failure(429, "insufficient_quota", "pay", **SOON), 3, FailureKind.RATE_LIMITED, "429.*pay", True),
        (failure(500, "server_error", "oops", **SOON), 3, FailureKind.SERVER_ERROR, "500.*oops", False),
        (Answer("<html>", 502, {"retry-after-ms": "1"}), 3, FailureKind.SERVER_ERROR, "502", False),
        (Answer("", dropped=True), 3, FailureKind.UNREACHABLE, "no connection", False),
        (failure(401, "invalid_api_key", "wrong key"), 1, FailureKind.REJECTED, "401.*wrong key", True),
        (
            failure(404, "model_not_found", "no such"),
            1,
            FailureKind.REJECTED,
            "404 model_not_found: no such",
            True,
        ),
        (Answer("not json"), 1, FailureKind.MALFORMED, "not JSON", False),
    ],
    ids=["429", "no-money", "500", "502", "dropped", "key", "name", "malformed"],
)
def test_a_failure_says_what_it_is(
    answer: Answer, tries: int, kind: FailureKind, words: str, is_final: bool
) -> None:
    with serving(*[answer] * tries) as server, pytest.raises(ModelFailure, match=words) as raised:
        ask(server.url)
    assert (raised.value.kind, raised.value.is_final) == (kind, is_final)
    assert KEY not in str(raised.value)


def test_an_answer_without_an_end_is_given_up() -> None:
    endless = Answer(" ", dribble=True)
    # Once: with no time left it is not asked again.
    with serving(endless) as server, pytest.raises(ModelFailure, match="no answer in time") as raised:
        ask(server.url, timeout_s=0.2)
    assert raised.value.kind is FailureKind.TIMED_OUT


def test_headers_without_an_end_are_given_up() -> None:
    endless = Answer("", dribbled_headers=True)
    with serving(endless) as server, pytest.raises(ModelFailure, match="no answer in time") as raised:
        ask(server.url, timeout_s=0.2)
    assert raised.value.kind is FailureKind.TIMED_OUT


def test_a_key_a_server_repeats_is_shown_to_nobody() -> None:
    echo = failure(401, "invalid_api_key", f"Incorrect API key provided: {KEY}")
    with serving(echo) as server, pytest.raises(ModelFailure, match="Incorrect API key") as raised:
        ask(server.url)
    assert KEY not in str(raised.value)
    with serving(response(message(f"your key is {KEY}"))) as server:
        assert ask(server.url) == "your key is [key]"


def test_the_key_is_in_no_text_about_the_model() -> None:
    access = Access("any-name", KEY, "http://someone:secret@127.0.0.1:1/v1")
    assert KEY not in repr(access)
    assert "secret" not in repr(access) + ResponsesModel(access).name
    assert ResponsesModel(Access("any-name", KEY)).name == "any-name"
