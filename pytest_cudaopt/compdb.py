"""What `compile_commands.json` says of one source: macros, include folders, and options a kernel may have."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_cudaopt.errors import SettingsError, why_unreadable
from pytest_cudaopt.macros import is_macro

OPTION = "cudaopt_compdb"
_FORMAT = "a list of objects with directory, file, and command or arguments, as CMake writes it"
_CREATE = "Create it with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or with bear"
# Each takes a value, in the same word or in the next.
_WITH_VALUE = {
    "-D": "define",
    "--define-macro": "define",
    "-U": "undefine",
    "--undefine-macro": "undefine",
    "-I": "include",
    "--include-path": "include",
    "-isystem": "include",
    "--system-include": "include",
    "-std": "standard",
    "--std": "standard",
    "-fmad": "fmad",
    "--fmad": "fmad",
    "-maxrregcount": "registers",
    "--maxrregcount": "registers",
}
# Their next word is another program's.
_FOREIGN = (
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-Xlinker",
    "-Xcudafe",
    "-Xclang",
)
_STANDARDS = {"0x": "11", "1y": "14", "1z": "17", "2a": "20"}
_STANDARD = re.compile(r"^(?:c|gnu)\+\+(\d\d|0x|1y|1z|2a)$")


@dataclass(frozen=True)
class Flags:
    """What a source is compiled with elsewhere; options are spelled as kernels may spell them."""

    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()


def read(database: Path, source: Path) -> Flags:
    """Return the flags of `source` in the file `database`; raise SettingsError if it has none."""
    entries = _entries(database)
    for number, entry in enumerate(entries):
        if _file(entry, database).resolve() == source.resolve():
            folder = database.parent / entry["directory"]
            return flags_of(_words(entry, database, number), folder)
    named = sorted({Path(entry["file"]).name for entry in entries if str(entry["file"]).endswith(".cu")})
    raise SettingsError(
        OPTION,
        expected=f"an entry for {source} in {database}",
        got=f"{len(entries)} entries; .cu files: {', '.join(named[:10]) or 'none'}",
        next_step="Configure the build again, or unset the option",
    )


def flags_of(words: Sequence[str], folder: Path) -> Flags:
    """Take over what matters from a compiler's command line that runs in `folder`; ignore the rest."""
    defines: dict[str, str] = {}
    include: dict[Path, None] = {}
    options: dict[str, str] = {}
    for kind, value in _options(words):
        if kind == "define":
            name, separator, text = value.partition("=")
            if is_macro(name, text):
                defines[name] = text if separator else "1"
        elif kind == "undefine":
            defines.pop(value, None)
        elif kind == "include":
            path = Path(os.path.normpath(folder / value))
            if not _is_toolkit(path):
                include[path] = None
        elif kind == "standard" and (match := _STANDARD.match(value)):
            options[kind] = f"-std=c++{_STANDARDS.get(match[1], match[1])}"
        elif kind == "fmad" and value in ("true", "false"):
            options[kind] = f"--fmad={value}"
        elif kind == "registers" and value.isdigit():
            options[kind] = f"--maxrregcount={value}"
        elif kind == "fast":
            options[kind] = "--use_fast_math"
    return Flags(tuple(defines.items()), tuple(include), tuple(options.values()))


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield kind and value of the options that matter, in order."""
    rest = iter(words)
    for word in rest:
        if word in _FOREIGN:
            next(rest, None)
        elif word in ("-use_fast_math", "--use_fast_math"):
            yield "fast", ""
        elif word in _WITH_VALUE:
            yield _WITH_VALUE[word], next(rest, "")
        else:
            yield from _joined(word)


def _joined(word: str) -> Iterator[tuple[str, str]]:
    name, separator, value = word.partition("=")
    if separator and name in _WITH_VALUE:
        yield _WITH_VALUE[name], value
    elif word[:2] in ("-D", "-U", "-I"):
        yield _WITH_VALUE[word[:2]], word[2:]
    elif word.startswith("-isystem"):
        yield "include", word.removeprefix("-isystem")


def _is_toolkit(folder: Path) -> bool:
    """True for headers of a CUDA toolkit or of the system: the compiler has its own."""
    return any((folder / name).is_file() for name in ("cuda_runtime_api.h", "cuda/std/cstddef", "stdio.h"))


def _entries(database: Path) -> list[dict[str, Any]]:
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            OPTION, expected=f"a readable file {database}", got=why_unreadable(error), next_step=_CREATE
        ) from error
    except ValueError as error:
        raise SettingsError(
            f"{OPTION}: {database}", expected=_FORMAT, got=f"no JSON: {error}", next_step=_CREATE
        ) from error
    if not isinstance(entries, list):
        raise _malformed(database, "no list")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise _malformed(database, f"entry {number}, which is no object")
        if missing := [key for key in ("directory", "file") if not isinstance(entry.get(key), str)]:
            raise _malformed(database, f"entry {number} without {missing[0]}")
    return entries


def _file(entry: dict[str, Any], database: Path) -> Path:
    return database.parent / str(entry["directory"]) / str(entry["file"])


def _words(entry: dict[str, Any], database: Path, number: int) -> list[str]:
    arguments, command = entry.get("arguments"), entry.get("command")
    if isinstance(arguments, list) and all(isinstance(one, str) for one in arguments):
        return arguments
    if not isinstance(command, str):
        raise _malformed(database, f"entry {number} without command and arguments")
    try:
        return shlex.split(command)
    except ValueError as error:
        raise _malformed(database, f"entry {number}, whose command cannot be split: {error}") from error


def _malformed(database: Path, got: str) -> SettingsError:
    return SettingsError(f"{OPTION}: {database}", expected=_FORMAT, got=got, next_step=_CREATE)
