"""The configuration file that pytest would use, found and read without pytest."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import iniconfig

from pytest_cudaopt.errors import SettingsError


@dataclass(frozen=True)
class IniFile:
    """The values as texts, by key, and the folder they are for; None if there is no such file."""

    values: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None


def read_ini(folder: Path) -> IniFile:
    """Return what the nearest configuration file of pytest says, in `folder` or above it.

    Raises SettingsError for a file that cannot be read.
    """
    project: Path | None = None
    for base in (folder, *folder.parents):
        for name, read in _READERS.items():
            path = base / name
            if not path.is_file():
                continue
            if (values := _read(path, read)) is not None:
                return IniFile({str(key): str(value) for key, value in values.items()}, base)
            if name == _PROJECT:
                project = project or base
    # As in pytest: without another, a project's file makes the root though it says nothing of pytest.
    return IniFile(root=project)


_Reader = Callable[[str, str], Mapping[str, Any] | None]
_PROJECT = "pyproject.toml"


def _read(path: Path, read: _Reader) -> Mapping[str, Any] | None:
    try:
        return read(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, iniconfig.ParseError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(str(path), expected="a file that pytest can read", got=str(error)) from error


def _own_ini(text: str, path: str) -> Mapping[str, Any]:
    return _ini_section("pytest")(text, path) or {}


def _ini_section(name: str) -> _Reader:
    def read(text: str, path: str) -> Mapping[str, Any] | None:
        sections = iniconfig.IniConfig(path, data=text)
        return dict(sections[name].items()) if name in sections else None

    return read


def _own_toml(text: str, path: str) -> Mapping[str, Any]:
    return _table(tomllib.loads(text), "pytest") or {}


def _project_toml(text: str, path: str) -> Mapping[str, Any] | None:
    table = _table(_table(tomllib.loads(text), "tool"), "pytest") or {}
    native = {key: value for key, value in table.items() if key != "ini_options"}
    return native or _table(table, "ini_options")


def _table(parent: Mapping[str, Any] | None, name: str) -> Mapping[str, Any] | None:
    child = None if parent is None else parent.get(name)
    return child if isinstance(child, dict) else None


# In the order in which pytest looks for them in a folder.
_READERS: dict[str, _Reader] = {
    "pytest.toml": _own_toml,
    ".pytest.toml": _own_toml,
    "pytest.ini": _own_ini,
    ".pytest.ini": _own_ini,
    _PROJECT: _project_toml,
    "tox.ini": _ini_section("pytest"),
    "setup.cfg": _ini_section("tool:pytest"),
}
