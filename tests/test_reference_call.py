"""References of every callable kind, and outputs of other array libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, bf16, case, f8e4m3, f16, f32, i32, kernel
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.reference import compute_expected


class Scaling:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def scale(self, x):
        return self.factor * x

    def __call__(self, *, x, y, n):
        assert (y.shape, n) == ((4,), 4)
        y[...] = self.scale(x)


def _scaled(x, y, factor):
    y[...] = factor * x


def _everything(**given):
    assert list(given) == ["n", "x", "y"]
    return 2 * given["x"]


class Tensor:
    """As much of a PyTorch tensor as is asked for: on another device, with a gradient, of any dtype."""

    def __init__(self, array: Any, *, is_here: bool = False, is_wide: bool = False) -> None:
        self._array, self._is_here, self._is_wide = array, is_here, is_wide

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return Tensor(self._array, is_here=True)

    def is_floating_point(self) -> bool:
        return bool(self._array.dtype.kind not in "iub")

    def double(self) -> Tensor:
        return Tensor(self._array.astype(np.float64), is_here=self._is_here, is_wide=True)

    def numpy(self) -> Any:
        assert self._is_here
        assert self._is_wide or not self.is_floating_point()
        return self._array


class DeviceArray:
    """As much of a CuPy array as is asked for; NumPy must not convert it by itself."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.__cuda_array_interface__ = {"version": 3}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def get(self) -> Any:
        return self._array


def declare(reference: Callable[..., Any], dtype: DType = f32, **how: Any) -> Kernel:
    @kernel("a.cu", cases=[case(n=4)], reference=reference)
    def doubles(x=In(dtype, "n", **how), y=Out(dtype, "n", **how), n=i32): ...

    return doubles


@pytest.mark.parametrize(
    "reference",
    [
        Scaling(2.0).scale,
        Scaling(2.0),
        functools.partial(_scaled, factor=2.0),
        lambda x: 2 * x,
        lambda n, x: 2 * x,
        _everything,
        lambda x: Tensor(2 * x),
        lambda x: {"y": DeviceArray(2 * x)},
    ],
    ids=["method", "object", "partial", "lambda", "order", "keywords", "tensor", "device-array"],
)
def test_a_reference_is_called_by_the_names_it_takes(reference: Callable[..., Any]) -> None:
    declared = declare(reference)
    bound = bind(declared, declared.cases[0])
    expected = compute_expected(declared, bound).arrays["y"]
    np.testing.assert_array_equal(expected, 2 * bound.arrays["x"].astype(np.float64))


@pytest.mark.parametrize("dtype", [f16, bf16, f8e4m3, f32], ids=str)
def test_a_stored_oracle_sees_and_gives_the_stored_dtype(dtype: DType) -> None:
    seen: dict[str, Any] = {}

    def reference(x, y):
        seen.update(x=x.dtype, y=y.dtype)
        y.view(f"u{dtype.itemsize}")[...] = x.view(f"u{dtype.itemsize}") ^ 1

    declared = declare(reference, dtype, oracle="stored")
    bound = bind(declared, declared.cases[0])
    expected = compute_expected(declared, bound).arrays["y"]
    assert seen == {"x": dtype.numpy, "y": dtype.numpy}
    np.testing.assert_array_equal(dtype.bit_patterns(expected), dtype.bit_patterns(bound.arrays["x"]) ^ 1)


@pytest.mark.parametrize("dtype", [f16, bf16, f8e4m3, f32], ids=str)
def test_elements_a_stored_oracle_leaves_out_are_found(dtype: DType) -> None:
    def reference(y):
        y[1:] = 1

    declared = declare(reference, dtype, oracle="stored")
    with pytest.raises(ReferenceFault, match=r"got 1 of 4 left unwritten, the first at \[0\]"):
        compute_expected(declared, bind(declared, declared.cases[0]))


def test_a_stored_oracle_saturates_what_is_returned() -> None:
    declared = declare(lambda x: np.full(4, 1e9), f8e4m3, oracle="stored")
    assert compute_expected(declared, bind(declared, declared.cases[0])).arrays["y"].astype(float)[0] == 448
