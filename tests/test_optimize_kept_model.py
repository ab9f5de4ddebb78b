"""What is said stands in the run folder, and what was answered is not asked for again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_up_models import ListModel

from pytest_cudaopt.optimize.conversation import (
    FailureKind,
    Form,
    ModelFailure,
    Reply,
    Request,
    Said,
    Text,
    ToolResult,
)
from pytest_cudaopt.optimize.kept_model import KeptModel, answers_of
from pytest_cudaopt.optimize.record import RunFolder

FORM = Form("answer", {"type": "object"})
FIRST = Request("Be brief.", (Text("brief"), Text("situation")), FORM)
SECOND = Request("Be brief.", (*FIRST.items, Said({"call": 1}), ToolResult("call", "42")), FORM)


def kept(tmp_path: Path, model: ListModel, attempt: int = 3) -> KeptModel:
    return KeptModel(model, RunFolder(tmp_path), attempt)


def test_everything_that_was_said_can_be_read_afterwards(tmp_path: Path) -> None:
    model = kept(tmp_path, ListModel(Reply("one"), Reply("two")))
    assert [model.ask(one).text for one in (FIRST, SECOND)] == ["one", "two"]
    assert (tmp_path / "model/instructions.md").read_text() == "Be brief."
    assert (tmp_path / "model/brief.md").read_text() == "brief"
    folder = tmp_path / "model/attempt-03"
    asked = [json.loads((folder / f"{number:02d}-request.json").read_text()) for number in (1, 2)]
    assert asked[0]["items"] == [{"text": "situation"}]
    assert asked[1]["items"] == [{"item": {"call": 1}}, {"call_id": "call", "output": "42"}]
    assert (folder / "02-answer.txt").read_text() == "1"


def test_a_request_says_how_its_answer_was_got(tmp_path: Path) -> None:
    class Finding(ListModel):
        def fetch(self, request: Request) -> str:
            self.name = "a list (found)"
            return super().fetch(request)

    kept(tmp_path, Finding(Reply("one"))).ask(FIRST)
    asked = json.loads((tmp_path / "model/attempt-03/01-request.json").read_text())
    assert asked["model"] == "a list (found)"
    assert asked["items"] == [{"text": "situation"}]


def test_an_answer_that_was_paid_for_is_not_asked_for_again(tmp_path: Path) -> None:
    kept(tmp_path, ListModel(Reply("one"))).ask(FIRST)
    again = ListModel(Reply("one"))
    assert kept(tmp_path, again).ask(FIRST).text == "one"
    assert again.requests == []


def test_an_answer_counts_though_the_question_reads_otherwise_when_a_run_goes_on(tmp_path: Path) -> None:
    kept(tmp_path, ListModel(Reply("one"))).ask(FIRST)
    other = Request("Be brief.", (Text("brief"), Text("measured again: 1.01 us")), FORM)
    again = ListModel(Reply("one"))
    assert kept(tmp_path, again).ask(other).text == "one"
    assert again.requests == []
    assert kept(tmp_path, ListModel(Reply("other")), attempt=4).ask(other).text == "other"


def test_answers_are_counted_by_who_gave_them(tmp_path: Path) -> None:
    model = kept(tmp_path, ListModel(Reply("one"), ModelFailure(FailureKind.TIMED_OUT, "late")))
    assert not model.has_answer()
    model.ask(FIRST)
    with pytest.raises(ModelFailure):
        model.ask(SECOND)
    assert kept(tmp_path, ListModel()).has_answer()
    assert answers_of("a list", RunFolder(tmp_path)) == 1
    assert answers_of("another", RunFolder(tmp_path)) == 0


def test_an_answer_is_on_disk_before_anything_reads_it(tmp_path: Path) -> None:
    class Unreadable(ListModel):
        def read(self, raw: str) -> Reply:
            raise ModelFailure(FailureKind.MALFORMED, "unreadable")

    with pytest.raises(ModelFailure, match="unreadable"):
        kept(tmp_path, Unreadable(Reply("one"))).ask(FIRST)
    assert (tmp_path / "model/attempt-03/01-answer.txt").read_text() == "0"


def test_a_question_without_an_answer_is_asked_again(tmp_path: Path) -> None:
    with pytest.raises(ModelFailure):
        kept(tmp_path, ListModel(ModelFailure(FailureKind.TIMED_OUT, "late"))).ask(FIRST)
    assert kept(tmp_path, ListModel(Reply("one"))).ask(FIRST).text == "one"
