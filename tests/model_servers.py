"""Servers that speak chat completions as vLLM, llama.cpp and Ollama do, with their deviations.

Each says what its model would: the same turns whatever the convention.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any

from scripted_server import Answer, Json, failure, handler_of

MODEL = "any-name"


@dataclass(frozen=True)
class Call:
    """A turn in which the model calls a tool."""

    name: str
    arguments: Json


@dataclass(frozen=True)
class Says:
    """A turn in which the model fills in the form."""

    form: Json


# An answer is sent as it is, whatever the convention.
Turn = Call | Says | Answer


@dataclass(frozen=True)
class Convention:
    """How a server talks.

    `refuse` returns what it says to a request it does not take, `call` and `says` the message of a turn, and
    the reason for its end. `found` is the dialect to be found, `refusals` how many requests that takes.
    """

    refuse: Callable[[Json], Answer | None]
    call: Callable[[Call, int], tuple[Json, str]]
    says: Callable[[Says], tuple[Json, str]]
    found: str
    refusals: int
    no_route: Answer
    no_model: Answer
    has_tools: bool = True
    usage: Json | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    )


class ImitatedServer:
    """Answers with `turns` in turn as `convention` has it, and remembers what it was asked."""

    def __init__(self, convention: Convention, turns: Sequence[Turn]) -> None:
        self.convention = convention
        self.left = list(turns)
        self.asked: list[tuple[str, Json]] = []
        self.headers: list[Mapping[str, str]] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def take(self, path: str, headers: Mapping[str, str], request: Json) -> Answer:
        with self._lock:
            self.asked.append((path, request))
            self.headers.append(headers)
            if path != "/v1/chat/completions":
                return self.convention.no_route
            if request["model"] != MODEL:
                return self.convention.no_model
            refused = self.convention.refuse(request)
            if refused is not None:
                return refused
            return self._answered(request)

    def serve(self) -> None:
        self._http.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def _answered(self, request: Json) -> Answer:
        if not self.left:
            return failure(400, "unscripted", "no turn is left")
        turn = self.left.pop(0)
        if isinstance(turn, Answer):
            return turn
        # Held to a schema, a model has no way to call.
        if isinstance(turn, Call) and ("response_format" in request or "tools" not in request):
            return failure(400, "unscripted", "a call that cannot be made")
        convention = self.convention
        called = isinstance(turn, Call)
        message, reason = convention.call(turn, len(self.asked)) if called else convention.says(turn)
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
        body: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
        return Answer(json.dumps(body if convention.usage is None else {**body, "usage": convention.usage}))


@contextmanager
def imitating(convention: Convention, *turns: Turn) -> Iterator[ImitatedServer]:
    """Serve as `convention` has it; afterwards every turn was taken."""
    server = ImitatedServer(convention, turns)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
    assert server.left == []


def _vllm_error(status: int, kind: str, text: str) -> Answer:
    body = {"object": "error", "message": text, "type": kind, "param": None, "code": status}
    return Answer(json.dumps(body), status)


def _api_error(status: int, text: str, kind: str = "api_error", code: Any = None) -> Answer:
    body = {"error": {"message": text, "type": kind, "param": None, "code": code}}
    # Some are tried again.
    return Answer(json.dumps(body), status, {"retry-after-ms": "1"})


def _strict_template(request: Json) -> str | None:
    """Return what is wrong with the messages for a template that looks at them closely."""
    messages = request["messages"]
    for before, after in itertools.pairwise(messages):
        if before["role"] == after["role"] != "tool":
            return "Conversation roles must alternate user/assistant/user/assistant/..."
    for message in messages:
        if not isinstance(message["content"], str):
            return "content must be a string"
        for call in message.get("tool_calls", ()):
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                return "Can only get item pairs from a mapping."
    return None


def _vllm(request: Json) -> Answer | None:
    wrong = _strict_template(request)
    if wrong is None and "max_tokens" in request:
        wrong = "max_tokens is too large: 32000. This model's maximum context length is 32768 tokens"
    return None if wrong is None else _vllm_error(400, "BadRequestError", wrong)


def _vllm_without_parser(request: Json) -> Answer | None:
    if "tools" in request:
        said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        return _vllm_error(400, "BadRequestError", said)
    if any(message["role"] == "system" for message in request["messages"]):
        return _vllm_error(400, "BadRequestError", "System role not supported")
    return _vllm(request)


def _llama(request: Json) -> Answer | None:
    if "tools" in request and "response_format" in request:
        said = 'Either "json_schema" or "grammar" can be specified, but not both'
        return _api_error(400, said, "invalid_request_error", 400)
    wrong = _strict_template(request)
    return None if wrong is None else _api_error(500, wrong, "server_error", 500)


def _llama_without_jinja(request: Json) -> Answer | None:
    if "tools" in request:
        return _api_error(500, "tools param requires --jinja flag", "server_error", 500)
    if "response_format" in request:
        said = 'response_format type must be one of "text" or "json_object", but got: json_schema'
        return _api_error(500, said, "server_error", 500)
    return None


def _ollama_without_tools(request: Json) -> Answer | None:
    if "tools" in request:
        return _api_error(400, f"registry.ollama.ai/library/{MODEL}:latest does not support tools")
    return None


def _tool_call(call: Call, call_id: str | None, *, as_text: bool = True) -> Json:
    arguments = json.dumps(call.arguments) if as_text else call.arguments
    named = {"type": "function", "function": {"name": call.name, "arguments": arguments}}
    return named if call_id is None else {"id": call_id, **named}


def _vllm_call(call: Call, number: int) -> tuple[Json, str]:
    calls = [_tool_call(call, f"chatcmpl-tool-{number}")]
    return {"content": None, "reasoning_content": "First look.", "tool_calls": calls}, "tool_calls"


def _vllm_says(turn: Says) -> tuple[Json, str]:
    # With a schema its parser of thoughts may take the answer for one.
    return {"content": None, "reasoning_content": json.dumps(turn.form), "tool_calls": []}, "stop"


def _thinks_aloud(turn: Says) -> tuple[Json, str]:
    thought = 'Maybe {"source": "nothing"}?\n</think>\n\n'
    return {"content": f"{thought}{json.dumps(turn.form)}"}, "stop"


def _llama_call(call: Call, number: int) -> tuple[Json, str]:
    return {"content": "", "tool_calls": [_tool_call(call, "")]}, "tool_calls"


def _fenced(turn: Says) -> tuple[Json, str]:
    # It took the schema, and did not hold the model to it.
    return {"content": f"Here it is:\n\n```json\n{json.dumps(turn.form, indent=2)}\n```\nDone."}, "stop"


def _in_blocks(turn: Says) -> tuple[Json, str]:
    rest = {name: value for name, value in turn.form.items() if name != "source"}
    blocks = f"```json\n{json.dumps(rest)}\n```\n\n```cuda\n{turn.form['source']}```"
    return {"content": f"I see.\n\n{blocks}\n\nThat is all."}, "stop"


def _ollama_call(call: Call, number: int) -> tuple[Json, str]:
    calls = [_tool_call(call, None, as_text=False)]
    return {"content": "", "reasoning": "First look.", "tool_calls": calls}, "stop"


def _ollama_says(turn: Says) -> tuple[Json, str]:
    return {"content": json.dumps(turn.form), "reasoning": "Now propose."}, "stop"


_VLLM_HAS_NO = Answer('{"detail":"Not Found"}', 404)
_VLLM_NO_MODEL = _vllm_error(404, "NotFoundError", "The model `other` does not exist.")
_LLAMA_HAS_NO = _api_error(404, "File Not Found", "not_found_error", 404)
_LLAMA_NO_MODEL = _api_error(400, "model not found", "invalid_request_error", 400)
_OLLAMA_HAS_NO = Answer("404 page not found", 404, {"content-type": "text/plain"})
_OLLAMA_NO_MODEL = _api_error(404, 'model "other" not found, try pulling it first')
_PAGE = Answer("<!DOCTYPE html>\n<html><body>Chat</body></html>", 200, {"content-type": "text/html"})

VLLM = Convention(
    _vllm, _vllm_call, _vllm_says, "chat completions with tools, JSON schema", 1, _VLLM_HAS_NO, _VLLM_NO_MODEL
)
VLLM_WITHOUT_PARSER = Convention(
    _vllm_without_parser,
    _vllm_call,
    _thinks_aloud,
    "chat completions with JSON schema",
    3,
    Answer('{"detail":"Method Not Allowed"}', 405),
    _VLLM_NO_MODEL,
    has_tools=False,
)
LLAMA = Convention(
    _llama,
    _llama_call,
    _fenced,
    "chat completions with tools, JSON schema",
    1,
    _LLAMA_HAS_NO,
    _LLAMA_NO_MODEL,
)
# Twice refused with 500, and each time tried again twice.
LLAMA_WITHOUT_JINJA = Convention(
    _llama_without_jinja,
    _llama_call,
    _in_blocks,
    "chat completions, plain text",
    7,
    _PAGE,
    _LLAMA_NO_MODEL,
    has_tools=False,
)
OLLAMA = Convention(
    lambda request: None,
    _ollama_call,
    _ollama_says,
    "chat completions with tools, JSON schema",
    1,
    _OLLAMA_HAS_NO,
    _OLLAMA_NO_MODEL,
    usage=None,
)
OLLAMA_WITHOUT_TOOLS = Convention(
    _ollama_without_tools,
    _ollama_call,
    _thinks_aloud,
    "chat completions with JSON schema",
    2,
    _OLLAMA_HAS_NO,
    _OLLAMA_NO_MODEL,
    has_tools=False,
)
CONVENTIONS = {
    "vllm": VLLM,
    "vllm-without-parser": VLLM_WITHOUT_PARSER,
    "llama.cpp": LLAMA,
    "llama.cpp-without-jinja": LLAMA_WITHOUT_JINJA,
    "ollama": OLLAMA,
    "ollama-without-tools": OLLAMA_WITHOUT_TOOLS,
}
