"""Comparisons: what is accepted, what is reported, for every dtype."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pytest_cudaopt import Out, validate
from pytest_cudaopt.criterion import Criterion
from pytest_cudaopt.dtypes import (
    ALL,
    DType,
    bf16,
    bool_,
    f8e4m3,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    u8,
    u64,
)
from pytest_cudaopt.evaluation import Comparison
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.rounding import round_to

INF, NAN = math.inf, math.nan
FLOATS = [dtype for dtype in ALL if dtype.is_float]
WIDER = [dtype for dtype in FLOATS if not dtype.saturates]


def output(dtype: DType, *, exact: bool = False) -> Parameter:
    return Parameter.named("y", Out(dtype, "n", exact=exact))


def compare(parameter: Parameter, expected: Any, got: Any, rtol: float, atol: float) -> Comparison:
    return validate.compare(parameter, expected, got, Criterion(rtol, atol, exact=parameter.exact))


def judged(
    dtype: DType, expected: Any, got: Any, rtol: float = 0.0, atol: float = 0.0, exact: bool = False
) -> Comparison:
    """Compare two lists, `got` stored as it would come back from a device."""
    stored = np.asarray(got).astype(dtype.numpy)
    return compare(output(dtype, exact=exact), np.asarray(expected, dtype.oracle), stored, rtol, atol)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("exact", [False, True])
def test_the_rounded_reference_always_matches(dtype: DType, exact: bool) -> None:
    values = np.random.default_rng(1).normal(size=1000) * 50
    expected = values.astype(dtype.oracle) if dtype.kind != "uint" else np.abs(values).astype(dtype.oracle)
    stored = round_to(dtype, expected) if dtype.is_float else expected
    comparison = compare(output(dtype, exact=exact), expected, stored, 0.0, 0.0)
    assert comparison.matches
    assert (comparison.elements, comparison.worst, comparison.first) == (1000, None, ())


@pytest.mark.parametrize("dtype", WIDER, ids=str)
@pytest.mark.parametrize(
    ("expected", "got", "matches"),
    [
        (1.0, 1.0, True),
        (1.0, 1.25, False),
        (NAN, NAN, True),
        (NAN, 0.0, False),
        (NAN, INF, False),
        (0.0, NAN, False),
        (INF, INF, True),
        (INF, -INF, False),
        (-INF, -INF, True),
        (INF, 60000.0, False),
        (1.0, INF, False),
        (0.0, -0.0, True),
    ],
)
def test_floats_are_judged_strictly_about_the_non_finite(
    dtype: DType, expected: float, got: float, matches: bool
) -> None:
    assert judged(dtype, [expected], [got], rtol=0.1, atol=0.1).matches is matches


@pytest.mark.parametrize(
    ("dtype", "too_large"), [(f16, 1e5), (bf16, 1e39), (f32, 1e39), (f32, -1e300)], ids=str
)
def test_a_reference_beyond_the_range_asks_for_infinity(dtype: DType, too_large: float) -> None:
    most = float(ml_dtypes.finfo(dtype.numpy).max)
    assert judged(dtype, [too_large], [math.copysign(INF, too_large)], rtol=1e-3).matches
    assert not judged(dtype, [too_large], [math.copysign(most, too_large)], rtol=1e-3).matches
    assert not judged(dtype, [too_large], [NAN], rtol=1e-3).matches


def test_at_the_edge_of_the_range_either_neighbour_is_within_tolerance() -> None:
    # 65520 is where f16 starts to round to infinity.
    assert judged(f16, [65519.0], [INF], rtol=1e-3).matches
    assert judged(f16, [65521.0], [65504.0], rtol=1e-3).matches
    assert not judged(f16, [65000.0], [INF], rtol=1e-3).matches


@pytest.mark.parametrize(
    ("expected", "got", "rtol", "atol", "matches"),
    [
        (1000.0, 1009.0, 0.01, 0.0, True),
        (1000.0, 1011.0, 0.01, 0.0, False),
        (0.0, 0.009, 0.01, 0.0, False),
        (0.0, 0.009, 0.0, 0.01, True),
        (100.0, 101.5, 0.01, 1.0, True),
        (100.0, 102.5, 0.01, 1.0, False),
        (-100.0, -102.5, 0.01, 1.0, False),
    ],
)
def test_tolerance_is_absolute_plus_relative_to_the_reference(
    expected: float, got: float, rtol: float, atol: float, matches: bool
) -> None:
    assert judged(f64, [expected], [got], rtol, atol).matches is matches


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact_means_the_bits_of_the_rounded_reference(dtype: DType) -> None:
    third = round_to(dtype, np.array([1 / 3]))
    neighbour = (dtype.bit_patterns(third) + 1).view(dtype.numpy)
    expected = np.array([1 / 3])
    assert compare(output(dtype, exact=True), expected, third, 1.0, 1.0).matches
    assert not compare(output(dtype, exact=True), expected, neighbour, 1.0, 1.0).matches
    assert compare(output(dtype), expected, neighbour, 1.0, 1.0).matches


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact_tells_zeros_apart_but_not_nans(dtype: DType) -> None:
    assert not judged(dtype, [0.0], [-0.0], exact=True).matches
    assert judged(dtype, [-0.0], [-0.0], exact=True).matches
    quiet = np.array([NAN]).astype(dtype.numpy)
    # The lowest bit, or of e4m3, which has one NaN of either sign, that sign.
    changed = 0x80 if dtype.name == "f8e4m3" else 1
    payload = (dtype.bit_patterns(quiet) ^ changed).view(dtype.numpy)
    assert compare(output(dtype, exact=True), np.array([NAN]), payload, 0, 0).matches


def test_bf16_is_rounded_once() -> None:
    # Just above the middle of two bf16 numbers, by less than float32 can hold.
    value = 1 + 2.0**-8 + 2.0**-40
    assert float(np.array([value]).astype(ml_dtypes.bfloat16)[0]) == 1.0
    assert float(round_to(bf16, np.array([value]))[0]) == 1 + 2.0**-7
    assert float(round_to(bf16, np.array([-value]))[0]) == -(1 + 2.0**-7)


@pytest.mark.parametrize("value", [0.0, -0.0, INF, -INF, 1e39, -1e39, 3.4e38, 1e-45, 9.2e-41, -1e-300])
def test_bf16_rounding_of_special_values_agrees_with_ml_dtypes(value: float) -> None:
    ours = round_to(bf16, np.array([value]))
    with np.errstate(over="ignore"):
        assert ours.tobytes() == np.array([value]).astype(ml_dtypes.bfloat16).tobytes()


def test_bf16_rounding_keeps_nan() -> None:
    assert math.isnan(float(round_to(bf16, np.array([NAN]))[0]))


@pytest.mark.parametrize(
    ("dtype", "expected", "got", "absolute"),
    [
        (i8, -128, 127, 255.0),
        (u8, 0, 255, 255.0),
        (i32, -(2**31), 2**31 - 1, float(2**32 - 1)),
        (i64, -(2**63), 2**63 - 1, float(2**64 - 1)),
        (u64, 2**64 - 1, 0, float(2**64 - 1)),
        (i64, 2**62 + 1, 2**62, 1.0),
    ],
    ids=str,
)
def test_integer_distances_do_not_wrap(dtype: DType, expected: int, got: int, absolute: float) -> None:
    comparison = compare(
        output(dtype), np.array([expected], dtype.numpy), np.array([got], dtype.numpy), 0.0, 0.0
    )
    assert comparison.worst is not None
    assert (comparison.worst.expected, comparison.worst.got) == (expected, got)
    assert comparison.worst.absolute == comparison.max_absolute == absolute
    assert comparison.worst.ulp is None


def test_integers_may_be_given_a_tolerance() -> None:
    assert judged(i8, [100, 0], [101, -1], atol=1.0).matches
    assert judged(i8, [100], [102], atol=1.0).mismatched == 1
    assert judged(i8, [100], [101], atol=1.0, exact=True).mismatched == 1
    assert judged(i32, [1000], [1010], rtol=0.01).matches


def test_a_bool_is_stored_as_zero_or_one() -> None:
    expected = np.array([True, False, True, False])
    got = np.array([1, 0, 0x7F, 0xF9], np.uint8).view(bool)
    comparison = compare(output(bool_), expected, got, 1.0, 1.0)
    assert comparison.mismatched == 2
    assert [(m.index, m.expected, m.got) for m in comparison.first] == [
        ((2,), True, 127),
        ((3,), False, 249),
    ]


def test_a_wrong_bool_is_shown_as_a_bool() -> None:
    worst = judged(bool_, [True], [False]).worst
    assert worst is not None
    assert worst.got is False


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_no_elements_always_match(dtype: DType) -> None:
    comparison = compare(
        output(dtype), np.empty((0, 5), dtype.oracle), np.empty((0, 5), dtype.numpy), 0.0, 0.0
    )
    assert comparison.matches
    assert comparison.elements == 0


def test_the_worst_is_the_one_furthest_beyond_its_tolerance() -> None:
    # Off by 3 where 1 is allowed, and by 0.5 where 0.01 is.
    comparison = judged(f64, [100.0, 1.0, 5.0], [103.0, 1.5, 5.0], rtol=0.01)
    assert comparison.mismatched == 2
    assert comparison.worst is not None
    assert comparison.worst.index == (1,)
    assert comparison.max_absolute == 3.0


def test_a_non_finite_mismatch_is_worst_of_all() -> None:
    worst = judged(f32, [1.0, 2.0, 0.0], [100.0, NAN, 1e30], rtol=1e-5).worst
    assert worst is not None
    assert worst.index == (1,)
    assert (worst.absolute, worst.relative, worst.ulp) == (None, None, None)


def test_without_a_tolerance_the_largest_distance_is_worst() -> None:
    worst = judged(f64, [0.0, 0.0, 0.0], [1.0, 3.0, 2.0]).worst
    assert worst is not None
    assert worst.index == (1,)


def test_a_mismatch_says_absolute_relative_and_ulp() -> None:
    worst = judged(f32, [2.0], [2.0 + 2.0**-20], rtol=1e-9).worst
    assert worst is not None
    assert (worst.expected, worst.got) == (2.0, 2.0 + 2.0**-20)
    assert (worst.absolute, worst.relative, worst.ulp) == (2.0**-20, 2.0**-21, 4.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_ulp_is_the_next_number(dtype: DType) -> None:
    for value in (1.0, 1.5, 3.0, 0.0):
        here = np.array([value]).astype(dtype.numpy)
        following = (dtype.bit_patterns(here) + 1).view(dtype.numpy)
        worst = compare(output(dtype, exact=True), np.array([value]), following, 0, 0).worst
        assert worst is not None
        assert worst.ulp == 1.0
        assert (worst.relative is None) is (value == 0.0)


def test_indices_are_those_of_the_shape() -> None:
    expected = np.zeros((3, 4, 5))
    got = expected.astype(np.float32)
    got[2, 3, 4] = 1
    comparison = compare(output(f32), expected, got, 0.0, 0.0)
    assert comparison.worst is not None
    assert comparison.worst.index == (2, 3, 4)
    assert comparison.elements == 60


def test_only_the_first_few_are_listed_and_all_are_counted() -> None:
    comparison = judged(f32, np.zeros(100), np.ones(100))
    assert comparison.mismatched == 100
    assert [mismatch.index for mismatch in comparison.first] == [(i,) for i in range(5)]


def test_chunks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    expected = rng.normal(size=(7, 11))
    got = expected.astype(np.float32)
    got[[0, 3, 6], [1, 5, 10]] += np.float32([1, 3, 2])
    whole = compare(output(f32), expected, got, 0.0, 1e-3)
    monkeypatch.setattr(validate, "_CHUNK", 4)
    assert compare(output(f32), expected, got, 0.0, 1e-3) == whole
    assert [mismatch.index for mismatch in whole.first] == [(0, 1), (3, 5), (6, 10)]
    assert whole.worst is not None
    assert whole.worst.index == (3, 5)


def test_a_reference_in_another_memory_order_is_compared_by_index() -> None:
    expected = np.arange(12.0).reshape(3, 4).T
    got = np.ascontiguousarray(expected).astype(np.float32)
    assert compare(output(f32), expected, got, 0.0, 0.0).matches


def test_read_only_inputs_are_enough() -> None:
    expected, got = np.ones(3), np.ones(3, np.float32)
    expected.setflags(write=False)
    got.setflags(write=False)
    assert compare(output(f32), expected, got, 0.0, 0.0).matches


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"y: expected shape \(3,\), got \(4,\)"):
        compare(output(f32), np.zeros(3), np.zeros(4, np.float32), 0.0, 0.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("steps", "ulp", "matches"), [(1, 1, True), (2, 1, False), (2, 2, True), (1, 0, False)]
)
def test_units_in_the_last_place_are_those_of_the_stored_dtype(
    dtype: DType, steps: int, ulp: float, matches: bool
) -> None:
    for value in (0.0, 1.0, -1.5, 96.0):
        here = np.array([value]).astype(dtype.numpy)
        off = (dtype.bit_patterns(here) + steps).view(dtype.numpy)
        # Just above a number, where rounding does not add half a unit to what is accepted.
        comparison = validate.compare(output(dtype), np.array([value]), off, Criterion(ulp=ulp))
        assert comparison.matches is matches
        assert comparison.ulp == ulp


def test_the_widest_of_the_bounds_counts() -> None:
    got = np.array([1.0 + 2.0**-13], np.float32)
    for bounds, matches in ((Criterion(1e-3, 0, 1), True), (Criterion(1e-9, 0, 1), False)):
        assert validate.compare(output(f32), np.array([1.0]), got, bounds).matches is matches


def test_units_at_an_infinite_reference_accept_nothing_else() -> None:
    largest = np.array([f32.largest], np.float32)
    assert not validate.compare(output(f32), np.array([INF]), largest, Criterion(ulp=1e9)).matches


@pytest.mark.parametrize("dtype", [f8e4m3, f8e5m2], ids=str)
def test_eight_bits_are_judged_as_what_saturates(dtype: DType) -> None:
    most = dtype.largest
    for reference in (INF, 1e9, most):
        assert judged(dtype, [reference], [most]).matches
        assert not judged(dtype, [reference], [most / 2]).matches
        assert not judged(dtype, [reference], [NAN]).matches
    assert judged(dtype, [NAN], [NAN]).matches
    assert not judged(dtype, [NAN], [most]).matches


def test_an_infinity_that_a_conversion_was_told_to_keep_is_one() -> None:
    assert judged(f8e5m2, [INF], [INF]).matches
    assert not judged(f8e5m2, [INF], [-INF]).matches
    assert not judged(f8e5m2, [1e9], [INF]).matches


@pytest.mark.parametrize("dtype", [f16, bf16, f8e4m3, f32], ids=str)
def test_a_reference_may_give_the_stored_dtype(dtype: DType) -> None:
    values = np.array([1.0, 2.0, -3.5]).astype(dtype.numpy)
    wrong = np.array([1.0, 2.0, -3.0]).astype(dtype.numpy)
    for exact in (False, True):
        assert validate.compare(output(dtype), values, values, Criterion(exact=exact)).matches
        assert validate.compare(output(dtype), values, wrong, Criterion(exact=exact)).mismatched == 1


def test_what_is_not_compared_may_be_anything() -> None:
    expected, got = np.array([1.0, 2.0, 3.0]), np.array([1.0, NAN, 4.0], np.float32)
    for compared, mismatched in (([True, False, True], 1), ([True, False, False], 0), ([True] * 3, 2)):
        chosen = np.array(compared)
        comparison = validate.compare(output(f32), expected, got, Criterion(), chosen)
        assert (comparison.mismatched, comparison.elements) == (mismatched, 3)


def test_elements_somebody_else_found_wrong_are_listed() -> None:
    got = np.arange(12, dtype=np.float32).reshape(3, 4)
    wrong = got > 4
    comparison = validate.compare_marked(output(f32), wrong, None, got, "accept=f")
    assert (comparison.mismatched, comparison.judged_by, len(comparison.first)) == (7, "accept=f", 5)
    assert comparison.worst == comparison.first[0]
    assert (comparison.worst.index, comparison.worst.expected, comparison.worst.got) == ((1, 1), None, 5.0)
    known = validate.compare_marked(output(f32), wrong, np.zeros((3, 4)), got, "accept=f")
    assert known.worst is not None
    assert (known.worst.expected, known.worst.absolute) == (0.0, 5.0)
