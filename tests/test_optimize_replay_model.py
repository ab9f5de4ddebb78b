"""Recorded proposals, given again in their order."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt.errors import EnvironmentFault, SettingsError
from pytest_cudaopt.optimize.conversation import Form, Request
from pytest_cudaopt.optimize.replay_model import ReplayModel, record

REQUEST = Request("", (), Form("answer", {}))


def test_what_was_recorded_is_given_again(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    for text in ('{\n "a": 1}', "no JSON", '{"b": 2}'):
        record(file, text)
    assert file.read_text() == '{"a": 1}\n"no JSON"\n{"b": 2}\n'
    model = ReplayModel.open(file)
    assert model.name == f"replay:{file}"
    given = []
    while model.remaining:
        given.append(model.read(model.fetch(REQUEST)).text)
    assert given == ['{"a": 1}', '"no JSON"', '{"b": 2}']


@pytest.mark.parametrize(("skipped", "left"), [(0, 3), (2, 1), (9, 0)])
def test_what_an_earlier_part_had_is_passed_over(tmp_path: Path, skipped: int, left: int) -> None:
    model = ReplayModel(tmp_path, ["1", "2", "3"])
    model.skip(skipped)
    assert model.remaining == left


def test_empty_lines_are_no_proposals(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('\n{"a": 1}\n\n')
    assert ReplayModel.open(tmp_path / "r.jsonl").remaining == 1


def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"replay:.*none\.jsonl"):
        ReplayModel.open(tmp_path / "none.jsonl")


def test_a_line_that_is_no_json_is_named_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"a": 1}\n{"a"\n')
    with pytest.raises(SettingsError, match=r"r\.jsonl, line 2"):
        ReplayModel.open(tmp_path / "r.jsonl")


def test_a_recording_that_cannot_be_written_says_which(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"recording .*kept\.jsonl.*--optimize-record"):
        record(tmp_path / "absent" / "kept.jsonl", "{}")
