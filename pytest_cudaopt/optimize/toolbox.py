"""What a model may look at before it proposes: a list of tools, and how a call of one is answered.

Every answer is a text of bounded length; a call that makes no sense is answered by what would.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from pytest_cudaopt.optimize.conversation import ModelFailure, Tool

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.conversation import ToolCall

_MOST_CHARACTERS = 8000
_MOST_REMEMBERED = 240
MOST_USES = 8


@dataclass(frozen=True)
class Instrument:
    """One tool: `arguments` describes what `answer` takes.

    Of an answer that `is_remembered` the first line says enough to be told at later attempts.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    answer: Callable[[Any], str]
    is_remembered: bool = False

    @property
    def tool(self) -> Tool:
        return Tool(self.name, self.description, _strict(self.arguments))


class Toolbox:
    """The tools of one attempt; after `most_uses` calls all further ones are declined."""

    def __init__(self, instruments: tuple[Instrument, ...], *, most_uses: int = MOST_USES) -> None:
        self._instruments = {one.name: one for one in instruments}
        self._left = most_uses
        self._looked: list[str] = []

    @property
    def looked(self) -> tuple[str, ...]:
        """A line for each answer that is worth remembering."""
        return tuple(self._looked)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What can still be called."""
        return tuple(one.tool for one in self._instruments.values()) if self._left > 0 else ()

    def use(self, call: ToolCall) -> str:
        """Answer a call."""
        if self._left <= 0:
            return "No tools are left for this attempt. Propose a kernel."
        self._left -= 1
        instrument = self._instruments.get(call.name)
        if instrument is None:
            return f"There is no tool '{call.name}'. Tools: {', '.join(self._instruments)}."
        try:
            arguments = instrument.arguments.model_validate_json(call.arguments or "{}")
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return f"{call.name}: {'.'.join(map(str, first['loc'])) or 'arguments'}: {first['msg']}"
        try:
            answer = instrument.answer(arguments)
        except ModelFailure as failure:
            # A source that cannot be read as a candidate.
            answer = str(failure)
        if instrument.is_remembered:
            self._looked.append(f"{call.name}: {answer.partition(chr(10))[0][:_MOST_REMEMBERED]}")
        return answer if len(answer) <= _MOST_CHARACTERS else f"{answer[:_MOST_CHARACTERS]}\n(cut)"


def as_text(value: object) -> str:
    """Return plain values as JSON a model reads easily."""
    return json.dumps(value, indent=1, default=str)


@cache
def _strict(arguments: type[BaseModel]) -> dict[str, Any]:
    """Return the schema as strict servers want it: no additional members, all required, no defaults."""
    schema = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in described.items() if key != "default"}
        for name, described in schema.get("properties", {}).items()
    }
    return {
        **schema,
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
