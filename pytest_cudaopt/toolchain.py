"""The NVRTC to compile with: chosen among those installed, for a driver if there is one, and remembered."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from pytest_cudaopt import driver, nvrtc_search
from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.nvrtc_search import Installed, Search
from pytest_cudaopt.wire import from_json

VARIABLE = "CUDAOPT_NVRTC"
INSTALL = 'pip install "cuda-toolkit[nvrtc,cudart,crt,cccl]>=13,<14"'
# Beside those of CUDA 13, which cuda-toolkit 12 would not be.
_INSTALL_12 = "pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12"


@dataclass(frozen=True)
class Toolchain:
    """NVRTC and the header folders handed to it; `stamp` tells one build of the library from another."""

    nvrtc: str
    version: tuple[int, int]
    include: tuple[str, ...]
    header_version: tuple[int, int] | None
    stamp: str

    def has_header(self, name: str) -> bool:
        """Whether `#include <NAME>` finds a header in the folders."""
        return _has_header(self.include, name)

    @property
    def mismatch(self) -> str | None:
        """A sentence if the headers are of another CUDA release than NVRTC."""
        if self.header_version is None or self.header_version == self.version:
            return None
        return (
            f"NVRTC is {_dotted(self.version)} but its headers are {_dotted(self.header_version)}: "
            f"install both from one release, {INSTALL}"
        )


@lru_cache(maxsize=4096)
def _has_header(folders: tuple[str, ...], name: str) -> bool:
    return any((Path(folder) / name).is_file() for folder in folders)


def find_toolchain(
    environ: Mapping[str, str] = os.environ, driver_version: tuple[int, int] | None = None
) -> Toolchain:
    """Return NVRTC and headers: any for `sim`, or the newest whose code a driver of this version can load.

    A driver loads what compilers of its own CUDA major and older ones make. CUDAOPT_NVRTC names a library to
    use instead. What was found is remembered in the user's cache folder and believed as long as the files
    have not changed and nothing newer could serve the driver. Raises EnvironmentFault saying what was looked
    for and what to install.
    """
    given = environ.get(VARIABLE, "")
    if given and not Path(given).is_file():
        raise EnvironmentFault(
            VARIABLE,
            expected="the path of an NVRTC library (libnvrtc.so.13)",
            got=f"no file {given}",
            next_step=f"Correct {VARIABLE} or unset it",
        )
    if driver_version is not None and driver_version < driver.OLDEST:
        raise _driver_too_old(driver_version)
    major = None if driver_version is None else driver_version[0]
    remembered = cache_folder(environ) / f"toolchain-{_key(given, major)}.json"
    known = _recall(remembered)
    # An older one than the driver could load is looked for again: a better one may have been installed.
    if known is not None and major in (None, known.version[0]):
        return known
    found = nvrtc_search.search(given)
    chosen = _any(found) if driver_version is None else _fitting(found, driver_version, given)
    toolchain = Toolchain(
        chosen.nvrtc, chosen.version, chosen.include, chosen.header_version, _stamp(chosen.nvrtc)
    )
    remember(remembered, json.dumps(asdict(toolchain)).encode())
    return toolchain


def toolchain_for(device: str, environ: Mapping[str, str] = os.environ) -> Toolchain:
    """Return the toolchain for a request's device, `sim` or `cuda:N`."""
    return find_toolchain(environ, None if device == "sim" else driver.driver_version(environ))


def _any(found: Search) -> Installed:
    if not found.installed:
        raise _not_found(found.problems)
    return _with_headers(found.installed, found.problems)[0]


def _fitting(found: Search, version: tuple[int, int], given: str) -> Installed:
    if not found.installed:
        raise _not_found(found.problems, major=version[0])
    fitting = [one for one in found.installed if driver.OLDEST[0] <= one.version[0] <= version[0]]
    if not fitting:
        listed = ", ".join(f"{_dotted(one.version)} ({one.nvrtc})" for one in found.installed)
        raise EnvironmentFault(
            "NVRTC for this GPU's driver",
            expected=f"one of CUDA {version[0]}{'' if version[0] == driver.OLDEST[0] else ' or older'}, "
            f"as the driver supports CUDA {_dotted(version)}",
            got=listed,
            next_step=f"Correct {VARIABLE} or unset it"
            if given
            else f"Install one, which may lie beside others: {_install(version[0])}; or update the driver",
        )
    with_headers = _with_headers(fitting, found.problems)
    # Headers of another release cost more than an older minor release.
    return max(with_headers, key=lambda o: (o.version[0], o.header_version == o.version, o.version[1]))


def _with_headers(installed: Sequence[Installed], problems: Sequence[str]) -> list[Installed]:
    complete = [one for one in installed if one.include]
    if complete:
        return complete
    raise EnvironmentFault(
        "CUDA headers",
        expected="cuda_runtime_api.h and its companions",
        got="; ".join(problems) or "none found",
        next_step=f"Install them: {_install(installed[0].version[0])}",
    )


def _not_found(problems: Sequence[str], major: int = 13) -> EnvironmentFault:
    # There is a wheel for macOS on arm64, and it is empty.
    placeholder = " (on macOS its wheel is an empty placeholder: there is no NVRTC)"
    return EnvironmentFault(
        "NVRTC",
        expected=f"libnvrtc.so of CUDA {major}, in a wheel, a conda environment or a CUDA toolkit",
        got="; ".join(problem.splitlines()[0] for problem in problems) or "none found",
        next_step=f"Install it: {_install(major)}{placeholder if sys.platform == 'darwin' else ''}",
    )


def _driver_too_old(version: tuple[int, int]) -> EnvironmentFault:
    return EnvironmentFault(
        "CUDA driver",
        expected=f"one for CUDA {_dotted(driver.OLDEST)} or newer (525.60 or newer on Linux)",
        got=f"one for CUDA {_dotted(version)}",
        next_step="Update the NVIDIA driver, or use --cudaopt-device sim, which needs none",
    )


def _install(major: int) -> str:
    if major <= driver.OLDEST[0]:
        return _INSTALL_12
    return INSTALL.replace(">=13,<14", f">={major},<{major + 1}")


def _recall(remembered: Path) -> Toolchain | None:
    try:
        known = from_json(Toolchain, json.loads(remembered.read_text()), "toolchain")
        unchanged = known.stamp == _stamp(known.nvrtc) and all(Path(f).is_dir() for f in known.include)
    except (OSError, ValueError, HarnessError):
        return None
    return known if unchanged and known.header_version == nvrtc_search.header_version(known.include) else None


def _stamp(library: str) -> str:
    status = Path(library).stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def _key(given: str, driver_major: int | None) -> str:
    # These steer the search.
    steering = [os.environ.get(name, "") for name in ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX")]
    text = "\0".join([sys.prefix, sys.version, given, str(driver_major or ""), *steering])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
