"""The file of `--config`: which files a run is about, and options for it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_cudaopt.errors import did_you_mean
from pytest_cudaopt.from_files.fields import Field, read_json
from pytest_cudaopt.settings import OPTIONS, ConfigFile, Option

FILE_KEYS = ("signature", "reference", "initial_kernel", "input_cases")
# Their values are paths, or lists of them.
_PATHS = ("results", "record", "compdb", "include")
_MODELS_OF_FILES = ("replay:", "files:")


@dataclass(frozen=True)
class Config:
    """`files` by the keys of FILE_KEYS, as seen from here; `options` by field of Settings, paths absolute."""

    files: Mapping[str, str] = field(default_factory=dict)
    options: ConfigFile = field(default_factory=ConfigFile)


def read_config(named: str, fields: Collection[str]) -> Config:
    """Read what may hold FILE_KEYS and options of these fields; paths in it are relative to its folder.

    Raises DeclarationError for a file that cannot be read, an unknown key, and what is no text or number.
    """
    path = Path(named).absolute()
    content = read_json(path, named, "config")
    known = {option.config_key: option for option in OPTIONS if option.field in fields}
    files: dict[str, str] = {}
    options: dict[str, str] = {}
    for key, one in content.mapping().items():
        if key in FILE_KEYS:
            files[key] = _path(one.text("a file's name"), Path(named).parent)
        elif key in known:
            if (text := _option_text(one, known[key], path.parent)) is not None:
                options[known[key].field] = text
        else:
            names = (*FILE_KEYS, *known)
            raise one.wrong(f"one of {', '.join(names)}", did_you_mean(key, names), got=f"'{key}'")
    return Config(files, ConfigFile(named, options))


def _option_text(one: Field, option: Option, folder: Path) -> str | None:
    """Return the value as it would stand on the command line; None for a null, and for a `false`."""
    match one.value:
        case None:
            return None
        case bool():
            return str(one.value).lower()
        case int() | float():
            return str(one.value)
        case list():
            texts = one.texts()
        case str():
            texts = (one.value,)
        case _:
            raise one.wrong("a text, a number, true, false, or a list of texts")
    if option.field == "model" and texts[0].startswith(_MODELS_OF_FILES):
        kind, _, rest = texts[0].partition(":")
        return f"{kind}:{_path(rest, folder)}" if rest else texts[0]
    if option.field in _PATHS:
        texts = tuple(_path(text, folder) for text in texts if text)
    return ",".join(texts)


def _path(text: str, folder: Path) -> str:
    """Return it as seen from where `folder` is; `FILE.py::NAME` keeps its name."""
    file, separator, name = text.partition("::")
    return os.path.normpath(folder / file) + separator + name
