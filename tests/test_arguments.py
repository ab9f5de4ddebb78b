"""Binding a kernel at a case: shapes, contents, scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import (
    In,
    InOut,
    Kernel,
    Out,
    Scalar,
    Scratch,
    bf16,
    case,
    f8e4m3,
    f32,
    i8,
    i32,
    kernel,
    uniform,
)
from pytest_cudaopt.arguments import bind, bind_again
from pytest_cudaopt.errors import DeclarationError


@pytest.fixture
def whole() -> Kernel:
    """Declared here and not in the module, where pytest would collect it."""

    @kernel("a.cu", cases=[case(rows=3, cols=5)], derive={"ld": "cols + 3"})
    def whole(
        x=In(f32, "rows", "ld"),
        acc=InOut(bf16, "rows"),
        tmp=Scratch(f32, 2, "cols"),
        y=Out(f32, "rows", 1),
        rows=i32,
        cols=i32,
        half=Scalar(i32, "cols // 2"),
        alpha=Scalar(f32, 0.5),
        beta=Scalar(f32, values=uniform(1, 2)),
    ):
        """A kernel with a parameter of every kind."""

    return whole


def test_every_parameter_is_bound(whole: Kernel) -> None:
    bound = bind(whole, whole.cases[0])
    assert bound.sizes == {"rows": 3, "cols": 5, "ld": 8}
    assert bound.shapes == {"x": (3, 8), "acc": (3,), "tmp": (2, 5), "y": (3, 1)}
    assert set(bound.arrays) == {"x", "acc"}
    assert bound.arrays["x"].shape == (3, 8)
    assert bound.arrays["acc"].dtype == bf16.numpy
    assert {name: value.dtype.name for name, value in bound.scalars.items()} == {
        "rows": "int32",
        "cols": "int32",
        "half": "int32",
        "alpha": "float32",
        "beta": "float32",
    }
    assert bound.scalars["half"] == 2
    assert 1 <= bound.scalars["beta"] <= 2


def test_inputs_cannot_be_written(whole: Kernel) -> None:
    with pytest.raises(ValueError, match="read-only"):
        bind(whole, whole.cases[0]).arrays["x"][0] = 1


def test_the_same_case_gives_the_same_bytes_and_a_seed_other_ones(whole: Kernel) -> None:
    first, again = bind(whole, case(rows=3, cols=5)), bind(whole, case(rows=3, cols=5, id="again"))
    other = bind(whole, case(rows=3, cols=5, seed=1))
    assert first.arrays["x"].tobytes() == again.arrays["x"].tobytes()
    assert first.arrays["x"].tobytes() != other.arrays["x"].tobytes()


def test_another_draw_changes_contents_and_nothing_of_the_launch(whole: Kernel) -> None:
    bound = bind(whole, whole.cases[0])
    first, again, second = (bind_again(whole, whole.cases[0], bound, draw) for draw in (1, 1, 2))
    raws = [drawn.arrays["x"].tobytes() for drawn in (bound, first, second)]
    assert len(set(raws)) == 3
    assert first.arrays["x"].tobytes() == again.arrays["x"].tobytes()
    assert (first.sizes, first.shapes, first.scalars) == (bound.sizes, bound.shapes, bound.scalars)


def test_another_draw_of_another_seed_is_another(whole: Kernel) -> None:
    drawn = [
        bind_again(whole, one, bind(whole, one), 1).arrays["x"].tobytes()
        for one in (case(rows=3, cols=5), case(rows=3, cols=5, seed=1))
    ]
    assert drawn[0] != drawn[1]


def test_empty_arrays_are_bound(whole: Kernel) -> None:
    assert bind(whole, case(rows=0, cols=0)).arrays["x"].shape == (0, 3)


def test_values_may_depend_on_earlier_arrays() -> None:
    @kernel("a.cu", cases=[case(n=4)])
    def gathered(
        x=In(f32, "n"),
        doubled=In(f32, "n", values=lambda rng, sizes, drawn: 2 * drawn["x"]),
        y=Out(f32, "n"),
        n=i32,
    ):
        pass

    arrays = bind(gathered, gathered.cases[0]).arrays
    assert np.array_equal(arrays["doubled"], 2 * arrays["x"])


def test_a_strided_value_is_stored_contiguously() -> None:
    @kernel("a.cu", cases=[case(n=4)])
    def strided(
        x=In(f32, "n", 2, values=lambda r, s, d: np.zeros((2, 4), np.float32).T), y=Out(f32, 1), n=i32
    ):
        pass

    assert bind(strided, strided.cases[0]).arrays["x"].flags.c_contiguous


def _declare(**parameters: Any) -> Any:
    def negative(y=Out(f32, "n - 3"), n=i32):
        pass

    def narrow(y=Out(f32, "n"), n=i8):
        pass

    def fixed(y=Out(f32, "n"), k=Scalar(i8, -200), n=i32):
        pass

    def broken(y=Out(f32, "n"), k=Scalar(i8, 3.7), n=i32):
        pass

    def nowhere(y=Out(f32, "n"), k=Scalar(i8, float("nan")), n=i32):
        pass

    chosen = {f.__name__: f for f in (negative, narrow, fixed, broken, nowhere)}[parameters["name"]]
    return kernel("a.cu", cases=[case(n=1)])(chosen)


@pytest.mark.parametrize(
    ("name", "n", "complaint"),
    [
        ("negative", 2, "negative.y at case(n=2): shape: expected extents >= 0, got (-1,)"),
        ("narrow", 128, "narrow.n at case(n=128): value: expected a i8, -128..127, got 128"),
        ("broken", 1, "broken.k at case(n=1): value: expected a i8, -128..127, got 3.7"),
        ("nowhere", 1, "nowhere.k at case(n=1): value: expected a i8, -128..127, got nan"),
        ("fixed", 1, "fixed.k at case(n=1): value: expected a i8, -128..127, got -200"),
    ],
)
def test_what_cannot_be_bound_is_refused_at_the_declaration(name: str, n: int, complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        bind(_declare(name=name), case(n=n))
    assert complaint in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


def test_a_scalar_of_eight_bits_saturates() -> None:
    @kernel("a.cu", cases=[case(n=1)])
    def scaled(y=Out(f32, "n"), n=i32, s=Scalar(f8e4m3, 1e6)):
        y[...] = s

    assert float(bind(scaled, scaled.cases[0]).scalars["s"]) == 448
