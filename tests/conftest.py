"""A made-up project for tests that run pytest on it, devices, and what becomes of tests without a GPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A run in this process forgets the modules it imported. NumPy cannot be imported twice, and httpx2, which
# loads httpcore2 when it needs it, keeps that one's exceptions.
import httpcore2  # noqa: F401
import pytest
from gpu_presence import missing_for_gpu

import pytest_cudaopt.cli
import pytest_cudaopt.collect
from pytest_cudaopt.device import Device, open_device

SCALE = """\
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128, 256
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
TEST_SCALE = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("scale.cu", cases=[case(n=51), case(n=4096, measure=True)])
def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    '''Double x.'''
    y[...] = 2 * x
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU; skipped, with what is missing, without one")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needing = [item for item in items if item.get_closest_marker("gpu")]
    if needing and (missing := missing_for_gpu(os.environ)):
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=f"needs an NVIDIA GPU: {missing}"))


# Neither has anything to do here, and hypothesis loads itself anew in every run.
_QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")


class Project:
    """A folder with the kernel `scale` in it, and ways to change it and to run pytest there."""

    def __init__(self, pytester: pytest.Pytester, capfd: pytest.CaptureFixture[str]) -> None:
        self.pytester = pytester
        self._capfd = capfd
        self.path: Path = pytester.path
        self.write("scale.cu", SCALE)
        self.write("test_scale.py", TEST_SCALE)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process, which is five times faster than in another."""
        return self.pytester.runpytest_inprocess(*_QUIET, *arguments)

    def run_alone(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in a process of its own, as users do."""
        return self.pytester.runpytest_subprocess(*_QUIET, *arguments)

    def cudaopt(self, *arguments: str) -> Answered:
        """Run the `cudaopt` command in this process."""
        self._capfd.readouterr()
        try:
            code = pytest_cudaopt.cli.main(arguments)
        except SystemExit as error:
            code = error.code
        written = self._capfd.readouterr()
        return Answered(
            code, pytest.LineMatcher(written.out.splitlines()), pytest.LineMatcher(written.err.splitlines())
        )


@dataclass(frozen=True)
class Answered:
    """What a command wrote and returned."""

    ret: object
    stdout: pytest.LineMatcher
    stderr: pytest.LineMatcher


@pytest.fixture(scope="session", autouse=True)
def without_model_access() -> Iterator[None]:
    """No test may reach a language model by the key of whoever runs the tests.

    The tests' folders hold no `.env` but those that tests write: made-up projects are temporary ones.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("OPENAI_")]:
            patch.delenv(name)
        # Scripted servers are on the loopback, which a proxy does not reach.
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield


@pytest.fixture(scope="session", autouse=True)
def outside_of_actions() -> Iterator[None]:
    """What runs of tests' own say is nothing for the workflow that runs these tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GITHUB_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all made-up projects: looking for NVRTC once is enough."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def opened_sim(shared_cache: Path) -> Iterator[Device]:
    environ = {**os.environ, "XDG_CACHE_HOME": str(shared_cache)}
    with open_device("sim", threads=1, environ=environ) as device:
        yield device


@pytest.fixture
def sim(
    opened_sim: Device,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Device:
    """The simulator, opened once for all tests that judge kernels in this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    return opened_sim


@pytest.fixture(scope="session")
def opened_cuda(shared_cache: Path) -> Iterator[Device]:
    environ = {**os.environ, "XDG_CACHE_HOME": str(shared_cache)}
    with open_device("cuda:0", environ=environ) as device:
        yield device


@pytest.fixture
def cuda(opened_cuda: Device, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """The first GPU, opened once for all tests. A GPU that is there and cannot be opened is an error."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    return opened_cuda


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Project:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    for name in [name for name in os.environ if name.startswith("CUDAOPT_")]:
        if name != "CUDAOPT_HARNESS":
            monkeypatch.delenv(name)
    return Project(pytester, capfd)
