"""Element types against their NumPy and CUDA twins."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pytest_cudaopt import dtypes
from pytest_cudaopt.dtypes import ALL, BY_NAME, DType, bf16, bool_, f16, f32, f64, i64, u8


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_the_numpy_twin_has_the_same_width(dtype: DType) -> None:
    assert dtype.numpy.itemsize == dtype.itemsize == dtype.bits // 8
    assert BY_NAME[dtype.name] is dtype
    assert getattr(dtypes, dtype.name) is dtype


@pytest.mark.parametrize(
    ("dtype", "numpy"),
    [(f16, np.float16), (f32, np.float32), (f64, np.float64), (i64, np.int64), (u8, np.uint8), (bool_, bool)],
    ids=str,
)
def test_the_numpy_twin_is_the_usual_one(dtype: DType, numpy: type) -> None:
    assert dtype.numpy == np.dtype(numpy)


def test_bf16_comes_from_ml_dtypes() -> None:
    assert bf16.numpy == np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", [f16, f32, f64], ids=str)
def test_mantissa_bits_are_those_of_numpy(dtype: DType) -> None:
    assert dtype.mantissa_bits == np.finfo(dtype.numpy).nmant


def test_mantissa_bits_of_bf16_give_its_epsilon() -> None:
    assert 2.0**-bf16.mantissa_bits == float(ml_dtypes.finfo(ml_dtypes.bfloat16).eps)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_a_reference_computes_floats_in_float64_and_the_rest_as_stored(dtype: DType) -> None:
    assert dtype.oracle == (np.dtype(np.float64) if dtype.is_float else dtype.numpy)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_tolerances_belong_to_floats_only(dtype: DType) -> None:
    assert (dtype.rtol > 0 and dtype.atol > 0) is dtype.is_float


def test_bit_patterns_show_the_bits() -> None:
    ones = {f16: 0x3C00, bf16: 0x3F80, f32: 0x3F800000, f64: 0x3FF0000000000000}
    for dtype, bits in ones.items():
        assert dtype.bit_patterns(np.ones(1, dtype.numpy))[0] == bits


def test_dtypes_compare_by_value_and_print_their_name() -> None:
    assert str(bf16) == "bf16"
    assert f32 != f64
    assert len(set(ALL)) == len(ALL)
