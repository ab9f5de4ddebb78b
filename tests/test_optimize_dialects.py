"""What a server's refusal says about the dialect, and what it does not."""

from __future__ import annotations

import json

import pytest

from pytest_cudaopt.optimize.conversation import Form, Request, Text, Tool
from pytest_cudaopt.optimize.dialects import BEGUN_WITH, Api, Dialect, after_refusal, is_no_route

FORM = Form("answer", {"type": "object"})
WITHOUT_TOOLS = Request("", (Text("hello"),), FORM)
WITH_TOOLS = Request("", (Text("hello"),), FORM, (Tool("floor", "", {}),))
RESPONSES = Dialect()
CHAT = Dialect(is_chat=True)
NO_TOOLS = Dialect(is_chat=True, tools=False)
NO_SCHEMA = Dialect(is_chat=True, schema=False)
PLAIN = Dialect(is_chat=True, tools=False, schema=False)


@pytest.mark.parametrize(
    ("status", "said", "found"),
    [
        (404, '{"detail":"Not Found"}', CHAT),
        (404, "404 page not found", CHAT),
        (404, '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}', CHAT),
        (405, '{"detail":"Method Not Allowed"}', CHAT),
        (501, "", CHAT),
        (400, "The model does not support Responses API", CHAT),
        (400, "Unknown parameter: 'include[0]'", CHAT),
        (400, "Unrecognized request argument supplied: tools", NO_TOOLS),
        (400, "Encrypted content is not supported with this model.", CHAT),
        (400, "max_output_tokens is too large: 32000", CHAT),
        (400, "registry/any-name does not support tools", NO_TOOLS),
        (400, "Unsupported parameter: 'text.format'", NO_SCHEMA),
        (400, "json mode cannot be combined with tool calling", CHAT),
        # These mean what they say.
        (400, "the request exceeds the available context size", None),
        (400, "Invalid model: any-name", None),
        (401, "Incorrect API key", None),
        (403, "tools are not supported in your plan", None),
        (404, "The model `any-name` does not exist.", None),
        (404, 'model "any-name" not found, try pulling it first', None),
        (404, '{"error":{"code":"model_not_found"}}', None),
        (429, "slow down", None),
        (500, "oops", None),
        (500, "error parsing tool call: raw='{', err=unexpected end of JSON input", None),
        (503, "loading model", None),
    ],
)
def test_a_refusal_of_the_responses_api_leads_to_what_is_left(
    status: int, said: str, found: Dialect | None
) -> None:
    assert after_refusal(RESPONSES, status, said, WITH_TOOLS) == found


@pytest.mark.parametrize(
    ("spoken", "request_", "status", "said", "found"),
    [
        (CHAT, WITH_TOOLS, 400, "any-name does not support tools", NO_TOOLS),
        (CHAT, WITH_TOOLS, 500, "tools param requires --jinja flag", NO_TOOLS),
        (CHAT, WITH_TOOLS, 500, "Unsupported param: tools", NO_TOOLS),
        (CHAT, WITH_TOOLS, 400, '"auto" tool choice requires --enable-auto-tool-choice', NO_TOOLS),
        (CHAT, WITH_TOOLS, 404, "No endpoints found that support tool use", NO_TOOLS),
        (CHAT, WITH_TOOLS, 400, "Failed to initialize samplers: failed to parse grammar", NO_TOOLS),
        (NO_TOOLS, WITH_TOOLS, 400, "response_format is not supported", PLAIN),
        (CHAT, WITHOUT_TOOLS, 400, "failed to parse grammar", NO_SCHEMA),
        (CHAT, WITHOUT_TOOLS, 500, 'response_format type must be one of "text"', NO_SCHEMA),
        (PLAIN, WITH_TOOLS, 400, "System role not supported", Dialect(True, False, False, False)),
        # Nobody offered what is refused.
        (PLAIN, WITH_TOOLS, 400, "any-name does not support tools", None),
        (PLAIN, WITHOUT_TOOLS, 400, "response_format is not supported", None),
        (Dialect(True, False, False, False), WITHOUT_TOOLS, 400, "System role not supported", None),
        (CHAT, WITH_TOOLS, 404, '{"detail":"Not Found"}', None),
        (CHAT, WITH_TOOLS, 404, 'model "any-name" not found', None),
        (CHAT, WITH_TOOLS, 401, "does not support tools", None),
        (CHAT, WITH_TOOLS, 500, "error parsing tool call: raw='{'", None),
        (CHAT, WITH_TOOLS, 400, "This model's maximum context length is 4096 tokens", None),
    ],
)
def test_chat_completions_lose_only_what_is_refused_by_name(
    spoken: Dialect, request_: Request, status: int, said: str, found: Dialect | None
) -> None:
    assert after_refusal(spoken, status, said, request_) == found


def test_a_request_that_is_repeated_in_an_error_names_nothing() -> None:
    echo = json.dumps({"message": "out of memory", "x": "y" * 300, "body": {"tools": [], "z": "z" * 300}})
    assert after_refusal(CHAT, 500, f"{echo} unsupported", WITH_TOOLS) is None


@pytest.mark.parametrize(
    ("raw", "is_none"),
    [
        ("<!doctype html><p>hi", True),
        (" \n<HTML>", True),
        ('{"error":"Unexpected endpoint or method. (POST /v1/responses). Returning 200 anyway"}', True),
        ('{"error":"oops"}', False),
        ('{"output": []}', False),
        ("not JSON", False),
    ],
)
def test_a_page_for_people_is_no_answer(raw: str, is_none: bool) -> None:
    assert is_no_route(raw) is is_none


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        (BEGUN_WITH[Api.AUTO], "Responses API"),
        (BEGUN_WITH[Api.CHAT], "chat completions with tools, JSON schema"),
        (NO_SCHEMA, "chat completions with tools"),
        (NO_TOOLS, "chat completions with JSON schema"),
        (BEGUN_WITH[Api.PLAIN], "chat completions, plain text"),
    ],
)
def test_a_dialect_says_what_it_has(dialect: Dialect, words: str) -> None:
    assert str(dialect) == words
