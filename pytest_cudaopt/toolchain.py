"""Find NVRTC and the CUDA headers, once per interpreter, without loading NVRTC into this process."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.wire import from_json

VARIABLE = "CUDAOPT_NVRTC"
INSTALL = 'pip install "cuda-toolkit[nvrtc,cudart,crt,cccl]>=13,<14"'
_SEARCH_TIMEOUT_S = 120.0
_CUDART_VERSION = re.compile(rb"#define\s+CUDART_VERSION\s+(\d+)")

# Runs in a child: pathfinder's load_* maps 141 MB of NVRTC into whoever calls it.
_SEARCH = """
import ctypes, json, sys
found = {"nvrtc": sys.argv[1] or None, "version": None, "include": [], "problems": []}
try:
    from cuda import pathfinder
except ImportError as error:
    pathfinder = None
    found["problems"].append(f"cuda-pathfinder: {error}")
if pathfinder is not None and not found["nvrtc"]:
    try:
        found["nvrtc"] = pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path
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
            found["include"].append(folder)
if found["nvrtc"]:
    try:
        major, minor = ctypes.c_int(), ctypes.c_int()
        ctypes.CDLL(found["nvrtc"]).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        found["version"] = [major.value, minor.value]
    except (OSError, AttributeError) as error:
        found["problems"].append(f"{found['nvrtc']}: {error}")
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Toolchain:
    """NVRTC and the header folders handed to it; `stamp` tells one build of the library from another."""

    nvrtc: str
    version: tuple[int, int]
    include: tuple[str, ...]
    header_version: tuple[int, int] | None
    stamp: str

    @property
    def mismatch(self) -> str | None:
        """A sentence if the headers are of another CUDA release than NVRTC."""
        if self.header_version is None or self.header_version == self.version:
            return None
        return (
            f"NVRTC is {_dotted(self.version)} but its headers are {_dotted(self.header_version)}: "
            f"install both from one release, {INSTALL}"
        )


def find_toolchain(environ: Mapping[str, str] = os.environ) -> Toolchain:
    """Return NVRTC and headers; raise EnvironmentFault saying what was looked for and what to install.

    CUDAOPT_NVRTC names a library to use instead. What was found is remembered in the user's cache
    folder and believed as long as the files have not changed.
    """
    given = environ.get(VARIABLE, "")
    if given and not Path(given).is_file():
        raise EnvironmentFault(
            VARIABLE,
            expected="the path of an NVRTC library (libnvrtc.so.13)",
            got=f"no file {given}",
            next_step=f"Correct {VARIABLE} or unset it",
        )
    remembered = cache_folder(environ) / f"toolchain-{_interpreter_key(given)}.json"
    if (known := _recall(remembered)) is not None:
        return known
    found = _search(given)
    remember(remembered, json.dumps(asdict(found)).encode())
    return found


def _search(given: str) -> Toolchain:
    said = ""
    try:
        child = subprocess.run(  # noqa: S603 - this interpreter, on our own text
            # -P: a folder `cuda` or a `json.py` where pytest was started must not be imported.
            [sys.executable, "-P", "-c", _SEARCH, given],
            capture_output=True,
            text=True,
            timeout=_SEARCH_TIMEOUT_S,
            check=False,
        )
        said = child.stderr.strip()
        found: dict[str, Any] = json.loads(child.stdout.strip().splitlines()[-1])
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise EnvironmentFault(
            "search for NVRTC", expected="an answer of a child interpreter", got=said or str(error)
        ) from error
    if not found["nvrtc"] or not found["version"]:
        raise _not_found(found["problems"])
    if not found["include"]:
        raise EnvironmentFault(
            "CUDA headers",
            expected="cuda_runtime_api.h and its companions",
            got="; ".join(found["problems"]) or "none found",
            next_step=f"Install them: {INSTALL}",
        )
    major, minor = found["version"]
    include = tuple(str(folder) for folder in found["include"])
    return Toolchain(
        found["nvrtc"], (major, minor), include, _header_version(include), _stamp(found["nvrtc"])
    )


def _not_found(problems: list[str]) -> EnvironmentFault:
    # There is a wheel for macOS on arm64, and it is empty.
    placeholder = " (on macOS its wheel is an empty placeholder: there is no NVRTC)"
    return EnvironmentFault(
        "NVRTC",
        expected="libnvrtc.so of CUDA 13, in a wheel, a conda environment or a CUDA toolkit",
        got="; ".join(problem.splitlines()[0] for problem in problems) or "none found",
        next_step=f"Install it: {INSTALL}{placeholder if sys.platform == 'darwin' else ''}",
    )


def _recall(remembered: Path) -> Toolchain | None:
    try:
        known = from_json(Toolchain, json.loads(remembered.read_text()), "toolchain")
        unchanged = known.stamp == _stamp(known.nvrtc) and all(Path(f).is_dir() for f in known.include)
    except (OSError, ValueError, HarnessError):
        return None
    return known if unchanged and known.header_version == _header_version(known.include) else None


def _stamp(library: str) -> str:
    status = Path(library).stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def _header_version(include: tuple[str, ...]) -> tuple[int, int] | None:
    for folder in include:
        header = Path(folder) / "cuda_runtime_api.h"
        if header.is_file() and (match := _CUDART_VERSION.search(header.read_bytes())):
            number = int(match.group(1))
            return number // 1000, number % 1000 // 10
    return None


def _interpreter_key(given: str) -> str:
    # CUDA_PATH and CUDA_HOME steer pathfinder's search.
    steering = [os.environ.get(name, "") for name in ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX")]
    text = "\0".join([sys.prefix, sys.version, given, *steering])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
