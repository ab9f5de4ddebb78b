"""Atomic writes: whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pytest_cudaopt.durable import append_line, write_atomically


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "best.cu"
    write_atomically(file, "old")
    write_atomically(file, b"new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "best.cu"
    file.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_mode_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    write_atomically(file, "x", mode=0o640)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_lines_are_appended(tmp_path: Path) -> None:
    append_line(tmp_path / "h", "one")
    append_line(tmp_path / "h", "two")
    assert (tmp_path / "h").read_text() == "one\ntwo\n"
