"""The Responses API's wire form, without a server."""

from __future__ import annotations

import json

import pytest
from scripted_server import call, message, reasoning, refusal, response

from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Form,
    ModelFailure,
    Request,
    Said,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)
from pytest_cudaopt.optimize.responses_wire import from_wire, to_wire

FORM = Form("answer", {"type": "object"})


def test_a_request_says_what_it_holds() -> None:
    items = (Text("hello"), Said({"type": "reasoning", "id": "r"}), ToolResult("c", "42"))
    tool = Tool("floor", "How fast.", {"type": "object"})
    wire = to_wire(Request("Be brief.", items, FORM, (tool,)))
    assert wire["instructions"] == "Be brief."
    assert wire["input"] == [
        {"role": "user", "content": "hello"},
        {"type": "reasoning", "id": "r"},
        {"type": "function_call_output", "call_id": "c", "output": "42"},
    ]
    assert wire["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": {"type": "object"},
        "strict": True,
    }
    assert wire["tools"] == [
        {
            "type": "function",
            "name": "floor",
            "description": "How fast.",
            "parameters": {"type": "object"},
            "strict": True,
        }
    ]


def test_a_reply_has_its_text_and_what_it_cost() -> None:
    reply = from_wire(response(reasoning(), message("{}")).body)
    assert (reply.text, reply.calls, reply.usage) == ("{}", (), Usage(100, 40, 20, 5))
    assert reply.usage.total == 120


def test_calls_go_back_with_the_thinking_that_led_to_them() -> None:
    reply = from_wire(response(reasoning(), call("floor", {"a": 1}), {"type": "web_search_call"}).body)
    assert reply.calls == (ToolCall("call_1", "floor", '{"a": 1}'),)
    assert [one.item["type"] for one in reply.said] == ["reasoning", "function_call"]
    assert reply.said[0].item == reasoning()


def test_what_a_client_adds_does_not_go_back() -> None:
    reply = from_wire(response({**call("floor", {}), "parsed_arguments": {}}).body)
    assert "parsed_arguments" not in reply.said[0].item


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("<html>", FailureKind.MALFORMED, "is not JSON"),
        ("[]", FailureKind.MALFORMED, "is not a JSON object"),
        ("{}", FailureKind.MALFORMED, "no text and no call"),
        (
            '{"output": [1, {"type": "message", "content": [2, {"text": 3}]}]}',
            FailureKind.MALFORMED,
            "no text",
        ),
        (response(refusal("I will not.")).body, FailureKind.REFUSED, "I will not."),
        (
            response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}).body,
            FailureKind.INCOMPLETE,
            "max_output_tokens",
        ),
        (response(status="incomplete").body, FailureKind.INCOMPLETE, "no reason given"),
        (
            response(status="failed", error={"message": "out of luck"}).body,
            FailureKind.SERVER_ERROR,
            "out of luck",
        ),
        (response(status="cancelled").body, FailureKind.SERVER_ERROR, "cancelled"),
    ],
)
def test_what_is_no_reply_says_why(body: str, kind: FailureKind, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as raised:
        from_wire(body)
    assert raised.value.kind is kind
    assert not raised.value.is_final


def test_a_failure_costs_what_it_cost() -> None:
    with pytest.raises(ModelFailure) as raised:
        from_wire(response(refusal("no")).body)
    assert raised.value.usage.total == 120


@pytest.mark.parametrize("usage", [None, 3, {"input_tokens": "many"}, {"input_tokens_details": 1}])
def test_a_server_that_does_not_count_costs_nothing(usage: object) -> None:
    body = json.loads(response(message("{}")).body)
    assert from_wire(json.dumps({**body, "usage": usage})).usage == Usage()


def test_the_size_of_a_request_is_what_is_sent() -> None:
    small = Request("ab", (Text("c"), ToolResult("id", "de")), FORM)
    assert small.size == 5
    assert Request("", (Said({"k": 1}),), FORM).size == len(str({"k": 1}))
