"""Finding NVRTC and the headers."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import toolchain
from pytest_cudaopt.cache import cache_folder
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.toolchain import Toolchain, find_toolchain


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


def _no_search(given: str) -> Toolchain:
    raise AssertionError("searched again")


def test_nvrtc_and_its_headers_are_found(environ: dict[str, str]) -> None:
    found = find_toolchain(environ)
    assert Path(found.nvrtc).is_file()
    assert found.version >= (13, 0)
    assert any((Path(folder) / "cuda_fp16.h").is_file() for folder in found.include)
    assert any((Path(folder) / "cuda" / "std").is_dir() for folder in found.include)


def test_what_was_found_is_remembered(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_toolchain(environ)
    monkeypatch.setattr(toolchain, "_search", _no_search)
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
    monkeypatch.setattr(toolchain, "_search", _no_search)
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


def test_a_child_that_fails_is_quoted(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "_SEARCH", "raise SystemExit('out of luck')")
    with pytest.raises(EnvironmentFault, match="got out of luck"):
        find_toolchain({"XDG_CACHE_HOME": str(tmp_path / "empty")})


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
