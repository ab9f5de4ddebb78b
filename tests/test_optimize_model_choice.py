"""Who proposes, by name and by what the environment and `.env` hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize.dialects import Api
from pytest_cudaopt.optimize.folder_model import FolderModel
from pytest_cudaopt.optimize.model_choice import DEFAULT_MODEL, choose
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.responses_model import ResponsesModel
from pytest_cudaopt.optimize.server_model import ServerModel

KEY = {"OPENAI_API_KEY": "sk-marker"}
HERE = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("named", "environ", "kind", "name"),
    [
        ("offline", KEY, type(None), None),
        ("auto", {}, type(None), None),
        ("auto", {"OPENAI_API_KEY": ""}, type(None), None),
        ("auto", KEY, ResponsesModel, DEFAULT_MODEL),
        ("any-name", KEY, ResponsesModel, "any-name"),
        ("ft:any:name", KEY | HERE, ServerModel, "ft:any:name at http://127.0.0.1:1/v1"),
        # A server of one's own may need no key.
        ("any-name", HERE, ServerModel, "any-name at http://127.0.0.1:1/v1"),
        ("auto", HERE, type(None), None),
        ("files:talk", {}, FolderModel, None),
        ("replay:r.jsonl", {}, ReplayModel, None),
    ],
)
def test_a_name_says_who_proposes(
    tmp_path: Path, named: str, environ: dict[str, str], kind: type, name: str | None
) -> None:
    (tmp_path / "r.jsonl").write_text("{}\n")
    model = choose(named, environ, tmp_path, effort="low").model
    assert type(model) is kind
    if model is not None:
        assert model.name == (name or f"{named.replace(':', f':{tmp_path}/')}")


@pytest.mark.parametrize(
    ("api", "environ", "kind"),
    [
        (Api.AUTO, KEY, ResponsesModel),
        (Api.AUTO, KEY | HERE, ServerModel),
        (Api.RESPONSES, KEY | HERE, ResponsesModel),
        (Api.CHAT, KEY, ServerModel),
        (Api.PLAIN, KEY | HERE, ServerModel),
    ],
)
def test_only_other_servers_are_asked_what_they_speak(
    tmp_path: Path, api: Api, environ: dict[str, str], kind: type
) -> None:
    assert type(choose("any-name", environ, tmp_path, effort="low", api=api).model) is kind


def test_falling_back_to_the_tuner_is_said(tmp_path: Path) -> None:
    assert "no OPENAI_API_KEY" in choose("auto", {}, tmp_path, effort="low").note
    assert choose("offline", {}, tmp_path, effort="low").note == ""


def test_a_named_model_without_a_key_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"OPENAI_API_KEY(.|\n)*--optimize-model offline"):
        choose("any-name", {}, tmp_path, effort="low")


def test_a_key_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-file\n")
    assert isinstance(choose("auto", {}, tmp_path, effort="low").model, ResponsesModel)
