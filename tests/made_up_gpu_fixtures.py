"""Fixtures of the made-up GPU: `pytest_plugins = ["made_up_gpu_fixtures"]` in a test module."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness_client import NO_END_S
from made_up_gpu import MadeUpGpu

SOURCES = Path(__file__).parents[1] / "harness_cpp" / "tests" / "made_up_driver"
COMPILERS = ("c++", "g++", "clang++")


@pytest.fixture(scope="session")
def made_up_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the driver, once for all workers and runs that share a folder."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        pytest.skip(f"no C++ compiler for the made-up driver: none of {', '.join(COMPILERS)} is on PATH")
    sources = sorted(SOURCES.glob("*.[ch]pp"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    library = tmp_path_factory.getbasetemp().parent / f"libmade_up_driver_{digest}.so"
    if not library.exists():
        built = library.with_suffix(f".{os.getpid()}")
        units = [str(source) for source in sources if source.suffix == ".cpp"]
        command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", *units, "-o", str(built)]
        subprocess.run(command, check=True, timeout=NO_END_S)
        built.rename(library)
    return library


@pytest.fixture
def gpu(made_up_driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeUpGpu:
    """One made-up GPU that behaves, as the package and requests alike see it."""
    monkeypatch.setenv("CUDAOPT_DRIVER", str(made_up_driver))
    return MadeUpGpu(made_up_driver, tmp_path, monkeypatch)
