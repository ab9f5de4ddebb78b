"""The configuration file pytest would use: which one, what it says, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt.errors import SettingsError
from pytest_cudaopt.ini_file import read_ini

LIB = {"cudaopt_include": "lib"}


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("pytest.ini", "[pytest]\ncudaopt_include = lib\n", LIB),
        (".pytest.ini", "[pytest]\n# ours\ncudaopt_include = lib\n", LIB),
        ("pytest.ini", "", {}),
        ("pytest.ini", "[pytest]\na =\n    one\n    two\n", {"a": "one\ntwo"}),
        ("pytest.toml", "[pytest]\ncudaopt_include = 'lib'\n", LIB),
        (".pytest.toml", "", {}),
        ("pyproject.toml", "[tool.pytest]\ncudaopt_include = 'lib'\n", LIB),
        ("pyproject.toml", "[tool.pytest.ini_options]\ncudaopt_include = 'lib'\n", LIB),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", {}),
        ("tox.ini", "[pytest]\ncudaopt_include = lib\n", LIB),
        ("setup.cfg", "[tool:pytest]\ncudaopt_include = lib\n", LIB),
    ],
)
def test_the_nearest_file_is_read(tmp_path: Path, name: str, text: str, values: dict[str, str]) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ncudaopt_include = farther\n")
    near, inside = tmp_path / "near", tmp_path / "near" / "inside"
    inside.mkdir(parents=True)
    (near / name).write_text(text)
    found = read_ini(inside)
    assert (dict(found.values), found.root) == (values, near)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project]\nname = 'x'\n"),
        ("pyproject.toml", "tool = 3\n"),
        ("tox.ini", "[tox]\na = b\n"),
        ("setup.cfg", "[pytest]\ncudaopt_include = lib\n"),
    ],
)
def test_a_file_that_says_nothing_of_pytest_is_passed_by(tmp_path: Path, name: str, text: str) -> None:
    near = tmp_path / "near"
    near.mkdir()
    (near / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\ncudaopt_include = lib\n")
    assert read_ini(near).values == LIB
    (tmp_path / "pytest.ini").unlink()
    assert read_ini(near).root == (near if name == "pyproject.toml" else None)


def test_pytests_own_file_wins_over_the_projects(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\ncudaopt_include = 'other'\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\ncudaopt_include = lib\n")
    assert read_ini(tmp_path).values == LIB


@pytest.mark.parametrize(
    ("name", "content"),
    [("pytest.ini", b"[pytest\n"), ("pyproject.toml", b"= 1\n"), ("tox.ini", b"[pytest]\na = \xff\n")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingsError, match=f"{name}: expected a file that pytest can read, got "):
        read_ini(tmp_path)
