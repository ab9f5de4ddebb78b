"""Choosing NVRTC and its headers, for a driver or for none, and remembering the choice."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import driver, nvrtc_search, toolchain
from pytest_cudaopt.cache import cache_folder
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.nvrtc_search import Installed, Search
from pytest_cudaopt.toolchain import Toolchain, find_toolchain, toolchain_for


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder after one search."""
    folder = tmp_path_factory.mktemp("searched")
    find_toolchain({"XDG_CACHE_HOME": str(folder)})
    return folder


@pytest.fixture
def environ(searched: Path, tmp_path: Path) -> dict[str, str]:
    shutil.copytree(searched, tmp_path / "cache")
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def _no_search(given: str) -> Search:
    raise AssertionError("searched again")


def test_nvrtc_and_its_headers_are_found(environ: dict[str, str]) -> None:
    found = find_toolchain(environ)
    assert Path(found.nvrtc).is_file()
    assert found.version >= (13, 0)
    assert any((Path(folder) / "cuda_fp16.h").is_file() for folder in found.include)
    assert any((Path(folder) / "cuda" / "std").is_dir() for folder in found.include)


def test_what_was_found_is_remembered(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_toolchain(environ)
    monkeypatch.setattr(nvrtc_search, "search", _no_search)
    assert find_toolchain(environ) == found


@pytest.mark.parametrize(
    "spoil",
    [
        lambda stored: "not json",
        lambda stored: json.dumps({**stored, "stamp": "0-0"}),
        lambda stored: json.dumps({**stored, "nvrtc": "/absent"}),
        lambda stored: json.dumps({**stored, "include": ["/absent"]}),
        lambda stored: json.dumps({**stored, "header_version": [12, 0]}),
        lambda stored: json.dumps({"nvrtc": stored["nvrtc"]}),
    ],
    ids=["torn", "replaced library", "removed library", "removed headers", "other headers", "old format"],
)
def test_what_is_no_longer_true_is_searched_again(
    environ: dict[str, str], spoil: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_toolchain(environ)
    (remembered,) = cache_folder(environ).glob("toolchain-*.json")
    remembered.write_text(spoil(json.loads(remembered.read_text())))
    monkeypatch.setattr(nvrtc_search, "search", _no_search)
    with pytest.raises(AssertionError, match="searched again"):
        find_toolchain(environ)


def test_an_unwritable_cache_does_not_stop_the_search(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert find_toolchain({"XDG_CACHE_HOME": str(tmp_path / "file")}).version >= (13, 0)


def test_the_environment_names_a_library(environ: dict[str, str], tmp_path: Path) -> None:
    # A link to the real one: another path, so it is searched for on its own.
    link = tmp_path / "libnvrtc.so.13"
    link.symlink_to(find_toolchain(environ).nvrtc)
    assert find_toolchain({**environ, "CUDAOPT_NVRTC": str(link)}).nvrtc == str(link)


def test_a_library_that_is_not_there_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(EnvironmentFault, match="CUDAOPT_NVRTC: expected the path of an NVRTC library"):
        find_toolchain({**environ, "CUDAOPT_NVRTC": "/absent/libnvrtc.so"})


def test_a_library_that_is_no_nvrtc_is_refused_with_the_remedy(
    environ: dict[str, str], tmp_path: Path
) -> None:
    fake = tmp_path / "libnvrtc.so"
    fake.write_text("no library")
    with pytest.raises(EnvironmentFault) as caught:
        find_toolchain({**environ, "CUDAOPT_NVRTC": str(fake)})
    assert str(fake) in str(caught.value)
    assert 'pip install "cuda-toolkit[nvrtc,cudart,crt,cccl]>=13,<14"' in str(caught.value)


def test_modules_where_pytest_was_started_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    assert find_toolchain({"XDG_CACHE_HOME": str(tmp_path)}).version >= (13, 0)


def test_nothing_found_says_what_was_looked_for() -> None:
    text = str(toolchain._not_found(["NVRTC: DynamicLibNotFoundError: no such library\ntried: ..."]))
    assert "expected libnvrtc.so of CUDA 13" in text
    assert "DynamicLibNotFoundError: no such library" in text
    assert "tried" not in text


def test_on_macos_the_placeholder_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.sys, "platform", "darwin")
    assert "an empty placeholder" in str(toolchain._not_found([]))


@pytest.mark.parametrize(
    ("headers", "says"),
    [((13, 5), None), (None, None), ((13, 4), "NVRTC is 13.5 but its headers are 13.4"), ((12, 9), "12.9")],
)
def test_headers_of_another_release_are_noticed(headers: tuple[int, int] | None, says: str | None) -> None:
    found = Toolchain("/n", (13, 5), (), (13, 5), "0")
    mismatch = replace(found, header_version=headers).mismatch
    assert (mismatch is None) is (says is None)
    assert says is None or says in str(mismatch)


class Machine:
    """A machine with some NVRTCs; the files exist, so that they can be remembered."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.environ = {"XDG_CACHE_HOME": str(folder / "cache")}
        self.installed: list[Installed] = []
        self.searches = 0
        monkeypatch.setattr(nvrtc_search, "search", self._search)

    def has(self, *versions: tuple[int, int], headers: tuple[int, int] | None = None, of: str = "") -> None:
        """Install NVRTCs with headers of the same release or `headers`."""
        for major, minor in versions:
            library = self.folder / f"{of}libnvrtc.so.{major}.{minor}"
            library.touch()
            include = self.folder / f"{of}include-{major}.{minor}"
            include.mkdir()
            release = headers or (major, minor)
            (include / "cuda_runtime_api.h").write_text(
                f"#define CUDART_VERSION {release[0] * 1000 + release[1] * 10}\n"
            )
            self.installed.append(Installed(str(library), (major, minor), (str(include),), release))

    def chosen(self, driver_version: tuple[int, int] | None) -> tuple[int, int]:
        return find_toolchain(self.environ, driver_version).version

    def _search(self, given: str) -> Search:
        self.searches += 1
        return Search(tuple(self.installed), ())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("driver_version", "chosen"),
    [((12, 0), (12, 9)), ((12, 9), (12, 9)), ((13, 0), (13, 5)), ((14, 1), (13, 5)), (None, (13, 0))],
)
def test_the_newest_nvrtc_a_driver_can_load_is_chosen_and_the_first_where_there_is_none(
    machine: Machine, driver_version: tuple[int, int] | None, chosen: tuple[int, int]
) -> None:
    machine.has((13, 0), (12, 4), (12, 9), (13, 5))
    assert machine.chosen(driver_version) == chosen


def test_headers_of_the_same_release_count_more_than_a_newer_minor_release(machine: Machine) -> None:
    machine.has((13, 0), (12, 9))
    machine.has((13, 5), headers=(13, 0), of="other-")
    assert machine.chosen((13, 0)) == (13, 0)


def test_an_nvrtc_without_headers_is_passed_over(machine: Machine) -> None:
    machine.has((13, 0))
    machine.installed.append(replace(machine.installed[0], version=(13, 5), include=(), header_version=None))
    assert machine.chosen((13, 0)) == (13, 0)
    machine.installed = machine.installed[1:]
    with pytest.raises(EnvironmentFault, match="CUDA headers: expected cuda_runtime_api"):
        find_toolchain({"XDG_CACHE_HOME": str(machine.folder / "empty")}, (13, 0))


def test_no_nvrtc_for_the_driver_says_what_is_there_and_what_to_install(machine: Machine) -> None:
    machine.has((13, 0), (13, 5))
    with pytest.raises(EnvironmentFault) as caught:
        machine.chosen((12, 4))
    text = str(caught.value)
    assert "expected one of CUDA 12, as the driver supports CUDA 12.4, got 13.0 (" in text
    assert f"13.5 ({machine.folder}/libnvrtc.so.13.5)" in text
    assert "pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12" in text


def test_the_release_to_install_is_the_drivers(machine: Machine) -> None:
    machine.has((15, 0))
    with pytest.raises(EnvironmentFault) as caught:
        machine.chosen((14, 1))
    assert "expected one of CUDA 14 or older" in str(caught.value)
    assert 'pip install "cuda-toolkit[nvrtc,cudart,crt,cccl]>=14,<15"' in str(caught.value)


def test_an_nvrtc_older_than_any_driver_we_know_is_not_chosen(machine: Machine) -> None:
    machine.has((11, 8))
    with pytest.raises(EnvironmentFault, match="expected one of CUDA 13 or older"):
        machine.chosen((13, 0))


def test_a_named_library_that_the_driver_cannot_load_is_refused(machine: Machine) -> None:
    machine.has((13, 5))
    environ = {**machine.environ, "CUDAOPT_NVRTC": machine.installed[0].nvrtc}
    with pytest.raises(EnvironmentFault, match=r"supports CUDA 12.4, got 13.5 .* Correct CUDAOPT_NVRTC"):
        find_toolchain(environ, (12, 4))


def test_a_driver_that_is_too_old_says_what_is_needed(machine: Machine) -> None:
    machine.has((12, 9))
    with pytest.raises(EnvironmentFault) as caught:
        machine.chosen((11, 8))
    assert str(caught.value) == (
        "CUDA driver: expected one for CUDA 12.0 or newer (525.60 or newer on Linux), got one for CUDA 11.8. "
        "Update the NVIDIA driver, or use --cudaopt-device sim, which needs none"
    )


def test_choices_are_remembered_for_each_driver_major(machine: Machine) -> None:
    machine.has((13, 5), (12, 9))
    for version in ((13, 0), (13, 1), (12, 4), (13, 0), None, (12, 0), None):
        machine.chosen(version)
    assert machine.searches == 3


def test_an_older_choice_is_not_kept_when_a_better_nvrtc_is_installed(machine: Machine) -> None:
    machine.has((12, 9))
    assert machine.chosen((13, 0)) == (12, 9)
    machine.has((13, 5))
    assert machine.chosen((13, 0)) == (13, 5)


def test_the_toolchain_of_a_request_is_its_devices(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has((13, 5), (12, 9))
    monkeypatch.setattr(driver, "driver_version", lambda environ: (12, 4))
    assert toolchain_for("sim", machine.environ).version == (13, 5)
    assert toolchain_for("cuda:1", machine.environ).version == (12, 9)
    monkeypatch.setattr(driver, "driver_version", lambda environ: None)
    assert toolchain_for("cuda:0", machine.environ).version == (13, 5)


def test_headers_are_found_in_any_folder_of_the_toolchain(tmp_path: Path) -> None:
    (tmp_path / "one" / "sub").mkdir(parents=True)
    (tmp_path / "one" / "sub" / "x.h").touch()
    folders = (str(tmp_path), str(tmp_path / "one"))
    chosen = Toolchain("libnvrtc.so", (13, 0), folders, None, "")
    found = [name for name in ("sub/x.h", "one/sub/x.h", "x.h", "sub") if chosen.has_header(name)]
    assert found == ["sub/x.h", "one/sub/x.h"]
