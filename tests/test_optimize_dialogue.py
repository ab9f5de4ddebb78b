"""One conversation: tools, then a proposal, or a failure that says why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from made_up_models import ListModel, proposes, wants
from made_up_runs import SOURCE, declare_twice
from pydantic import BaseModel
from scripted_server import proposal

from pytest_cudaopt.optimize.attempt import Proposal
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure, Reply, Text, ToolResult, Usage
from pytest_cudaopt.optimize.dialogue import MOST_TOOL_ROUNDS, Conversation
from pytest_cudaopt.optimize.kept_model import KeptModel
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.toolbox import Instrument, Toolbox

BODY = "".join(SOURCE.splitlines(keepends=True)[2:])
TUNED = {
    "launch": "grid=(cdiv(n, BLOCK)) block=(BLOCK)",
    "tunables": [{"name": "BLOCK", "values": [128, 256]}],
}
FORM = proposal(BODY, **TUNED)


class Nothing(BaseModel):
    pass


def conversation(folder: Path, model: ListModel) -> Conversation:
    kernel = declare_twice(folder)
    floor = Instrument("floor", "How fast.", Nothing, lambda _: "13 us")
    counters = Instrument(
        "counters", "What it does.", Nothing, lambda _: "n100: 9 us\nfp32 7", is_remembered=True
    )
    toolbox = Toolbox((floor, counters), most_uses=99)
    kept = KeptModel(model, RunFolder(folder / "run"), 1)
    return Conversation.about(kernel, kept, toolbox, "brief", "situation")


def to_the_end(talk: Conversation) -> Proposal:
    while talk.proposal is None:
        talk.ask()
        if talk.proposal is None:
            talk.use_tools()
    return talk.proposal


def test_a_proposal_has_a_candidate_its_reason_and_what_it_cost(tmp_path: Path) -> None:
    talk = conversation(tmp_path, ListModel(wants("floor", {}, tokens=5), proposes(FORM, tokens=7)))
    proposed = to_the_end(talk)
    assert proposed.candidate is not None
    assert proposed.candidate.chosen == {"BLOCK": 128}
    assert proposed.why == "The kernel waits for memory. Expected: All cases get faster."
    assert proposed.tunes
    assert json.loads(proposed.answer) == FORM
    assert proposed.usage == Usage(input=12)


def test_what_a_tool_answers_is_in_the_next_request(tmp_path: Path) -> None:
    model = ListModel(wants("floor", {}), proposes(FORM))
    to_the_end(conversation(tmp_path, model))
    first, second = model.requests
    assert first.items == (Text("brief"), Text("situation"))
    assert second.items[: len(first.items)] == first.items
    assert second.items[-1] == ToolResult("call", "13 us")
    assert [tool.name for tool in second.tools] == ["floor", "counters"]


@pytest.mark.parametrize("reply", [proposes(FORM), Reply("Sure!")])
def test_what_is_worth_remembering_of_a_tool_stays_with_the_proposal(tmp_path: Path, reply: Reply) -> None:
    model = ListModel(wants("counters", {}), wants("floor", {}), reply)
    assert to_the_end(conversation(tmp_path, model)).looked == ("counters: n100: 9 us",)


def test_after_enough_tools_there_are_none(tmp_path: Path) -> None:
    model = ListModel(*[wants("floor", {})] * MOST_TOOL_ROUNDS, proposes(FORM))
    assert to_the_end(conversation(tmp_path, model)).candidate is not None
    assert [bool(request.tools) for request in model.requests] == [True] * MOST_TOOL_ROUNDS + [False]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (ModelFailure(FailureKind.REFUSED, "no", usage=Usage(input=3)), "refused: no"),
        (Reply("Sure!", usage=Usage(input=3)), "malformed: .*Invalid JSON"),
        (proposes({**FORM, "launch": "grid=("}, tokens=3), "malformed: the proposal cannot be read"),
    ],
)
def test_an_answer_that_is_of_no_use_costs_and_says_why(
    tmp_path: Path, reply: Reply | ModelFailure, words: str
) -> None:
    proposed = to_the_end(conversation(tmp_path, ListModel(wants("floor", {}, tokens=4), reply)))
    assert proposed.candidate is None
    assert re.match(words, proposed.failure)
    assert proposed.usage == Usage(input=7)


def test_a_failure_that_is_final_ends_more_than_the_attempt(tmp_path: Path) -> None:
    talk = conversation(tmp_path, ListModel(ModelFailure(FailureKind.REJECTED, "no key", is_final=True)))
    with pytest.raises(ModelFailure, match="no key"):
        talk.ask()
