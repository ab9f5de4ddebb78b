"""Where a model's key and server come from: the environment, then a `.env` file in the root folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

_KEY = "OPENAI_API_KEY"
_SERVER = "OPENAI_BASE_URL"


def environment(environ: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return what `root/.env` says about models, under what the environment says."""
    written = dotenv_values(root / ".env") if (root / ".env").is_file() else {}
    known = {name: value for name, value in written.items() if value and name in (_KEY, _SERVER)}
    return known | {name: environ[name] for name in (_KEY, _SERVER) if environ.get(name)}


def key(environ: Mapping[str, str]) -> str | None:
    return environ.get(_KEY)


def server(environ: Mapping[str, str]) -> str | None:
    """Return the server's URL; None stands for the API's own."""
    return environ.get(_SERVER)
