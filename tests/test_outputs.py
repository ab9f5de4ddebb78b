"""What a second launch wrote, where that is other than what the first did."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt.dtypes import f32
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.outputs import read_changed

PREPARED: Any = SimpleNamespace(
    arguments=SimpleNamespace(
        outputs=[SimpleNamespace(name=name, dtype=f32) for name in "yz"],
        shapes={"y": (2,), "z": (2,)},
        layouts={},
    ),
)
FIRST = {name: np.zeros(2, np.float32) for name in "yz"}


def files(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.bin" for name in "yz"}


def test_without_a_change_no_file_is_needed(tmp_path: Path) -> None:
    assert read_changed(files(tmp_path), PREPARED, FIRST, []) is None


def test_what_did_not_change_is_that_of_the_first_launch(tmp_path: Path) -> None:
    np.ones(2, np.float32).tofile(tmp_path / "z.bin")
    outputs = read_changed(files(tmp_path), PREPARED, FIRST, ["z"])
    assert outputs is not None
    assert list(outputs) == ["y", "z"]
    assert outputs["y"] is FIRST["y"]
    assert outputs["z"].tolist() == [1, 1]


def test_a_change_without_its_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="output 'y'"):
        read_changed(files(tmp_path), PREPARED, FIRST, ["y"])
