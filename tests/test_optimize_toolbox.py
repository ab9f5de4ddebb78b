"""How a call of a tool is answered, whatever the model wrote."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure, ToolCall
from pytest_cudaopt.optimize.toolbox import Instrument, Toolbox, as_text


class Numbers(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int
    b: int = 1


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


def unreadable(_: Nothing) -> str:
    raise ModelFailure(FailureKind.MALFORMED, "the proposal cannot be read")


INSTRUMENTS = (
    Instrument("add", "Add two numbers.", Numbers, lambda numbers: str(numbers.a + numbers.b)),
    Instrument("talk", "Say much.", Nothing, lambda _: "x" * 100_000),
    Instrument("read", "Read a source.", Nothing, unreadable),
)


def use(name: str, arguments: str) -> str:
    return Toolbox(INSTRUMENTS).use(ToolCall("call", name, arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("add", '{"a": 1, "b": 2}', "3"),
        ("add", '{"b": 2}', "add: a: Field required"),
        ("add", '{"a": "x", "b": 2}', "add: a: Input should be a valid integer"),
        ("add", '{"a": 1, "b": 2, "c": 3}', "add: c: Extra inputs are not permitted"),
        ("add", '{"a"', "add: arguments: Invalid JSON"),
        ("add", "[]", "add: arguments: Input should be an object"),
        ("sub", "{}", "There is no tool 'sub'. Tools: add, talk, read."),
        ("read", "", "the proposal cannot be read"),
    ],
)
def test_a_call_is_answered_or_told_what_is_wrong(name: str, arguments: str, answer: str) -> None:
    assert use(name, arguments).startswith(answer)


def test_an_answer_has_a_bounded_length() -> None:
    answer = use("talk", "{}")
    assert len(answer) < 8100
    assert answer.endswith("(cut)")


def test_calls_are_counted() -> None:
    toolbox = Toolbox(INSTRUMENTS, most_uses=2)
    call = ToolCall("call", "add", '{"a": 1}')
    assert [toolbox.use(call) for _ in range(3)][:2] == ["2", "2"]
    assert "Propose a kernel" in toolbox.use(call)
    assert toolbox.tools == ()


def test_tools_are_described_as_strict_servers_want_it() -> None:
    add = Toolbox(INSTRUMENTS).tools[0]
    assert (add.name, add.description) == ("add", "Add two numbers.")
    assert add.parameters["required"] == ["a", "b"]
    assert add.parameters["additionalProperties"] is False


def test_plain_values_are_written_as_json() -> None:
    assert as_text({"a": 1}) == '{\n "a": 1\n}'


def test_a_default_is_no_part_of_a_tools_description() -> None:
    assert Numbers(a=1).b == 1
    assert "default" not in Toolbox(INSTRUMENTS).tools[0].parameters["properties"]["b"]


def test_the_first_line_of_what_is_worth_it_is_remembered() -> None:
    remembered = Instrument("talk", "Say much.", Nothing, lambda _: "x" * 999 + "\ny", is_remembered=True)
    toolbox = Toolbox((remembered, INSTRUMENTS[0]))
    for name in ("talk", "add", "none"):
        toolbox.use(ToolCall("call", name, '{"a": 1}' if name == "add" else "{}"))
    assert toolbox.looked == (f"talk: {'x' * 240}",)
