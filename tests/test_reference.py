"""References as float64 oracles, and the ways they can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, InOut, Out, Scalar, bf16, bool_, case, f32, i32, kernel
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.reference import compute_expected


def expected_of(reference: Callable[..., Any]) -> dict[str, Any]:
    """Declare a kernel around `reference` and compute what it expects at n=4."""

    @kernel("a.cu", cases=[case(n=4)], reference=reference)
    def judged(
        x=In(f32, "n"),
        acc=InOut(bf16, "n"),
        y=Out(f32, "n"),
        flags=Out(bool_, "n"),
        n=i32,
        alpha=Scalar(f32, 0.1),
    ):
        pass

    return dict(compute_expected(judged, bind(judged, judged.cases[0])).arrays)


def test_floats_are_float64_and_others_as_stored() -> None:
    seen: dict[str, Any] = {}

    def reference(x, acc, y, flags, n, alpha):
        seen.update(x=x.dtype, acc=acc.dtype, n=n, alpha=alpha)
        acc += 1e-9
        y[...] = x / 3
        flags[...] = x > 0

    expected = expected_of(reference)
    assert seen == {"x": np.float64, "acc": np.float64, "n": 4, "alpha": float(np.float32(0.1))}
    assert {name: array.dtype.name for name, array in expected.items()} == {
        "acc": "float64",
        "y": "float64",
        "flags": "bool",
    }
    assert not np.array_equal(expected["y"], expected["y"].astype(np.float32))


@pytest.mark.parametrize(
    "reference",
    [
        lambda x, acc, y, flags, n, alpha: (acc + 1, x * 2, x > 0),
        lambda x, acc, y, flags, n, alpha: {"y": x * 2, "acc": acc + 1, "flags": x > 0},
    ],
    ids=["tuple", "mapping"],
)
def test_outputs_may_be_returned(reference: Callable[..., Any]) -> None:
    assert set(expected_of(reference)) == {"acc", "y", "flags"}


def test_a_single_output_may_be_returned_bare() -> None:
    @kernel("a.cu", cases=[case(n=2)])
    def single(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        return x * 2

    bound = bind(single, single.cases[0])
    assert np.array_equal(compute_expected(single, bound).arrays["y"], bound.arrays["x"].astype(float) * 2)


def _forgets_one(x, acc, y, flags, n, alpha):
    y[:-1] = x[:-1]
    flags[...] = True


def _forgets_flags(x, acc, y, flags, n, alpha):
    y[...] = x
    flags[1:] = True


def _adds(x, acc, y, flags, n, alpha):
    flags[...] = True
    y += x


def _rebinds(x, acc, y, flags, n, alpha):
    y = x  # a common slip: the output itself stays untouched
    flags[...] = True
    return None if y is x else y


def _writes_input(x, acc, y, flags, n, alpha):
    x[0] = 1


def _raises(x, acc, y, flags, n, alpha):
    raise KeyError("gamma")


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        (
            _forgets_one,
            "output 'y': expected every element written, got 1 of 4 left unwritten, the first at [3]",
        ),
        (_forgets_flags, "output 'flags': expected every element written, got 1 of 4"),
        (_rebinds, "got 4 of 4 left unwritten, the first at [0]. Assign in place: y[...] = ..."),
        (_adds, "or return the array (an Out holds nothing yet: y += ... writes none of it)"),
        (_writes_input, "expected no exception, got ValueError: assignment destination is read-only"),
        (_raises, "expected no exception, got KeyError: 'gamma'"),
        (lambda *args, **named: 3, "expected None or the outputs acc, y, flags, got int returned"),
        (lambda *args, **named: (1, 2), "expected None or the outputs acc, y, flags, got tuple returned"),
        (
            lambda *args, **named: {"acc": np.zeros(4), "y": np.zeros(3), "flags": np.zeros(4)},
            "output 'y': expected shape (4,), got shape (3,)",
        ),
    ],
)
def test_a_wrong_reference_is_refused_at_the_declaration(
    reference: Callable[..., Any], complaint: str
) -> None:
    with pytest.raises(ReferenceFault) as caught:
        expected_of(reference)
    assert complaint in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


def test_a_raising_reference_shows_its_own_line() -> None:
    with pytest.raises(ReferenceFault, match="in _raises"):
        expected_of(_raises)


def test_values_that_look_like_a_fill_are_not_taken_for_one() -> None:
    def reference(x, acc, y, flags, n, alpha):
        y[...] = -1.2345678901234567e33
        flags[...] = False

    assert expected_of(reference)["y"][0] == -1.2345678901234567e33


def test_an_overflow_on_purpose_is_no_warning() -> None:
    def reference(x, acc, y, flags, n, alpha):
        y[...] = np.exp(np.full(n, 1e6)) / (x - x)
        flags[...] = True

    assert not np.isfinite(expected_of(reference)["y"]).any()


@pytest.mark.parametrize(
    ("returned", "dtype"),
    [(1j * np.ones(4), "complex128"), (["a"] * 4, "<U1"), ([None] * 4, "object")],
    ids=["complex", "text", "objects"],
)
def test_what_is_no_real_number_is_the_references_fault(returned: object, dtype: str) -> None:
    @kernel("a.cu", cases=[case(n=4)])
    def odd(y=Out(f32, "n"), n=i32):
        return returned

    with pytest.raises(ReferenceFault, match=f"expected an array of real numbers, got dtype {dtype}"):
        compute_expected(odd, bind(odd, odd.cases[0]))


def test_a_reference_that_wants_to_leave_is_reported_and_not_obeyed() -> None:
    @kernel("a.cu", cases=[case(n=4)])
    def leaves(y=Out(f32, "n"), n=i32):
        raise SystemExit(3)

    with pytest.raises(ReferenceFault, match="got SystemExit: 3"):
        compute_expected(leaves, bind(leaves, leaves.cases[0]))
