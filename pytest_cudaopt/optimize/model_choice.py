"""Who `--optimize-model` names: the offline tuner, a server's model, a folder, a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize import model_access
from pytest_cudaopt.optimize.dialects import Api
from pytest_cudaopt.optimize.folder_model import FolderModel
from pytest_cudaopt.optimize.model_server import Access
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.responses_model import ResponsesModel
from pytest_cudaopt.optimize.server_model import KnownDialects, ServerModel

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.conversation import Model

AUTOMATIC = "auto"
OFFLINE = "offline"
DEFAULT_MODEL = "gpt-5.4-mini"
# A person may want a coffee first.
_ANSWER_TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class Chosen:
    """Who proposes; `model` is None for the offline tuner. `note` says why, where nobody was named."""

    model: Model | None
    note: str = ""


def choose(
    named: str,
    environ: Mapping[str, str],
    root: Path,
    *,
    effort: str,
    api: Api = Api.AUTO,
    dialects: KnownDialects | None = None,
    goes_on: bool = False,
) -> Chosen:
    """Return who `named` is, for a new run or one that `goes_on`; `dialects` keeps what servers speak.

    Raises EnvironmentFault for a model of the API's own server without a key.

    With nobody named it is the default model if there is a key, else the offline tuner.
    """
    kind, _, rest = named.partition(":")
    if named == OFFLINE:
        return Chosen(None)
    if kind == "replay" and rest:
        return Chosen(ReplayModel.open(root / rest))
    if kind == "files" and rest:
        return Chosen(FolderModel(root / rest, _ANSWER_TIMEOUT_S, goes_on=goes_on))
    known = model_access.environment(environ, root)
    key, server = model_access.key(known), model_access.server(known)
    if key is None and named == AUTOMATIC:
        return Chosen(None, "no OPENAI_API_KEY: the offline tuner proposes")
    if key is None and server is None:
        raise EnvironmentFault(
            f"model '{named}'",
            expected="OPENAI_API_KEY in the environment, or in a .env file in the root folder",
            got="none",
            next_step="Set it, or OPENAI_BASE_URL to a server that needs none, or use "
            "--optimize-model offline",
        )
    model = DEFAULT_MODEL if named == AUTOMATIC else named
    access = Access(model, key, server, reasoning_effort=effort)
    if api is Api.RESPONSES or (api is Api.AUTO and server is None):
        return Chosen(ResponsesModel(access))
    return Chosen(ServerModel(access, api, dialects))
