"""The wire form of chat completions, without a server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_cudaopt.optimize import server_answers
from pytest_cudaopt.optimize.chat_wire import from_wire, to_wire
from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Form,
    ModelFailure,
    Reply,
    Request,
    Said,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)
from pytest_cudaopt.optimize.dialects import Dialect

FORM = Form("answer", {"type": "object", "properties": {"a": {"type": "integer"}}})
TOOL = Tool("floor", "How fast.", {"type": "object"})
CHAT = Dialect(is_chat=True)
CALLED = {"type": "function_call", "call_id": "c", "name": "floor", "arguments": '{"a": 1}'}
TALK = (Text("brief"), Text("situation"), Said(CALLED), ToolResult("c", "42"))


def body(message: object, reason: str | None = "stop", **more: Any) -> str:
    return json.dumps({"choices": [{"message": message, "finish_reason": reason}], **more})


def called(**more: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "floor", "arguments": "{}"}, **more}


def roles(wire: dict[str, Any]) -> list[str]:
    return [message["role"] for message in wire["messages"]]


def test_a_request_offers_tools_or_a_schema_never_both() -> None:
    wire = to_wire(Request("Be brief.", TALK[:2], FORM, (TOOL,)), CHAT)
    assert wire["tools"] == [
        {
            "type": "function",
            "function": {"name": "floor", "description": "How fast.", "parameters": {"type": "object"}},
        }
    ]
    assert "response_format" not in wire
    wire = to_wire(Request("Be brief.", TALK[:2], FORM), CHAT)
    assert wire["response_format"]["json_schema"]["schema"] == FORM.schema
    assert "tools" not in wire


def test_what_a_server_lacks_is_not_sent() -> None:
    request = Request("Be brief.", TALK[:2], FORM, (TOOL,))
    assert set(to_wire(request, Dialect(is_chat=True, tools=False, schema=False))) == {"messages"}
    assert "response_format" in to_wire(request, Dialect(is_chat=True, tools=False))


def test_the_form_is_told_in_words_and_roles_alternate() -> None:
    wire = to_wire(Request("Be brief.", TALK, FORM, (TOOL,)), CHAT)
    assert roles(wire) == ["system", "user", "assistant", "tool"]
    assert wire["messages"][0]["content"] == "Be brief."
    assert wire["messages"][1]["content"].startswith("brief\n\nsituation\n\n## Your answer")
    assert wire["messages"][2]["tool_calls"] == [called(function={"name": "floor", "arguments": '{"a": 1}'})]
    assert wire["messages"][3] == {"role": "tool", "tool_call_id": "c", "content": "42"}


def test_without_a_system_role_the_instructions_come_first() -> None:
    wire = to_wire(Request("Be brief.", TALK[:2], FORM), Dialect(is_chat=True, system=False))
    assert roles(wire) == ["user"]
    assert wire["messages"][0]["content"].startswith("Be brief.\n\nbrief\n\nsituation")


def test_without_tools_earlier_calls_are_told_in_words() -> None:
    wire = to_wire(Request("Be brief.", TALK, FORM), Dialect(is_chat=True, tools=False))
    assert roles(wire) == ["system", "user", "assistant", "user"]
    assert "floor" in wire["messages"][2]["content"]
    assert "42" in wire["messages"][3]["content"]


def test_several_calls_are_one_message_and_thoughts_of_another_api_stay_out() -> None:
    said = (Said({"type": "reasoning"}), Said({"type": "message", "content": [{"text": "Look."}]}))
    items = (*TALK[:2], *said, Said(CALLED), Said({**CALLED, "call_id": "d"}))
    results = (ToolResult("c", "1"), ToolResult("d", "2"))
    wire = to_wire(Request("", (*items, *results), FORM), CHAT)
    assert roles(wire) == ["system", "user", "assistant", "tool", "tool"]
    assert wire["messages"][2]["content"] == "Look."
    assert [one["id"] for one in wire["messages"][2]["tool_calls"]] == ["c", "d"]


@pytest.mark.parametrize("arguments", ["{", "[1]", ""])
def test_arguments_that_are_no_object_do_not_go_back(arguments: str) -> None:
    wire = to_wire(Request("", (Text("t"), Said({**CALLED, "arguments": arguments})), FORM), CHAT)
    assert wire["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_reply_has_its_text_and_what_it_cost() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 40},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    reply = from_wire(body({"content": '{"a": 1}'}, usage=usage))
    assert (reply.text, reply.calls, reply.usage) == ('{"a": 1}', (), Usage(100, 40, 20, 5))


@pytest.mark.parametrize("usage", [None, 3, {}, {"prompt_tokens_details": None}])
def test_a_server_that_does_not_count_costs_nothing(usage: object) -> None:
    assert from_wire(body({"content": "{}"}, usage=usage)).usage == Usage()
    assert from_wire(body({"content": "{}"})).usage == Usage()


@pytest.mark.parametrize(
    "message",
    [
        {"content": '{"a": 1}'},
        {"content": [{"type": "text", "text": '{"a": 1}'}]},
        {"content": '<think>{"a": 2}</think>\n{"a": 1}'},
        {"content": 'first {"a": 2}</think>{"a": 1}'},
        {"content": '```json\n{"a": 1}\n```'},
        {"content": '{"a": 1}', "reasoning_content": '{"a": 2}'},
        {"content": None, "reasoning_content": '{"a": 1}'},
        {"content": "", "reasoning": '{"a": 1}', "tool_calls": []},
    ],
)
def test_the_answer_is_found_beside_thoughts(message: dict[str, Any]) -> None:
    assert json.loads(from_wire(body(message)).text) == {"a": 1}


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (called(function={"name": "floor", "arguments": '{"a": 1}'}), '{"a": 1}'),
        (called(function={"name": "floor", "arguments": {"a": 1}}), '{"a": 1}'),
        (called(function={"name": "floor", "arguments": None}), "{}"),
        (called(function={"name": "floor"}), "{}"),
        (called(function={"name": "floor", "arguments": "{broken"}), "{broken"),
    ],
)
@pytest.mark.parametrize("reason", ["tool_calls", "stop", None])
def test_calls_count_however_they_are_written(
    call: dict[str, Any], arguments: str, reason: str | None
) -> None:
    reply = from_wire(body({"content": None, "tool_calls": [call]}, reason))
    assert reply.calls == (ToolCall("c", "floor", arguments),)
    assert [one.item["type"] for one in reply.said] == ["function_call"]


@pytest.mark.parametrize("given", [(None, None), ("", ""), ("call_0", "call_0")])
def test_calls_without_ids_get_their_own_which_stay_the_same(given: tuple[str | None, ...]) -> None:
    raw = body({"tool_calls": [called(id=one) for one in given]})
    first, second = from_wire(raw).calls
    assert first.call_id
    assert second.call_id
    assert first.call_id != second.call_id
    assert from_wire(raw) == from_wire(raw)


@pytest.mark.parametrize(
    ("raw", "kind", "words"),
    [
        ("<html>", FailureKind.MALFORMED, "is not JSON"),
        ('{"choices": []}', FailureKind.MALFORMED, "no choice"),
        ('{"choices": [3]}', FailureKind.MALFORMED, "no choice"),
        ('{"choices": [{"message": 3}]}', FailureKind.MALFORMED, "no text and no call"),
        (body({"content": None, "tool_calls": [3, {"function": 4}]}), FailureKind.MALFORMED, "no text"),
        (body({"content": "<think>hm</think>"}), FailureKind.MALFORMED, "no text and no call"),
        (body({"content": '{"a": '}, "length"), FailureKind.INCOMPLETE, "cut short"),
        (body({"content": "", "tool_calls": [called()]}, "length"), FailureKind.INCOMPLETE, "cut short"),
        (body({"content": None, "refusal": "I will not."}), FailureKind.REFUSED, "I will not."),
        (body({"content": ""}, "content_filter"), FailureKind.REFUSED, "filter"),
        (body({}, error={"message": "out of luck"}), FailureKind.SERVER_ERROR, "out of luck"),
        (body({}, error="out of luck"), FailureKind.SERVER_ERROR, "out of luck"),
    ],
)
def test_what_is_no_reply_says_why(raw: str, kind: FailureKind, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as raised:
        from_wire(raw)
    assert raised.value.kind is kind
    assert not raised.value.is_final


def test_a_body_says_which_api_it_is_of() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "{}"}]}
    assert server_answers.read(json.dumps({"output": [message]})).text == "{}"
    assert server_answers.read(body({"content": "{}"})) == Reply(
        "{}", said=(Said({"type": "message", "role": "assistant", "content": "{}"}),)
    )
