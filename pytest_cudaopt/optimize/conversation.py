"""What goes to a language model and what comes back: requests, replies, failures. Knows no server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Text:
    """Something said to the model."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """The model asks for a tool; `arguments` is the JSON text it wrote, whatever that holds."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered, for the model to read."""

    call_id: str
    output: str


@dataclass(frozen=True)
class Said:
    """What the model said before, to be sent back unchanged: an item of the Responses API, of servers."""

    item: Json


Item = Text | ToolResult | Said


@dataclass(frozen=True)
class Tool:
    """A function the model may call; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True)
class Form:
    """What the answer has to look like: a JSON schema and its name."""

    name: str
    schema: Json


@dataclass(frozen=True)
class Request:
    """One question. `instructions` and the first items are the same all through a run, so that caches work.

    Without `tools` the model has to answer in the form.
    """

    instructions: str
    items: tuple[Item, ...]
    form: Form
    tools: tuple[Tool, ...] = ()

    @property
    def size(self) -> int:
        """The characters that are sent."""
        return len(self.instructions) + sum(_size(item) for item in self.items)


def _size(item: Item) -> int:
    match item:
        case Text(text):
            return len(text)
        case ToolResult(_, output):
            return len(output)
        case Said(said):
            return len(str(said))


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, or of several; `cached` are among `input`, `reasoning` among `output`."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class Reply:
    """One answer: calls of tools, or a text in the form asked for. `said` goes back with the next request."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    said: tuple[Said, ...] = ()
    usage: Usage = field(default_factory=Usage)


class FailureKind(StrEnum):
    """Why there is no reply."""

    REFUSED = "refused"
    INCOMPLETE = "incomplete"
    MALFORMED = "malformed"
    RATE_LIMITED = "rate_limited"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server_error"
    REJECTED = "rejected"


class ModelFailure(Exception):
    """A model that gave no usable reply; the message is one sentence.

    `is_final`: asking again cannot help, because the request itself, the key or the model's name is at fault.
    """

    def __init__(
        self, kind: FailureKind, message: str, *, is_final: bool = False, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_final = is_final
        self.usage = usage or Usage()


class Model(Protocol):
    """Somebody who answers requests: a server, a person at a folder, a recording.

    Fetching and reading are apart so that an answer can be stored before anything looks at it.
    """

    @property
    def name(self) -> str:
        """Say who answers, without any secret."""
        ...

    def fetch(self, request: Request) -> str:
        """Return the answer as it came, or raise ModelFailure."""
        ...

    def read(self, raw: str) -> Reply:
        """Return what the answer says, or raise ModelFailure."""
        ...
