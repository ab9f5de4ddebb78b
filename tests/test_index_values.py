"""Indices, offsets, lengths and orders: inside what they point at for any sizes, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import indices, integers, lengths, offsets, permutation, sorted_, uniform
from pytest_cudaopt.dtypes import DType, bf16, f32, i8, i32, i64, u32
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.values import Drawing


def draw(source: Any, dtype: DType, *shape: int, seed: int = 1, **sizes: int) -> Any:
    array = source.draw(Drawing(np.random.default_rng(seed), sizes, {}, shape, dtype))
    assert (array.shape, array.dtype) == (shape, dtype.numpy)
    return array


def test_indices_point_at_all_places_and_no_others() -> None:
    assert sorted(set(draw(indices("rows"), i32, 20, 50, rows=7).flat)) == list(range(7))


def test_indices_skip_about_their_share() -> None:
    drawn = draw(indices(5, skip=-1, share=0.25), i64, 10, 40)

    assert np.count_nonzero(drawn == -1) == 100
    assert sorted(set(drawn.flat)) == [-1, 0, 1, 2, 3, 4]
    # Not all in one place.
    assert 0 < np.count_nonzero(drawn[:5] == -1) < 100


def test_unique_indices_repeat_only_what_is_skipped() -> None:
    drawn = draw(indices(100, unique=True, skip=-1), i32, 100)
    pointing = drawn[drawn != -1]

    assert len(set(pointing.tolist())) == len(pointing) == 90
    assert sorted(draw(indices("n", unique=True), u32, 64, n=64)) == list(range(64))


@pytest.mark.parametrize(("segments", "total"), [(1, 0), (1, 9), (5, 3), (5, 0), (40, 1000), (0, 0)])
def test_offsets_never_fall_from_zero_to_the_total(segments: int, total: int) -> None:
    drawn = draw(offsets("total"), i32, segments + 1, total=total)

    assert (drawn[0], drawn[-1]) == (0, total)
    assert (np.diff(drawn) >= 0).all()


@pytest.mark.parametrize(("segments", "total"), [(1, 1), (5, 5), (40, 1000), (0, 0)])
def test_offsets_without_empty_segments_always_rise(segments: int, total: int) -> None:
    drawn = draw(offsets(total, empty=False), i32, segments + 1)

    assert (drawn[0], drawn[-1]) == (0, total)
    assert (np.diff(drawn) >= 1).all()


def test_empty_segments_do_occur() -> None:
    assert (np.diff(draw(offsets(30), i32, 31)) == 0).any()


def test_lengths_reach_both_ends() -> None:
    assert sorted(set(draw(lengths("n"), i32, 300, n=4))) == [1, 2, 3, 4]
    assert sorted(set(draw(lengths(2, zero=True), i32, 300))) == [0, 1, 2]


def test_sorting_goes_along_the_last_dimension() -> None:
    assert (np.diff(draw(sorted_(uniform(0, 1)), f32, 3, 40), axis=1) >= 0).all()
    assert (np.diff(draw(sorted_(integers(0, "n")), i32, 40, n=9)) >= 0).all()
    assert (np.diff(draw(sorted_(uniform(0, 1)), bf16, 40).astype(float)) >= 0).all()
    own = draw(sorted_(lambda rng, sizes, drawn: rng.permutation(5)), i32, 5)
    assert own.tolist() == [0, 1, 2, 3, 4]


def test_a_permutation_holds_each_place_once_and_not_in_order() -> None:
    drawn = draw(permutation(), i64, 50)

    assert sorted(drawn) == list(range(50))
    assert drawn.tolist() != list(range(50))


@pytest.mark.parametrize("source", [indices("n"), indices("n", unique=True), lengths("n"), permutation()])
def test_an_empty_array_needs_nothing_to_point_at(source: Any) -> None:
    draw(source, i32, 0, n=0)


@pytest.mark.parametrize(
    "source", [indices(9, skip=-1), offsets(9), lengths(9), sorted_(integers(0, 9)), permutation()]
)
def test_the_same_generator_state_gives_the_same_bytes(source: Any) -> None:
    first, again, other = (draw(source, i32, 30, seed=seed).tolist() for seed in (1, 1, 2))

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("source", "dtype", "shape", "message"),
    [
        (
            indices("n"),
            i32,
            (3,),
            r"indices\(n\): expected at least one place to point at, got high 0 for n=0",
        ),
        (indices(4, unique=True), i32, (5,), r"expected at least 5 different values, got high 4"),
        (indices(9, unique=True, skip=-1), i32, (20,), r"skip=-1\): expected at least 18 different values"),
        (indices(300), i8, (1000,), r"expected values a i8 can hold, -128..127, got \d+..\d+"),
        (indices(9, skip=-1), u32, (20,), r"expected values a u32 can hold, 0..4294967295, got -1..8"),
        (indices(9), f32, (20,), r"indices\(9\): expected an integer dtype, got f32"),
        (offsets(3, empty=False), i32, (5,), r"offsets\(3, empty=False\): expected a total of at least 4"),
        (offsets("n - 1"), i32, (5,), r"expected a total that the segments hold, got total -1, 4 segments"),
        (offsets(3), i32, (1,), r"expected a total that the segments hold, got total 3, 0 segments"),
        (offsets(3), i32, (0,), r"expected shape \(segments \+ 1,\), got shape \(0,\)"),
        (offsets(3), i32, (2, 2), r"expected an array of one dimension, got shape \(2, 2\)"),
        (lengths("n"), i32, (2,), r"lengths\(n\): expected most >= 1, got most 0 for n=0"),
        (permutation(), i32, (2, 2), r"permutation\(\): expected an array of one dimension"),
        (permutation(), i8, (200,), r"expected values a i8 can hold"),
        (sorted_(indices("n")), i32, (3,), r"indices\(n\): expected at least one place"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_sizes(
    source: Any, dtype: DType, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        draw(source, dtype, *shape, n=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: indices(4, share=2), r"indices\(share=\): expected a number from 0 to 1, got 2"),
        (lambda: indices(4, skip="no"), r"indices\(skip=\): expected an integer such as -1, got 'no'"),
        (lambda: sorted_(4), r"values=: expected a generator"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(make: Any, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        make()
