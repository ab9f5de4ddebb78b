"""Where NVRTC and headers are looked for, in made-up folders and in this environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt import nvrtc_search
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.nvrtc_search import header_version, headers_of, search


def _make(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def _names(found: list[Path], root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in found]


def test_the_nvrtc_of_this_environment_is_found_with_its_headers() -> None:
    first = search().installed[0]
    assert Path(first.nvrtc).is_file()
    assert first.header_version == first.version
    assert any((Path(folder) / "cuda" / "std").is_dir() for folder in first.include)


def test_libraries_of_wheels_environments_and_toolkits_are_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(
        tmp_path,
        "site/nvidia/cu13/lib/libnvrtc.so.13",
        "site/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
        "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "site/nvidia/cuda_nvrtc/lib/libnvrtc.alt.so.12",
        "conda/lib/libnvrtc.so.12",
        "local/cuda-12.8/targets/x86_64-linux/lib/libnvrtc.so.12.8.93",
        "local/cuda-13.0/lib64/libnvrtc.so.13.0.48",
    )
    (tmp_path / "local/cuda-13.0/lib64/libnvrtc.so.13").symlink_to("libnvrtc.so.13.0.48")
    (tmp_path / "local/cuda").symlink_to("cuda-13.0")
    monkeypatch.setattr(nvrtc_search, "_SYSTEM_TOOLKITS", str(tmp_path / "local/cuda*"))
    environ = {"CONDA_PREFIX": str(tmp_path / "conda"), "CUDA_HOME": str(tmp_path / "local/cuda")}
    found = nvrtc_search._libraries(environ, ["", str(tmp_path / "site")])
    assert _names(found, tmp_path) == [
        "site/nvidia/cu13/lib/libnvrtc.so.13",
        "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "local/cuda/lib64/libnvrtc.so.13",
        "conda/lib/libnvrtc.so.12",
        "local/cuda-12.8/targets/x86_64-linux/lib/libnvrtc.so.12.8.93",
    ]


RUNTIME, CCCL = "cuda_runtime_api.h", "cuda/std/cstdint"


@pytest.mark.parametrize(
    ("library", "headers", "include"),
    [
        (
            "nvidia/cu13/lib/libnvrtc.so.13",
            [f"nvidia/cu13/include/{RUNTIME}", f"nvidia/cu13/include/cccl/{CCCL}"],
            ["nvidia/cu13/include", "nvidia/cu13/include/cccl"],
        ),
        (
            "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            [f"nvidia/cuda_runtime/include/{RUNTIME}", f"nvidia/cuda_cccl/include/{CCCL}"],
            ["nvidia/cuda_runtime/include", "nvidia/cuda_cccl/include"],
        ),
        (
            "cuda-12.8/lib64/libnvrtc.so.12",
            [f"cuda-12.8/include/{RUNTIME}", f"cuda-12.8/include/{CCCL}"],
            ["cuda-12.8/include"],
        ),
        (
            "cuda/targets/x86_64-linux/lib/libnvrtc.so.13",
            [
                f"cuda/targets/x86_64-linux/include/{RUNTIME}",
                f"cuda/targets/x86_64-linux/include/cccl/{CCCL}",
            ],
            ["cuda/targets/x86_64-linux/include", "cuda/targets/x86_64-linux/include/cccl"],
        ),
        (
            "conda/lib/libnvrtc.so.12",
            [f"conda/targets/sbsa-linux/include/{RUNTIME}", f"conda/targets/sbsa-linux/include/{CCCL}"],
            ["conda/targets/sbsa-linux/include"],
        ),
    ],
    ids=["wheel 13", "wheels 12", "toolkit 12", "target of toolkit 13", "conda"],
)
def test_headers_are_those_beside_the_library(
    tmp_path: Path, library: str, headers: list[str], include: list[str]
) -> None:
    _make(tmp_path, library, *headers)
    found = headers_of(tmp_path / library, {"cudart": "/other", "cccl": "/other"})
    assert [str(Path(folder).relative_to(tmp_path)) for folder in found] == include


def test_headers_that_do_not_lie_beside_the_library_come_from_elsewhere(tmp_path: Path) -> None:
    _make(tmp_path, "lib/libnvrtc.so.13", f"include/{RUNTIME}")
    elsewhere = {"cudart": "/other/include", "cccl": "/other/cccl"}
    found = headers_of(tmp_path / "lib/libnvrtc.so.13", elsewhere)
    assert found == (str(tmp_path / "include"), "/other/cccl")
    assert headers_of(tmp_path / "alone/lib/libnvrtc.so.13", elsewhere) == ("/other/include", "/other/cccl")
    assert headers_of(tmp_path / "alone/lib/libnvrtc.so.13", {}) == ()


def test_the_release_of_headers_is_read_from_them(tmp_path: Path) -> None:
    (tmp_path / RUNTIME).write_text("#define CUDART_VERSION  12080\n")
    assert header_version(["/absent", str(tmp_path)]) == (12, 8)
    assert header_version(["/absent"]) is None


def test_a_library_that_cannot_be_asked_is_a_problem_and_no_find(tmp_path: Path) -> None:
    fake = tmp_path / "libnvrtc.so.13"
    fake.write_text("no library")
    found = search(str(fake))
    assert found.installed == ()
    assert str(fake) in "; ".join(found.problems)


def test_a_child_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc_search, "_CHILD", "raise SystemExit('out of luck')")
    with pytest.raises(EnvironmentFault, match="got out of luck"):
        search()
