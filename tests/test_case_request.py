"""The patterns outputs hold before a launch: what each type reads in them."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cudaopt.buffers import FINITE_POISON, poison_of
from pytest_cudaopt.dtypes import ALL, DType, bool_, f64


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_float], ids=str)
def test_poison_is_nan_in_every_float_type(dtype: DType) -> None:
    pattern = bytes.fromhex(poison_of(dtype)) * f64.itemsize
    values = np.frombuffer(pattern, dtype.numpy).astype(np.float64)
    assert np.isnan(values).all()


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_float], ids=str)
def test_the_second_poison_is_a_normal_number_in_every_float_type(dtype: DType) -> None:
    pattern = bytes.fromhex(FINITE_POISON) * (f64.itemsize // 2)
    values = np.frombuffer(pattern, dtype.numpy).astype(np.float64)
    assert np.isfinite(values).all()
    assert (np.abs(values) > 1e-30).all()


def test_poison_is_no_bool() -> None:
    assert all(byte > 1 for byte in bytes.fromhex(poison_of(bool_)))
