"""Floats of 8 bits as CUDA stores them, and units in the last place of every float."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from pytest_cudaopt.dtypes import ALL, DType, bf16, f8e4m3, f8e5m2, f16, f32, f64
from pytest_cudaopt.rounding import round_to, spacing, stored

INF, NAN = math.inf, math.nan
EIGHT = (f8e4m3, f8e5m2)


@pytest.mark.parametrize(
    ("dtype", "value", "rounded"),
    [
        (f8e4m3, 1000.0, 448.0),
        (f8e4m3, -1e300, -448.0),
        (f8e4m3, INF, 448.0),
        (f8e4m3, 464.0, 448.0),
        (f8e4m3, 0.001, 2.0**-9),
        (f8e4m3, 2.0**-10, 0.0),
        (f8e4m3, 1.0625, 1.0),
        (f8e4m3, 1.1875, 1.25),
        (f8e5m2, 1e6, 57344.0),
        (f8e5m2, -INF, -57344.0),
        (f8e5m2, 61440.0, 57344.0),
        (f8e5m2, 1.125, 1.0),
        (f8e5m2, 1.375, 1.5),
        (f8e5m2, 2.0**-17, 0.0),
    ],
    ids=str,
)
def test_eight_bits_round_to_even_and_saturate(dtype: DType, value: float, rounded: float) -> None:
    assert float(round_to(dtype, np.array([value]))[0]) == rounded
    assert float(stored(dtype, np.array([value]))[0]) == rounded


@pytest.mark.parametrize("dtype", EIGHT, ids=str)
def test_eight_bits_keep_nan_and_the_sign_of_zero(dtype: DType) -> None:
    assert math.isnan(float(round_to(dtype, np.array([NAN]))[0]))
    assert dtype.bit_patterns(round_to(dtype, np.array([-0.0])))[0] == 0x80


@pytest.mark.parametrize("dtype", EIGHT, ids=str)
def test_eight_bits_are_rounded_once(dtype: DType) -> None:
    # Just above the middle of two numbers, by less than float32 can hold.
    middle = 1 + 2.0 ** -(dtype.mantissa_bits + 1)
    assert float(round_to(dtype, np.array([middle]))[0]) == 1.0
    assert float(round_to(dtype, np.array([middle + 2.0**-40]))[0]) == 1 + 2.0**-dtype.mantissa_bits


@pytest.mark.parametrize("dtype", EIGHT, ids=str)
def test_every_number_of_eight_bits_rounds_to_itself(dtype: DType) -> None:
    every = np.arange(256, dtype=np.uint8).view(dtype.numpy)
    finite = every[np.isfinite(every.astype(np.float64))]
    assert np.array_equal(
        dtype.bit_patterns(round_to(dtype, finite.astype(np.float64))), dtype.bit_patterns(finite)
    )


@pytest.mark.parametrize(
    ("dtype", "largest", "least"),
    [
        (f8e4m3, 448.0, -6),
        (f8e5m2, 57344.0, -14),
        (f16, 65504.0, -14),
        (bf16, float(ml_dtypes.finfo(ml_dtypes.bfloat16).max), -126),
        (f32, float(np.finfo(np.float32).max), -126),
        (f64, float(np.finfo(np.float64).max), -1022),
    ],
    ids=str,
)
def test_the_range_is_that_of_the_type(dtype: DType, largest: float, least: int) -> None:
    assert (dtype.largest, dtype.least_exponent) == (largest, least)
    assert dtype.saturates is (dtype in EIGHT)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_float], ids=str)
def test_the_spacing_is_the_distance_to_the_next_number(dtype: DType) -> None:
    here = np.array([0.0, 1.0, 1.5, 3.0, 100.0, dtype.numpy.type(2.0) ** dtype.least_exponent])
    here = here.astype(dtype.numpy)
    following = (dtype.bit_patterns(here) + 1).view(dtype.numpy)
    distance = following.astype(np.float64) - here.astype(np.float64)
    np.testing.assert_array_equal(spacing(dtype, here.astype(np.float64)), distance)
    assert np.isnan(spacing(dtype, np.array([INF, NAN]))).all()


def test_other_types_convert_as_numpy_does() -> None:
    values = np.array([1.7, -1.2, 300.0])
    for dtype in (f16, f32, bf16):
        np.testing.assert_array_equal(stored(dtype, values), values.astype(dtype.numpy))
