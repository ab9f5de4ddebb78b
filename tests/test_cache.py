"""The user's cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_cudaopt.cache import cache_folder, remember


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/pytest-cudaopt"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/pytest-cudaopt"),
        ({"HOME": "/h"}, "/h/.cache/pytest-cudaopt"),
    ],
)
def test_the_folder_follows_the_environment(environ: dict[str, str], folder: str) -> None:
    assert cache_folder(environ) == Path(folder)


def test_a_write_makes_folders_and_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    assert remember(path, b"first")
    assert remember(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert not remember(tmp_path / "file" / "b", b"")


def test_a_failed_replacement_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert not remember(tmp_path / "folder", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
