"""From what a model fills in to a candidate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import declare_twice
from scripted_server import proposal

from pytest_cudaopt.optimize import proposal_form
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure

BODY = """extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
"""
TUNED: dict[str, Any] = {
    "launch": "grid=(cdiv(n, BLOCK)) block=(BLOCK)",
    "tunables": [{"name": "BLOCK", "values": [128, 256]}],
}


def objects(schema: Any) -> list[dict[str, Any]]:
    """Return every object the schema describes."""
    below = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    found = [one for part in below for one in objects(part)]
    return [schema, *found] if isinstance(schema, dict) and schema.get("type") == "object" else found


def test_the_form_is_one_that_strict_servers_accept() -> None:
    described = objects(proposal_form.form().schema)
    assert len(described) == 2
    for one in described:
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
        assert not any("default" in field for field in one["properties"].values())


def test_a_filled_in_form_becomes_a_candidate(tmp_path: Path) -> None:
    filled = proposal_form.fill(json.dumps(proposal(BODY, **TUNED, tune_where=["BLOCK <= 256"])))
    assert filled.hypothesis == "The kernel waits for memory."
    candidate = proposal_form.candidate_of(filled, declare_twice(tmp_path), Path("twice.cu"))
    assert candidate.chosen == {"BLOCK": 128}
    assert filled.source.endswith(BODY)


@pytest.mark.parametrize(
    ("more", "first_lines"),
    [
        ({}, ["// @launch grid=(1) block=(32)"]),
        ({"launch": "// @launch grid=(1) block=(32)"}, ["// @launch grid=(1) block=(32)"]),
        ({"launch": "@launch grid=(1)\n block=(32)"}, ["// @launch grid=(1) block=(32)"]),
        (
            {"overrides": ["[n >= 4] block=(64)"]},
            ["// @launch grid=(1) block=(32)", "// @launch[n >= 4] block=(64)"],
        ),
        (
            {"overrides": ["@launch[n >= 4] block=(64)"]},
            ["// @launch grid=(1) block=(32)", "// @launch[n >= 4] block=(64)"],
        ),
        (
            {"tunables": [{"name": "B", "values": [1, 2]}], "tune_where": ["@tune where B > 1"]},
            ["// @launch grid=(1) block=(32)", "// @tune B = 1, 2", "// @tune where B > 1"],
        ),
    ],
)
def test_directives_stand_above_the_source(more: dict[str, Any], first_lines: list[str]) -> None:
    filled = proposal_form.fill(json.dumps(proposal(BODY, **{"launch": "grid=(1) block=(32)", **more})))
    lines = filled.source.splitlines()
    assert lines[: len(first_lines)] == first_lines
    assert lines[len(first_lines)] == BODY.splitlines()[0]


def test_directives_in_the_source_give_way_to_those_of_the_form() -> None:
    source = f"// @launch grid=(9) block=(9)\n  // @tune X = 1\n{BODY}"
    filled = proposal_form.fill(json.dumps(proposal(source, "grid=(1) block=(32)")))
    assert filled.source == f"// @launch grid=(1) block=(32)\n{BODY}"


@pytest.mark.parametrize("fence", ["```cuda\n{}```", "```\n{}\n```", "\n```cpp\n{}```\n"])
def test_a_fence_around_the_source_or_the_answer_is_taken_off(fence: str) -> None:
    plain = proposal_form.fill(json.dumps(proposal(BODY)))
    assert proposal_form.fill(json.dumps(proposal(fence.format(BODY)))) == plain
    assert proposal_form.fill(fence.replace("cuda", "json").format(json.dumps(proposal(BODY)))) == plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the answer of the proposal: Invalid JSON"),
        ("Sure! Here is a faster kernel.", "Invalid JSON.*Here is a faster kernel"),
        (
            json.dumps({**proposal(BODY), "source": 3}),
            "source of the proposal: Input should be a valid string",
        ),
        (json.dumps({**proposal(BODY), "more": 3}), "more of the proposal: Extra inputs"),
        (
            json.dumps(proposal(BODY, tunables=[{"name": "B", "values": ["x"]}])),
            r"tunables\.0\.values\.0 of the proposal",
        ),
        (json.dumps({"hypothesis": "x" * 999}), r"x\.\.\.$"),
    ],
)
def test_a_form_that_does_not_fit_says_which_field(text: str, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as raised:
        proposal_form.fill(text)
    assert raised.value.kind is FailureKind.MALFORMED
    assert not raised.value.is_final


@pytest.mark.parametrize("launch", ["grid=(what) block=(32)", "grid=(", "blocks=3"])
def test_a_launch_rule_that_cannot_be_read_is_the_models_mistake(tmp_path: Path, launch: str) -> None:
    filled = proposal_form.fill(json.dumps(proposal(BODY, launch)))
    with pytest.raises(ModelFailure, match="the proposal cannot be read") as raised:
        proposal_form.candidate_of(filled, declare_twice(tmp_path), Path("twice.cu"))
    assert raised.value.kind is FailureKind.MALFORMED
