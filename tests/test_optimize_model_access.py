"""Where a key and a server come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt.optimize import model_access

WRITTEN = "OPENAI_API_KEY='sk-file'\nOPENAI_BASE_URL=http://file/v1\nLD_PRELOAD=evil.so\n"


@pytest.mark.parametrize(
    ("environ", "written", "key", "server"),
    [
        ({}, None, None, None),
        ({"OPENAI_API_KEY": "sk-env"}, None, "sk-env", None),
        ({}, WRITTEN, "sk-file", "http://file/v1"),
        ({"OPENAI_API_KEY": "sk-env"}, WRITTEN, "sk-env", "http://file/v1"),
        ({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "http://env/v1"}, WRITTEN, "sk-file", "http://env/v1"),
        ({}, "OPENAI_API_KEY=\n", None, None),
    ],
)
def test_the_environment_comes_before_the_file(
    tmp_path: Path, environ: dict[str, str], written: str | None, key: str | None, server: str | None
) -> None:
    if written is not None:
        (tmp_path / ".env").write_text(written)
    known = model_access.environment(environ, tmp_path)
    assert (model_access.key(known), model_access.server(known)) == (key, server)


def test_nothing_else_is_taken_from_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(WRITTEN)
    assert set(model_access.environment({"PATH": "/bin"}, tmp_path)) == {"OPENAI_API_KEY", "OPENAI_BASE_URL"}
