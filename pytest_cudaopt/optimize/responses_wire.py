"""The Responses API's wire form: requests to it, replies from it. Pure; what it raises says why."""

from __future__ import annotations

import json
from typing import Any

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

# What goes back to the server; messages are told apart from calls by it.
_KEPT_TYPES = frozenset({"message", "reasoning", "function_call"})


def to_wire(request: Request) -> dict[str, Any]:
    """Return the arguments of `responses.create` that depend on the request."""
    return {
        "instructions": request.instructions,
        "input": [_item(item) for item in request.items],
        "text": {
            "format": {
                "type": "json_schema",
                "name": request.form.name,
                "schema": request.form.schema,
                "strict": True,
            }
        },
        "tools": [_tool(tool) for tool in request.tools],
    }


def from_wire(raw: str) -> Reply:
    """Read a response's body; raise ModelFailure for one that holds no usable reply."""
    response = json_object(raw)
    usage = _usage(response)
    status = response.get("status")
    if status == "incomplete":
        details = response.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else None
        raise ModelFailure(
            FailureKind.INCOMPLETE, f"the answer was cut short: {why or 'no reason given'}", usage=usage
        )
    if status not in (None, "completed"):
        error = response.get("error")
        why = error.get("message") if isinstance(error, dict) else status
        raise ModelFailure(FailureKind.SERVER_ERROR, f"the response failed: {why}", usage=usage)
    output = response.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    text = _text(items, usage)
    calls = tuple(_call(item) for item in items if item.get("type") == "function_call")
    if not text and not calls:
        raise ModelFailure(FailureKind.MALFORMED, "the response holds no text and no call", usage=usage)
    said = tuple(Said(_returned(item)) for item in items if item.get("type") in _KEPT_TYPES)
    return Reply(text, calls, said, usage)


def _item(item: Item) -> Json:
    match item:
        case Text(text):
            return {"role": "user", "content": text}
        case ToolResult(call_id, output):
            return {"type": "function_call_output", "call_id": call_id, "output": output}
        case Said(said):
            return said


def _tool(tool: Tool) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": True,
    }


def json_object(raw: str) -> dict[str, Any]:
    """Return a body as the JSON object it should be; raise ModelFailure that says what it is."""
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise ModelFailure(FailureKind.MALFORMED, f"the server's answer is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ModelFailure(FailureKind.MALFORMED, "the server's answer is not a JSON object")
    return value


def _usage(response: Json) -> Usage:
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        count(usage, "input_tokens"),
        count(usage.get("input_tokens_details"), "cached_tokens"),
        count(usage, "output_tokens"),
        count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def count(holder: Any, key: str) -> int:
    """Return the number a JSON value has under `key`; 0 where a server does not count."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) else 0


def _text(items: list[dict[str, Any]], usage: Usage) -> str:
    parts: list[str] = []
    for item in items:
        content = item.get("content") if item.get("type") == "message" else None
        for part in content if isinstance(content, list) else []:
            if not isinstance(part, dict):
                continue
            if part.get("type") == "refusal":
                raise ModelFailure(
                    FailureKind.REFUSED, f"the model refused: {part.get('refusal')}", usage=usage
                )
            if isinstance(part.get("text"), str):
                parts.append(part["text"])
    return "".join(parts)


def _call(item: Json) -> ToolCall:
    return ToolCall(str(item.get("call_id", "")), str(item.get("name", "")), str(item.get("arguments", "")))


def _returned(item: Json) -> Json:
    # A client adds this to what it parsed; servers reject it.
    return {key: value for key, value in item.items() if key != "parsed_arguments"}
