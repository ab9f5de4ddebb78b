"""Where NVRTC libraries and their headers lie: in wheels, conda environments, toolkits.

None of them is loaded into this process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_cudaopt.errors import EnvironmentFault

_TIMEOUT_S = 120.0
_CUDART_VERSION = re.compile(rb"#define\s+CUDART_VERSION\s+(\d+)")
_SYSTEM_TOOLKITS = "/usr/local/cuda*"
# What a folder of headers is known by, under pathfinder's name for it.
_MARKS = {"cudart": "cuda_runtime_api.h", "cccl": "cuda/std"}

# Runs in a child: asking a library for its version maps 141 MB of NVRTC into whoever asks.
_CHILD = """
import ctypes, json, sys
given, *libraries = sys.argv[1:]
found = {"libraries": [], "headers": {}, "problems": []}
try:
    from cuda import pathfinder
except ImportError as error:
    pathfinder = None
    found["problems"].append(f"cuda-pathfinder: {error}")
if pathfinder is not None and not given:
    try:
        libraries.insert(0, pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path)
    except (RuntimeError, OSError, ValueError) as error:
        found["problems"].append(f"NVRTC: {type(error).__name__}: {error}")
if pathfinder is not None:
    for name in ("cudart", "cccl"):
        try:
            folder = pathfinder.find_nvidia_header_directory(name)
        except (RuntimeError, OSError, ValueError) as error:
            folder = None
            found["problems"].append(f"{name} headers: {type(error).__name__}: {error}")
        if folder:
            found["headers"][name] = str(folder)
for library in [given] if given else libraries:
    try:
        major, minor = ctypes.c_int(), ctypes.c_int()
        ctypes.CDLL(library).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        found["libraries"].append([library, major.value, minor.value])
    except (OSError, AttributeError) as error:
        found["problems"].append(f"{library}: {error}")
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Installed:
    """One NVRTC and the header folders that belong to it (none if there are none)."""

    nvrtc: str
    version: tuple[int, int]
    include: tuple[str, ...]
    header_version: tuple[int, int] | None


@dataclass(frozen=True)
class Search:
    """What was found, in the order of trust, and what did not work."""

    installed: tuple[Installed, ...]
    problems: tuple[str, ...]


def search(given: str = "") -> Search:
    """Look for every NVRTC of this interpreter and machine, or only at the library `given`.

    Raises EnvironmentFault if the child interpreter that looks does not answer.
    """
    libraries = [] if given else _libraries(os.environ, sys.path)
    found = _ask_child([given, *(str(library) for library in libraries)])
    installed: dict[str, Installed] = {}
    for nvrtc, major, minor in found["libraries"]:
        include = headers_of(Path(nvrtc), found["headers"])
        one = Installed(nvrtc, (major, minor), include, header_version(include))
        installed.setdefault(os.path.realpath(nvrtc), one)
    return Search(tuple(installed.values()), tuple(found["problems"]))


def headers_of(nvrtc: Path, elsewhere: Mapping[str, str]) -> tuple[str, ...]:
    """Return the header folders of a library's release; what is not beside it is taken from `elsewhere`."""
    beside = list(_beside(nvrtc))
    folders = [
        next((str(folder) for folder in beside if (folder / mark).exists()), elsewhere.get(name))
        for name, mark in _MARKS.items()
    ]
    return tuple(dict.fromkeys(folder for folder in folders if folder))


def header_version(include: Sequence[str]) -> tuple[int, int] | None:
    """Return the CUDA release of the headers in these folders."""
    for folder in include:
        header = Path(folder) / _MARKS["cudart"]
        if header.is_file() and (match := _CUDART_VERSION.search(header.read_bytes())):
            number = int(match.group(1))
            return number // 1000, number % 1000 // 10
    return None


def _libraries(environ: Mapping[str, str], import_path: Iterable[str]) -> list[Path]:
    found: dict[str, Path] = {}
    for folder in _library_folders(environ, import_path):
        for library in sorted(folder.glob("libnvrtc.so.*")):
            found.setdefault(os.path.realpath(library), library)
    return list(found.values())


def _library_folders(environ: Mapping[str, str], import_path: Iterable[str]) -> Iterator[Path]:
    for folder in import_path:
        if folder:
            yield from sorted(Path(folder).glob("nvidia/*/lib"))
    named = (environ.get(name) for name in ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"))
    system = sorted(Path("/").glob(_SYSTEM_TOOLKITS.lstrip("/")), reverse=True)
    for root in (*(Path(name) for name in named if name), *system):
        yield from (root / "lib64", root / "lib", *sorted(root.glob("targets/*/lib")))


def _beside(nvrtc: Path) -> Iterator[Path]:
    root = nvrtc.parent.parent
    for include in (root / "include", *sorted(root.glob("targets/*/include"))):
        yield from (include, include / "cccl")
    if root.parent.name == "nvidia":
        # Wheels of CUDA 12 and older have a folder for each part.
        yield from (root.parent / part / "include" for part in ("cuda_runtime", "cuda_cccl"))


def _ask_child(arguments: Sequence[str]) -> dict[str, Any]:
    said = ""
    try:
        child = subprocess.run(  # noqa: S603 - this interpreter, on our own text
            # -P: a folder `cuda` or a `json.py` where pytest was started must not be imported.
            [sys.executable, "-P", "-c", _CHILD, *arguments],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        said = child.stderr.strip()
        found: dict[str, Any] = json.loads(child.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise EnvironmentFault(
            "search for NVRTC", expected="an answer of a child interpreter", got=said or str(error)
        ) from error
    return found
