"""The wire form of chat completions: requests to it, replies from it, as many servers deviate. Pure.

What a model said is kept in the items of the Responses API, so that a conversation can go on in either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from pytest_cudaopt.optimize import plain_form
from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Item,
    Json,
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
from pytest_cudaopt.optimize.responses_wire import count, json_object

Message = dict[str, Any]


def to_wire(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Return the arguments of `chat.completions.create` that depend on the request.

    With tools goes no schema: vLLM, llama.cpp and Ollama hold all of an answer to it, calls included. Words
    describe the form in any case, since a schema only limits an answer and tells a model nothing.
    """
    wire: dict[str, Any] = {"messages": _messages(request, dialect)}
    if request.tools and dialect.tools:
        wire["tools"] = [_tool(tool) for tool in request.tools]
    elif dialect.schema:
        form = request.form
        schema = {"name": form.name, "schema": form.schema, "strict": True}
        wire["response_format"] = {"type": "json_schema", "json_schema": schema}
    return wire


def from_wire(raw: str) -> Reply:
    """Read a completion's body; raise ModelFailure for one that holds no usable reply."""
    body = json_object(raw)
    usage = _usage(body)
    choice = _first_choice(body, usage)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    _require_whole(choice, message, usage)
    calls = tuple(_calls(message, hashlib.sha256(raw.encode()).hexdigest()[:8]))
    content = _without_thoughts(_text(message.get("content")))
    if not content and not calls:
        # Servers that take thoughts apart may take the answer for one.
        content = _text(message.get("reasoning_content") or message.get("reasoning")).strip()
    if not content and not calls:
        raise ModelFailure(FailureKind.MALFORMED, "the completion holds no text and no call", usage=usage)
    said = tuple(Said(one) for one in _kept(content, calls))
    return Reply(content if calls else plain_form.found_in(content), calls, said, usage)


def _messages(request: Request, dialect: Dialect) -> list[Message]:
    begun = tuple(takewhile(lambda item: isinstance(item, Text), request.items))
    words = Text(plain_form.in_words(request.form))
    items = (*begun, words, *request.items[len(begun) :])
    instructions = {"role": "system" if dialect.system else "user", "content": request.instructions}
    messages = [instructions]
    for message in (one for item in items for one in _of_item(item, dialect)):
        if message["role"] == messages[-1]["role"] != "tool":
            # Templates of many models want the roles to alternate.
            messages[-1] = _joined(messages[-1], message)
        else:
            messages.append(message)
    return messages


def _of_item(item: Item, dialect: Dialect) -> Iterator[Message]:
    match item:
        case Text(text):
            yield {"role": "user", "content": text}
        case ToolResult(call_id, output) if dialect.tools:
            yield {"role": "tool", "tool_call_id": call_id, "content": output}
        case ToolResult(_, output):
            yield {"role": "user", "content": f"The tool answered:\n\n{output}"}
        case Said({"type": "function_call"} as call) if dialect.tools:
            function = {"name": call["name"], "arguments": _valid(call["arguments"])}
            one = {"id": call["call_id"], "type": "function", "function": function}
            yield {"role": "assistant", "content": "", "tool_calls": [one]}
        case Said({"type": "function_call"} as call):
            yield {"role": "assistant", "content": f"I call {call['name']} with {call['arguments']}"}
        case Said({"type": "message"} as message):
            yield {"role": "assistant", "content": _text(message.get("content"))}


def _joined(first: Message, second: Message) -> Message:
    content = "\n\n".join(text for text in (first["content"], second["content"]) if text)
    calls = [*first.get("tool_calls", ()), *second.get("tool_calls", ())]
    return {"role": first["role"], "content": content} | ({"tool_calls": calls} if calls else {})


def _valid(arguments: str) -> str:
    """Return a call's arguments as they may go back: some servers read them, and refuse what they cannot."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return "{}"
    return arguments if isinstance(value, dict) else "{}"


def _tool(tool: Tool) -> Json:
    described = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": described}


def _first_choice(body: Json, usage: Usage) -> Json:
    error = body.get("error")
    if error:
        said = error.get("message") if isinstance(error, dict) else error
        raise ModelFailure(FailureKind.SERVER_ERROR, f"the completion failed: {said}", usage=usage)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelFailure(FailureKind.MALFORMED, "the completion holds no choice", usage=usage)
    return choices[0]


def _require_whole(choice: Json, message: Json, usage: Usage) -> None:
    reason = choice.get("finish_reason")
    if reason == "length":
        raise ModelFailure(FailureKind.INCOMPLETE, "the answer was cut short: length", usage=usage)
    if message.get("refusal"):
        raise ModelFailure(FailureKind.REFUSED, f"the model refused: {message['refusal']}", usage=usage)
    if reason == "content_filter":
        raise ModelFailure(FailureKind.REFUSED, "the server's filter held the answer back", usage=usage)


def _usage(body: Json) -> Usage:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        count(usage, "prompt_tokens"),
        count(usage.get("prompt_tokens_details"), "cached_tokens"),
        count(usage, "completion_tokens"),
        count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _calls(message: Json, digest: str) -> Iterator[ToolCall]:
    """Yield the calls; those without an id of their own get one that is the same whenever it is read."""
    calls = message.get("tool_calls")
    known: set[str] = set()
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        given = str(call.get("id") or "")
        call_id = given if given and given not in known else f"call_{digest}_{number}"
        known.add(call_id)
        arguments = function.get("arguments")
        written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        yield ToolCall(call_id, str(function.get("name", "")), written)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _without_thoughts(content: str) -> str:
    """Return what follows the thoughts, whose opening tag a model's template may have written."""
    return content.rpartition("</think>")[2].strip()


def _kept(content: str, calls: tuple[ToolCall, ...]) -> Iterator[Json]:
    if content:
        yield {"type": "message", "role": "assistant", "content": content}
    for call in calls:
        yield {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        }
