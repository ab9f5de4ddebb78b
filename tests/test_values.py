"""Generators of input values, and what users' callables may return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pytest_cudaopt import integers, normal, uniform
from pytest_cudaopt.dtypes import ALL, DType, bf16, bool_, f8e4m3, f16, f32, i8, i32, i64, u8, u64
from pytest_cudaopt.errors import CudaoptError, DeclarationError
from pytest_cudaopt.values import Drawing, as_source, default_source


def drawing(dtype: DType, *shape: int, seed: int = 1, **sizes: int) -> Drawing:
    return Drawing(np.random.default_rng(seed), sizes, {}, shape, dtype)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_the_default_gives_the_wanted_shape_and_dtype(dtype: DType) -> None:
    array = default_source(dtype).draw(drawing(dtype, 3, 5))
    assert (array.shape, array.dtype) == ((3, 5), dtype.numpy)


def test_the_same_generator_state_gives_the_same_bytes() -> None:
    first, again, other = (normal().draw(drawing(f32, 100, seed=s)).tobytes() for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_uniform_stays_in_its_bounds() -> None:
    array = uniform(2, 3).draw(drawing(f32, 10_000))
    assert 2 <= array.min() < 2.01
    assert 2.99 < array.max() <= 3


def test_normal_has_its_mean_and_deviation() -> None:
    array = normal(5, 2).draw(drawing(f32, 100_000))
    assert abs(array.mean() - 5) < 0.05
    assert abs(array.std() - 2) < 0.05


def test_ends_and_deviations_of_floats_may_depend_on_sizes() -> None:
    spread = uniform(0, "n").draw(drawing(f32, 10_000, n=50))
    assert 0 <= spread.min() < 0.1
    assert 49.9 < spread.max() <= 50
    bell = normal("2*n", "n").draw(drawing(f32, 100_000, n=50))
    assert abs(bell.mean() - 100) < 1
    assert abs(bell.std() - 50) < 1
    assert [str(one) for one in uniform("-n", 3.5).expressions] == ["-n"]
    assert uniform(0.5, 1).expressions == normal(0, 1).expressions == ()


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: uniform(1, 0), "uniform(1, 0): expected low <= high, got 1 > 0"),
        (
            lambda: uniform(5, float("inf")),
            "uniform(high=): expected a finite number, or text over sizes, got inf",
        ),
        (lambda: uniform(None, 1), "uniform(low=): expected a finite number, or text over sizes, got None"),
        (lambda: uniform(True, 1), "uniform(low=): expected a finite number, or text over sizes, got True"),
        (lambda: uniform(0, 10**400), "uniform(high=): expected a finite number"),
        (lambda: uniform(-1.7e308, 1.7e308), "expected ends whose distance is a float64, got inf"),
        (
            lambda: normal(float("nan"), 1),
            "normal(mean=): expected a finite number, or text over sizes, got nan",
        ),
        (lambda: normal(0, -1), "normal(0, -1): expected a deviation >= 0, got -1"),
        (lambda: uniform(0, "n +"), "expression 'n +': expected a number, a name or '('"),
    ],
)
def test_floats_that_cannot_be_drawn_are_refused_where_they_are_written(
    make: Callable[[], object], complaint: str
) -> None:
    with pytest.raises(CudaoptError) as caught:
        make()
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (uniform("n", 1), "uniform(n, 1.0): expected low <= high, got 4 > 1 for sizes {'n': 4}"),
        (
            uniform(0, "1/n"),
            "expected low < high, got both 0 for sizes {'n': 4}. Expressions are integers: 1/2",
        ),
        (normal(0, "1/n"), "expected a deviation > 0, got 0 for sizes {'n': 4}. Expressions are integers"),
        (normal(0, "2 - n"), "normal(0.0, 2 - n): expected a deviation >= 0, got -2 for sizes {'n': 4}"),
        (uniform(0, f"n*{10**400}"), "expected finite numbers, got a number beyond all floats for sizes"),
    ],
)
def test_floats_that_cannot_be_drawn_at_some_sizes_are_refused_with_them(source: Any, complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        source.draw(drawing(f32, 3, n=4))
    assert complaint in str(caught.value)


def test_integers_include_both_ends_and_may_depend_on_sizes() -> None:
    array = integers(0, "n - 1").draw(drawing(i32, 1000, n=3))
    assert sorted(set(array.tolist())) == [0, 1, 2]


def test_integers_refuse_an_empty_range_with_its_values() -> None:
    with pytest.raises(DeclarationError, match=r"integers\(0, n - 1\): expected low <= high, got 0 > -1"):
        integers(0, "n - 1").draw(drawing(i32, 4, n=0))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [(u8, 0, 256), (i8, -129, 0), (u64, -1, 5), (u64, 0, 2**64), (i32, 0, 2**31)],
    ids=str,
)
def test_integers_a_dtype_cannot_hold_are_refused_and_not_wrapped(dtype: DType, low: int, high: int) -> None:
    with pytest.raises(DeclarationError, match=f"values a {dtype} can hold"):
        integers(low, high).draw(drawing(dtype, 4))


def test_integers_reach_both_ends_of_the_widest_types() -> None:
    for dtype, low, high in ((u64, 2**64 - 1, 2**64 - 1), (i64, -(2**63), -(2**63))):
        assert integers(low, high).draw(drawing(dtype, 3)).tolist() == [low] * 3


def test_default_integers_fit_the_narrowest_type() -> None:
    for dtype in (i8, u8):
        array = default_source(dtype).draw(drawing(dtype, 1000)).astype(int)
        assert bool(array.min() < 0) is (dtype is i8)
        assert array.max() <= 100


@pytest.mark.parametrize(
    ("dtype", "returned"),
    [
        (f32, np.zeros(4, np.float32)),
        (f32, np.zeros(4)),
        (f32, [1, 2, 3, 4]),
        (f16, np.zeros(4)),
        (bf16, np.zeros(4)),
        (bf16, np.zeros(4, ml_dtypes.bfloat16)),
        (i32, np.zeros(4, np.int64)),
        (bool_, np.zeros(4, bool)),
    ],
)
def test_a_callable_may_return_what_converts_without_changing_kind(dtype: DType, returned: Any) -> None:
    array = as_source(lambda rng, sizes, drawn: returned).draw(drawing(dtype, 4))
    assert array.dtype == dtype.numpy


@pytest.mark.parametrize(
    ("dtype", "returned", "complaint"),
    [
        (f32, np.zeros(3), "expected an array of shape (4,), got shape (3,)"),
        (i32, np.zeros(4), "expected dtype i32 or one that converts to it"),
        (bool_, np.zeros(4, int), "expected dtype bool_"),
        (f32, np.zeros(4, complex), "expected dtype f32"),
    ],
)
def test_a_callable_that_returns_something_else_is_refused(
    dtype: DType, returned: Any, complaint: str
) -> None:
    def wrongly(rng: Any, sizes: Any, drawn: Any) -> Any:
        return returned

    with pytest.raises(DeclarationError) as caught:
        as_source(wrongly).draw(drawing(dtype, 4))
    assert "values= callable wrongly" in str(caught.value)
    assert complaint in str(caught.value)


def test_a_callable_sees_sizes_and_earlier_arrays_as_copies() -> None:
    earlier = {"offsets": np.arange(3)}
    seen: dict[str, Any] = {}

    def look(rng: Any, sizes: Any, drawn: Any) -> Any:
        seen.update(sizes=sizes, drawn=drawn)
        return np.zeros(2)

    as_source(look).draw(Drawing(np.random.default_rng(0), {"n": 2}, earlier, (2,), f32))
    assert seen["sizes"] == {"n": 2}
    assert seen["drawn"]["offsets"] is earlier["offsets"]
    assert seen["drawn"] is not earlier


def test_a_callable_that_raises_is_a_wrong_declaration_with_its_own_frames() -> None:
    def broken(rng: Any, sizes: Any, drawn: Any) -> Any:
        return sizes["rows"]

    with pytest.raises(DeclarationError) as caught:
        as_source(broken).draw(drawing(f32, 4))
    assert "values= callable broken: expected no exception, got KeyError: 'rows'" in str(caught.value)
    assert 'return sizes["rows"]' in str(caught.value)


def test_values_beyond_eight_bits_saturate_as_in_a_kernel() -> None:
    for source in (uniform(-1e4, 1e4), integers(-10_000, 10_000), as_source(lambda *_: np.full(50, 1e9))):
        drawn = source.draw(drawing(f8e4m3, 50)).astype(np.float64)
        assert np.isfinite(drawn).all()
        assert np.abs(drawn).max() == 448
