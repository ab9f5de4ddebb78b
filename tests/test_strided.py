"""Arrays with gaps between their elements: how they lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cudaopt import In, InOut, Out, f32
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.parameters import Marker, Parameter
from pytest_cudaopt.strided import Strided, strided

PATTERN = bytes.fromhex("f97f")


@pytest.mark.parametrize(
    ("shape", "strides", "elements"),
    [
        ((3, 2), (5, 1), 12),
        ((3, 2), (1, 3), 6),
        ((4,), (0,), 1),
        ((0, 2), (5, 1), 0),
        ((1,), (1000,), 1),
        ((2, 3, 2), (100, 10, 2), 123),
    ],
)
def test_a_buffer_reaches_from_the_first_element_to_the_last(
    shape: tuple[int, ...], strides: tuple[int, ...], elements: int
) -> None:
    assert Strided(shape, strides).elements == elements


def test_elements_lie_at_their_strides_and_the_pattern_between_them() -> None:
    array = np.arange(6, dtype=np.float32).reshape(3, 2)
    buffer = Strided((3, 2), (4, 1)).scatter(array, PATTERN)

    assert buffer[[0, 1, 4, 5, 8, 9]].tolist() == [0, 1, 2, 3, 4, 5]
    assert buffer[[2, 3, 6, 7]].tobytes() == PATTERN * 8


@pytest.mark.parametrize("strides", [(2, 1), (1, 3), (7, 2)])
def test_what_is_scattered_is_gathered_again(strides: tuple[int, int]) -> None:
    array = np.arange(6, dtype=np.int16).reshape(3, 2)
    layout = Strided((3, 2), strides)

    assert layout.gather(layout.scatter(array, PATTERN)).tolist() == array.tolist()


def test_an_array_without_elements_has_a_buffer_without_any() -> None:
    layout = Strided((0, 4), (4, 1))
    buffer = layout.scatter(np.empty((0, 4), np.float32), PATTERN)

    assert buffer.size == 0
    assert layout.gather(buffer).shape == (0, 4)


def test_a_buffer_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 6 elements, got 5"):
        Strided((3, 2), (2, 1)).gather(np.zeros(5, np.float32))


def test_gaps_are_what_no_index_means() -> None:
    assert Strided((2, 2), (3, 1)).gaps().tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("shape", "strides", "overlaps"),
    [
        ((2, 2), (2, 3), False),  # 0 3 2 5: no stride spans the other dimension, and yet none meet
        ((2, 3), (2, 1), True),
        ((4,), (0,), True),
        ((1,), (0,), False),
        ((0, 4), (0, 0), False),
    ],
)
def test_elements_overlap_where_two_indices_mean_one(
    shape: tuple[int, ...], strides: tuple[int, ...], overlaps: bool
) -> None:
    assert Strided(shape, strides).overlaps is overlaps


def layout_of(marker: Marker, **sizes: int) -> Strided | None:
    return strided(Parameter.named("a", marker), (2, 3), sizes)


def test_strides_are_expressions_over_sizes() -> None:
    assert layout_of(In(f32, 2, 3, strides=("ld + 1", 1)), ld=4) == Strided((2, 3), (5, 1))
    assert layout_of(In(f32, 2, 3)) is None


def test_an_input_may_repeat_its_elements_and_an_output_may_not() -> None:
    assert layout_of(In(f32, 2, 3, strides=(0, 1))) == Strided((2, 3), (0, 1))
    for marker in (Out(f32, 2, 3, strides=(0, 1)), InOut(f32, 2, 3, strides=("ld", 1))):
        with pytest.raises(DeclarationError, match="an element of its own for each index of an output"):
            layout_of(marker, ld=2)


def test_a_negative_stride_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"strides >= 0"):
        layout_of(In(f32, 2, 3, strides=("ld - 5", 1)), ld=4)
