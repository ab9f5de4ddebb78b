"""A model that is a folder: requests are written there, and somebody writes the answers.

A person or another program can play the model: `NNN-request.md` is the prompt, `NNN-schema.json` the form,
and the answer is expected in `NNN-answer.json`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_cudaopt.durable import write_atomically
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
)

_LOOK_EVERY_S = 0.2
_LONGEST_ECHO = 200


class FolderModel:
    """Waits up to `timeout_s` for each answer. Safe to use from several threads.

    If a run `goes_on`, what its killed part asked is not asked again: somebody may have answered since.
    """

    def __init__(
        self,
        folder: Path,
        timeout_s: float,
        *,
        goes_on: bool = False,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._wait = wait
        self._lock = threading.Lock()
        self._goes_on = goes_on
        self._asked: set[int] = set()

    @property
    def name(self) -> str:
        return f"files:{self._folder}"

    def fetch(self, request: Request) -> str:
        """Write the request; return the answer's text once its file is there, or raise ModelFailure."""
        try:
            number = self._write(request)
            return self._answer(self._folder / f"{number:03d}-answer.json")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelFailure(FailureKind.UNREACHABLE, f"{self.name}: {error}", is_final=True) from error

    def read(self, raw: str) -> Reply:
        """Read `{"tool": NAME, "arguments": {...}}` as a call, anything else as the filled-in form."""
        try:
            value = json.loads(raw)
        except ValueError:
            return Reply(raw)
        if isinstance(value, dict) and set(value) == {"tool", "arguments"}:
            call = ToolCall("call", str(value["tool"]), json.dumps(value["arguments"]))
            said = Said({"tool": call.name, "arguments": value["arguments"]})
            return Reply("", (call,), (said,))
        return Reply(raw)

    def _write(self, request: Request) -> int:
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            numbers = sorted((_number(path) for path in self._folder.glob("*-request.md")), reverse=True)
            asked_before = next((one for one in numbers if self._was_asked(request, one)), None)
            number = asked_before or 1 + max(numbers, default=0)
            self._asked.add(number)
            if asked_before is not None:
                return number
            schema = json.dumps(request.form.schema, indent=2)
            write_atomically(self._folder / f"{number:03d}-schema.json", schema)
            # Last: whoever sees it finds the rest.
            write_atomically(self._folder / f"{number:03d}-request.md", as_markdown(request, number))
        return number

    def _was_asked(self, request: Request, number: int) -> bool:
        path = self._folder / f"{number:03d}-request.md"
        if not self._goes_on or number in self._asked or not path.is_file():
            return False
        return path.read_text(encoding="utf-8") == as_markdown(request, number)

    def _answer(self, path: Path) -> str:
        for _ in range(max(1, int(self._timeout_s / _LOOK_EVERY_S))):
            if path.exists() and (text := path.read_text(encoding="utf-8")).strip():
                return text
            self._wait(_LOOK_EVERY_S)
        raise ModelFailure(FailureKind.TIMED_OUT, f"no {path} within {self._timeout_s:g} s")


def as_markdown(request: Request, number: int) -> str:
    """Return a request as a text that tells somebody what to do."""
    parts = [request.instructions, *(_item(item) for item in request.items)]
    if request.tools:
        parts.append(_tools(request.tools))
    answer = f"{number:03d}-answer.json"
    call = ' or, to use a tool first, `{"tool": NAME, "arguments": {...}}`' if request.tools else ""
    parts.append(
        f"## Your answer\n\nWrite JSON that fits `{number:03d}-schema.json`{call} to `{answer}` in this "
        "folder. "
        "Write it under another name first and rename it, so that it is never seen half written."
    )
    return "\n\n".join(parts) + "\n"


def _item(item: Item) -> str:
    match item:
        case Text(text):
            return text
        case ToolResult(_, output):
            return f"## The tool answered\n\n```\n{output}\n```"
        case Said(said):
            return f"## You asked for\n\n```json\n{json.dumps(_echo(said))}\n```"


def _echo(said: object) -> object:
    """Return a call without what is empty, and of long texts, a source for one, only how long they are."""
    match said:
        case dict():
            return {name: _echo(value) for name, value in said.items() if value not in (None, "", [])}
        case str() if len(said) > _LONGEST_ECHO:
            return f"({len(said)} characters, as you wrote them)"
        case _:
            return said


def _tools(tools: Sequence[Tool]) -> str:
    """Describe tools, and every argument once however many of them take it."""
    lines = []
    arguments: dict[str, Json] = {}
    for tool in tools:
        own: Json = tool.parameters.get("properties", {})
        arguments |= own
        takes = ", ".join(f"`{name}`" for name in own) or "none"
        lines.append(f"- `{tool.name}`: {tool.description} Arguments: {takes}.")
    if arguments:
        lines.append("\nArguments:\n")
        lines += [
            f"- `{name}` ({_type(one)}): {one.get('description', '')}" for name, one in arguments.items()
        ]
        lines.append("\nWhat is null or empty may be left out.")
    return "## Tools\n\n" + "\n".join(lines)


def _type(argument: Json) -> str:
    if "anyOf" in argument:
        return " or ".join(_type(one) for one in argument["anyOf"])
    return f"array of {_type(argument['items'])}s" if "items" in argument else argument.get("type", "object")


def _number(path: Path) -> int:
    start = path.name.partition("-")[0]
    return int(start) if start.isdecimal() else 0
