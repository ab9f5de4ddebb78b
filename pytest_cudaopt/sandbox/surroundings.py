"""What the inside needs of this machine: which files it reads, which variables it has."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest_cudaopt

# What a reference may import beside the standard library.
PACKAGES = ("numpy", "ml_dtypes")
# NumPy loads some of its parts late: 30 ms that no call should wait for.
PRELOADED = (*PACKAGES, "numpy.random", "numpy.linalg", "numpy.fft", "numpy.polynomial", "traceback")
PACKAGE = Path(pytest_cudaopt.__file__).parent
# Debian finds its BLAS through /etc/alternatives.
_SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")


@dataclass(frozen=True)
class Surroundings:
    """`python` is the interpreter itself, not a virtual environment's link to it.

    `libraries` may be read in a call; `program` only to start.
    """

    python: str
    program: tuple[str, ...]
    libraries: tuple[str, ...]
    importable: tuple[str, ...]


def look_around() -> Surroundings:
    """Find the interpreter, its libraries, and the packages that a reference may import."""
    python = Path(sys.executable).resolve()
    packages = [folder for name in PACKAGES for folder in _folders(name)]
    libraries = {
        *_SYSTEM_LIBRARIES,
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix}),
        str(Path(sys.base_prefix) / "lib"),
        *packages,
    }
    return Surroundings(
        python=str(python),
        program=(str(python), str(PACKAGE)),
        libraries=tuple(sorted(libraries)),
        importable=tuple(dict.fromkeys(str(Path(folder).parent) for folder in packages)),
    )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of the inside: nothing of `environ` but where the loader looks."""
    kept = {name: environ[name] for name in ("LD_LIBRARY_PATH",) if name in environ}
    # One thread each: others would not live on in the children.
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {"PATH": os.defpath.lstrip(":"), "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", **threads, **kept}


def _folders(package: str) -> Iterator[str]:
    """Yield the package's folder, and that of the libraries that its wheel brought."""
    found = importlib.util.find_spec(package)
    for place in (found.submodule_search_locations or ()) if found else ():
        yield place
        libraries = Path(place).with_name(f"{package}.libs")
        if libraries.is_dir():
            yield str(libraries)
