"""Asking the driver for its version, against libraries made for it."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_cudaopt import driver


def _library(number: int, status: int = 0) -> SimpleNamespace:
    def get_version(out: Any) -> int:
        ctypes.cast(out, ctypes.POINTER(ctypes.c_int))[0] = number
        return status

    return SimpleNamespace(cuDriverGetVersion=get_version)


@pytest.mark.parametrize(
    ("number", "status", "version"),
    [(13000, 0, (13, 0)), (12040, 0, (12, 4)), (11080, 0, (11, 8)), (13000, 34, None), (0, 0, None)],
)
def test_the_version_is_read_and_a_library_that_gives_none_is_no_driver(
    number: int, status: int, version: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: _library(number, status))
    assert driver.driver_version({}) == version


def test_no_library_or_one_that_is_no_driver_is_no_driver() -> None:
    assert driver.driver_version({"CUDAOPT_DRIVER": "/absent/libcuda.so.1"}) is None
    assert driver.driver_version({"CUDAOPT_DRIVER": "libc.so.6"}) is None


def test_the_environment_names_another_library() -> None:
    assert driver.library({}) == "libcuda.so.1"
    assert driver.library({"CUDAOPT_DRIVER": "/made/up.so"}) == "/made/up.so"


@pytest.mark.parametrize(
    ("listed", "number"),
    [
        (None, None),
        ("", 0),
        ("0", 1),
        ("2, 5", 2),
        ("GPU-4f,GPU-07", 2),
        ("0,-1,2", 1),
        ("-1", 0),
        ("3,,1", 1),
    ],
)
def test_the_list_of_visible_gpus_ends_where_the_driver_stops_reading(
    listed: str | None, number: int | None
) -> None:
    environ = {} if listed is None else {"CUDA_VISIBLE_DEVICES": listed}
    assert driver.visible_count(environ) == number
