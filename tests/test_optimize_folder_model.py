"""A folder as the model: what is written there, and how its answers are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Form,
    ModelFailure,
    Request,
    Said,
    Text,
    Tool,
    ToolResult,
)
from pytest_cudaopt.optimize.folder_model import FolderModel, as_markdown

FORM = Form("answer", {"type": "object"})
REQUEST = Request("Be brief.", (Text("hello"),), FORM)


class Person:
    """Writes `answer` while the model waits for the second time; first a file that is still empty."""

    def __init__(self, file: Path, answer: str) -> None:
        self.file = file
        self.answer = answer
        self.waits = 0

    def __call__(self, seconds: float) -> None:
        self.file.write_text(self.answer if self.waits else "")
        self.waits += 1


def test_an_answer_is_waited_for(tmp_path: Path) -> None:
    person = Person(tmp_path / "001-answer.json", '{"a": 1}')
    model = FolderModel(tmp_path, 5.0, wait=person)
    assert model.fetch(REQUEST) == '{"a": 1}'
    assert person.waits == 2
    assert json.loads((tmp_path / "001-schema.json").read_text()) == FORM.schema
    assert (tmp_path / "001-request.md").read_text() == as_markdown(REQUEST, 1)


def test_requests_are_numbered_after_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "007-request.md").write_text("")
    (tmp_path / "notes-request.md").write_text("")
    (tmp_path / "008-answer.json").write_text("{}")
    assert FolderModel(tmp_path, 1.0).fetch(REQUEST) == "{}"


def test_nobody_who_answers_is_a_timeout(tmp_path: Path) -> None:
    waited: list[float] = []
    model = FolderModel(tmp_path, 1.0, wait=waited.append)
    with pytest.raises(ModelFailure, match=r"001-answer\.json within 1 s") as raised:
        model.fetch(REQUEST)
    assert raised.value.kind is FailureKind.TIMED_OUT
    assert sum(waited) == pytest.approx(1.0)


def test_a_folder_that_cannot_be_made_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFailure, match="files:") as raised:
        FolderModel(tmp_path / "file" / "below", 1.0).fetch(REQUEST)
    assert raised.value.is_final


@pytest.mark.parametrize(
    ("raw", "text", "calls"),
    [
        ('{"hypothesis": "x"}', '{"hypothesis": "x"}', []),
        ("no JSON", "no JSON", []),
        ("[1]", "[1]", []),
        ('{"tool": "floor", "arguments": {"a": 1}}', "", [("floor", '{"a": 1}')]),
        ('{"tool": "floor"}', '{"tool": "floor"}', []),
    ],
)
def test_an_answer_is_a_form_or_the_call_of_a_tool(
    tmp_path: Path, raw: str, text: str, calls: list[tuple[str, str]]
) -> None:
    reply = FolderModel(tmp_path, 1.0).read(raw)
    assert reply.text == text
    assert [(one.name, one.arguments) for one in reply.calls] == calls
    assert len(reply.said) == len(calls)


def test_a_request_tells_a_person_what_to_do() -> None:
    tool = Tool("floor", "How fast it can be.", {"properties": {"case_id": {"type": "string"}}})
    items = (Text("hello"), Said({"tool": "floor"}), ToolResult("call", "13 us"))
    written = as_markdown(Request("Be brief.", items, FORM, (tool,)), 4)
    for part in (
        "Be brief.",
        "hello",
        '"tool": "floor"',
        "13 us",
        "- `floor`: How fast it can be.",
        "case_id",
    ):
        assert part in written
    assert "`004-answer.json`" in written
    assert "`004-schema.json`" in written
    assert "to use a tool first" in written
    assert "to use a tool first" not in as_markdown(REQUEST, 4)


def test_a_call_is_echoed_without_its_source_and_what_is_empty() -> None:
    arguments = {
        "source": "int i;\n" * 99,
        "launch": "grid=(1) block=(32)",
        "attempt": None,
        "overrides": [],
        "tunables": [{"name": "B", "values": [1]}],
        "note": "",
    }
    said = Said({"tool": "counters", "arguments": arguments})
    echoed = json.loads(
        as_markdown(Request("", (said,), FORM), 1).partition("```json\n")[2].partition("\n```")[0]
    )
    assert echoed == {
        "tool": "counters",
        "arguments": {
            "source": "(693 characters, as you wrote them)",
            "launch": "grid=(1) block=(32)",
            "tunables": [{"name": "B", "values": [1]}],
        },
    }


def test_an_argument_of_several_tools_is_described_once() -> None:
    source = {"source": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "the file"}}
    cases = {"case_ids": {"type": "array", "items": {"type": "string"}, "description": "ids"}}
    tools = (
        Tool("compile_only", "Compile.", {"properties": source}),
        Tool("counters", "Count.", {"properties": {**source, **cases}}),
        Tool("floor", "How fast.", {"properties": {}}),
    )
    written = as_markdown(Request("", (), FORM, tools), 1)
    assert "- `counters`: Count. Arguments: `source`, `case_ids`.\n" in written
    assert "- `floor`: How fast. Arguments: none.\n" in written
    assert written.count("- `source` (string or null): the file\n") == 1
    assert "- `case_ids` (array of strings): ids\n" in written
