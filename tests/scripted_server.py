"""A server on the loopback that speaks `/v1/responses` and follows a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What goes back: a status, headers, a body.

    `dribble` sends single bytes of the body without an end, `dribbled_headers` one header after the other.
    """

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False
    dribble: bool = False
    dribbled_headers: bool = False


# An answer, or what makes one of the request.
Step = Answer | Callable[[Json], Answer]


def response(*output: Json, status: str = "completed", **more: Any) -> Answer:
    """Return a response of 100 tokens in, of which 40 were cached, and 20 out, of which 5 were thinking."""
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 120,
    }
    body = {"id": "resp_1", "object": "response", "status": status, "output": list(output), "usage": usage}
    return Answer(json.dumps({**body, **more}))


def message(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def refusal(text: str) -> Json:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": text}],
    }


def reasoning() -> Json:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}


def call(name: str, arguments: Json, call_id: str = "call_1") -> Json:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments),
    }


def failure(status: int, code: str, text: str, **headers: str) -> Answer:
    """Return an error as the API words it; `retry_after_ms="1"` becomes a header."""
    body = {"error": {"message": text, "type": "error", "code": code, "param": None}}
    return Answer(
        json.dumps(body), status, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def proposal(source: str, launch: str = "grid=(cdiv(n, 256)) block=(256)", **more: Any) -> Json:
    """Return a filled-in form."""
    filled = {
        "hypothesis": "The kernel waits for memory.",
        "expected_effect": "All cases get faster.",
        "source": source,
        "launch": launch,
        "overrides": [],
        "tunables": [],
        "tune_where": [],
    }
    return {**filled, **more}


class ScriptedServer:
    """Answers requests with `script` in turn, and remembers them; one too many is answered with an error."""

    def __init__(self, *script: Step) -> None:
        self._script = script
        self._lock = threading.Lock()
        self.requests: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.unscripted: list[Json] = []
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def take(self, path: str, headers: Mapping[str, str], request: Json) -> Answer:
        """Return the next answer of the script."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.headers.append(headers)
        if path != "/v1/responses" or number >= len(self._script):
            self.unscripted.append(request)
            return failure(400, "unscripted", f"request {number + 1} to {path} is in no script")
        step = self._script[number]
        return step if isinstance(step, Answer) else step(request)

    def serve(self) -> None:
        self._http.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def serving(*script: Step) -> Iterator[ScriptedServer]:
    """Serve the script; afterwards every step was asked for, and nothing else."""
    server = ScriptedServer(*script)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
    assert server.unscripted == []
    assert len(server.requests) == len(script)


def said(request: Json) -> str:
    """Return everything a request says, as one text."""
    return "\n".join(str(item.get("content") or item.get("output") or "") for item in request["input"])


class Taker(Protocol):
    """Who answers requests, and says when no more are served."""

    closing: threading.Event

    def take(self, path: str, headers: Mapping[str, str], request: Json) -> Answer: ...


def handler_of(server: Taker) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            length = int(headers["content-length"])
            answer = server.take(self.path, headers, json.loads(self.rfile.read(length)))
            if answer.dropped:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            data = answer.body.encode()
            if answer.dribbled_headers:
                self.flush_headers()
                self._dribble(b"x-more: 1\r\n")
                return
            if answer.dribble:
                self.end_headers()
                self._dribble(data[:1])
                return
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _dribble(self, data: bytes) -> None:
            self.close_connection = True
            try:
                while not server.closing.wait(0.02):
                    self.wfile.write(data)
                    self.wfile.flush()
            except OSError:
                # The client has had enough.
                return

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    return Handler
