"""Families of values: what arrays hold, and that generators keep their word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_cudaopt import (
    In,
    Out,
    case,
    f32,
    i32,
    indices,
    integers,
    kernel,
    lengths,
    offsets,
    permutation,
    sorted_,
    uniform,
)
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.families import Family
from pytest_cudaopt.value_families import families_of

N = 200


def declared(**marker: Any) -> Kernel:
    dtype = marker.pop("dtype", f32)

    @kernel(str(Path(__file__).with_name("none.cu")), cases=[case(n=N)])
    def one(x=In(dtype, "n", **marker), y=Out(f32, "n"), n=i32):
        y[...] = 0

    return one


def drawn(made: Kernel, values: str, seed: int = 0) -> NDArray[Any]:
    return bind(made, case(n=N, seed=seed, values=values)).arrays["x"]


@pytest.mark.parametrize(
    ("family", "holds"),
    [
        ("constant", lambda x: np.unique(x).size == 1),
        ("ends", lambda x: np.unique(x).size == 2),
        ("sorted", lambda x: (np.diff(x) >= 0).all()),
        ("descending", lambda x: (np.diff(x) <= 0).all()),
        ("duplicates", lambda x: np.unique(x).size <= 3),
        ("clustered", lambda x: (x == x.max()).mean() > 0.3),
        ("sparse", lambda x: 0.7 < (x == 0).mean() < 1),
        ("cancelling", lambda x: abs(x.sum()) < 1e-4),
        ("tiny", lambda x: 0 < np.abs(x).max() < 1e-15),
        ("sweep", lambda x: np.ptp(x) == 32 and np.diff(np.sort(x)).max() < 33 / N),
        ("huge", lambda x: 1e12 < np.abs(x).max() < 1e19),
        ("offset", lambda x: np.abs(x).min() > 500 and np.ptp(x) < 20),
        ("mixed", lambda x: np.abs(x).max() / np.abs(x).min() > 1e12),
        ("suffix", lambda x: np.abs(x[: N // 2]).max() < 10 < np.abs(x[N // 2 :]).max()),
        ("small_integers", lambda x: (x == np.round(x)).all() and np.abs(x).max() <= 8),
        ("nan", lambda x: np.isnan(x[-1]) and np.isnan(x).mean() < 0.1),
        ("infinite", lambda x: x[-1] == np.inf),
        ("negative_infinite", lambda x: x[-1] == -np.inf),
        ("signed_zeros", lambda x: {bool(s) for s in np.signbit(x[x == 0])} == {True, False}),
        ("least", lambda x: 1e-39 < np.abs(x).max() < 1e-36),
        ("masked", lambda x: np.isneginf(x[-1]) and (np.diff(np.isneginf(x).astype(int)) != 0).sum() == 1),
        ("infinite_beside_zeros", lambda x: x[-1] == np.inf),
        ("subnormal", lambda x: ((x != 0) & (np.abs(x) < 1.18e-38)).mean() > 0.3),
    ],
)
def test_an_array_is_of_its_family(family: str, holds: Any) -> None:
    assert holds(drawn(declared(), family))
    assert not holds(bind(declared(), case(n=N, seed=0)).arrays["x"])


BEYOND = (Family.WIDE, Family.UPPER, Family.LIMITS, Family.NEGATIVE, Family.BELOW, Family.BEYOND)


@pytest.mark.parametrize("family", [one for one in Family if one not in BEYOND])
@pytest.mark.parametrize("seed", range(4))
def test_a_bounded_generator_keeps_its_bounds(family: Family, seed: int) -> None:
    for marker in ({"values": uniform(0.5, 1.5)}, {"dtype": i32, "values": integers(3, 9)}):
        made = declared(**marker)
        low, high = (0.5, 1.5) if "dtype" not in marker else (3, 9)
        x = drawn(made, family, seed)
        x = x[np.isfinite(x)]
        assert low <= x.min()
        assert x.max() <= high


@pytest.mark.parametrize(
    ("family", "source", "holds"),
    [
        ("constant", indices("n"), lambda x: np.unique(x).size == 1),
        ("ends", indices("n"), lambda x: set(np.unique(x)) == {0, N - 1}),
        ("descending", indices("n", unique=True), lambda x: np.unique(x).size == N and x[0] == N - 1),
        ("negative", indices("n"), lambda x: -N <= x.min() < 0 < x.max() < N),
        ("negative", integers(0, "n - 1"), lambda x: -N <= x.min() < 0 < x.max() < N),
        ("wide", integers(0, 5), lambda x: x.min() < -(1 << 30) and x.max() > 1 << 30),
        ("upper", integers(0, 5), lambda x: x.min() > (1 << 30) - 2),
        ("limits", integers(0, 5), lambda x: set(np.unique(x)) <= {-(1 << 31), (1 << 31) - 1}),
        ("clustered", offsets("7 * n"), lambda x: (np.diff(x) > 0).sum() == 1 and x[-1] == 7 * N),
        ("clustered", offsets("7 * n", empty=False), lambda x: np.diff(x).min() == 1 and x[-1] == 7 * N),
        ("empty_segments", offsets("7 * n", empty=False), lambda x: (np.diff(x) > 0).sum() == 1),
        ("ends", lengths("n"), lambda x: set(np.unique(x)) == {1, N}),
        ("sorted", permutation(), lambda x: (x == np.arange(N)).all()),
        (
            "duplicates",
            sorted_(integers(0, 99)),
            lambda x: np.unique(x).size <= 3 and (np.diff(x) >= 0).all(),
        ),
    ],
)
def test_places_and_amounts_stay_what_they_are(family: str, source: Any, holds: Any) -> None:
    assert all(holds(drawn(declared(dtype=i32, values=source), family, seed)) for seed in (0, 2, 4))


def test_what_a_callable_draws_keeps_its_order_and_its_zeros() -> None:
    def ascending(rng: np.random.Generator, sizes: dict[str, int], drawn: Any) -> NDArray[Any]:
        return np.arange(sizes["n"], dtype=np.float32)

    made = declared(values=ascending)
    plain = bind(made, case(n=N, seed=0)).arrays["x"]

    assert {str(one) for one in families_of(made.parameters[0])} == {"varied", "contrast", "tiny"}
    assert np.array_equal(drawn(made, "huge"), plain)
    for family in ("varied", "contrast"):
        varied = drawn(made, family, 2)
        assert varied[0] == 0
        assert (np.diff(varied) > 0).all()
        assert not np.array_equal(varied, plain)


def test_numbers_that_are_all_alike_get_different_ones() -> None:
    made = declared(values=lambda rng, sizes, drawn: np.ones(sizes["n"], np.float32))

    assert 0.1 < drawn(made, "varied").std() < 0.5


def test_beyond_is_outside_the_bounds_of_uniform() -> None:
    x = drawn(declared(values=uniform(0, 1)), "beyond")
    assert x.min() < -0.5
    assert x.max() > 1.5


def test_below_is_under_the_lower_bound_of_uniform() -> None:
    assert drawn(declared(values=uniform(0, 1)), "below").max() < 0


def test_infinities_of_one_array_stand_beside_zeros_of_the_others() -> None:
    @kernel(str(Path(__file__).with_name("none.cu")), cases=[case(n=N)])
    def two(a=In(f32, "n"), b=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 0

    arrays = bind(two, case(n=N, seed=0, values="infinite_beside_zeros")).arrays
    assert np.isinf(arrays["a"]).any()
    assert (arrays["b"] == 0).mean() > 0.7


def test_the_seed_says_which_array_it_is_and_the_others_stay() -> None:
    @kernel(str(Path(__file__).with_name("none.cu")), cases=[case(n=N)])
    def three(a=In(f32, "n"), b=In(f32, "n"), c=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 0

    def huge(seed: int) -> list[str]:
        arrays = bind(three, case(n=N, seed=seed, values="huge")).arrays
        plain = bind(three, case(n=N, seed=seed)).arrays
        return [name for name in "abc" if not np.array_equal(arrays[name], plain[name])]

    assert [huge(seed) for seed in range(4)] == [["a"], ["b"], ["c"], ["a", "b", "c"]]


def test_a_case_with_a_family_can_be_pasted() -> None:
    assert str(case(n=3, seed=1, values="huge")) == "case(n=3, seed=1, values='huge')"
    assert str(case(n=3, misaligned={"x": 1}, alias={"y": "x"})) == (
        "case(n=3, misaligned={'x': 1}, alias={'y': 'x'})"
    )


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"one of constant, ends.*got 'hugh'.*Did you mean 'huge'"):
        case(n=3, values="hugh")


@pytest.mark.parametrize("elements", [0, -1, 256, True, 1.5])
def test_a_shift_that_is_none_is_refused(elements: Any) -> None:
    with pytest.raises(
        DeclarationError, match=r"case\(misaligned\['x'\]\): expected elements, from 1 to 255"
    ):
        case(n=3, misaligned={"x": elements})
