"""`accept=`: which elements a declaration's own function calls wrong, and answers that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, InOut, Out, Scalar, Scratch, bf16, case, f32, i32, kernel
from pytest_cudaopt.accept import bad_elements
from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.reference import compute_expected

RIGHT = {"values": np.ones(4, np.float32), "places": np.arange(4, dtype=np.int32)}


def declare(accept: Callable[..., Any], reference: Callable[..., Any] | None = None) -> Kernel:
    @kernel("top.cu", cases=[case(n=4)], accept=accept, reference=reference)
    def top(
        x=In(bf16, "n"),
        values=Out(f32, "n"),
        places=Out(i32, "n"),
        work=Scratch(f32, "n"),
        n=i32,
        alpha=Scalar(f32, 0.5),
    ): ...

    return top


def bad(kernel: Kernel, outputs: dict[str, Any] = RIGHT) -> dict[str, Any]:
    expected = compute_expected(kernel, bind(kernel, kernel.cases[0]))
    return bad_elements(kernel, expected, outputs)


def none_is_bad(**given: Any) -> dict[str, Any]:
    return {"values": np.zeros(4, bool), "places": np.zeros(4, bool)}


def test_it_gets_inputs_as_the_reference_does_and_outputs_as_stored() -> None:
    seen: dict[str, Any] = {}

    def accept(x, values, places, n, alpha):
        seen.update(x=x.dtype.name, values=values.dtype.name, places=places.dtype.name, n=n, alpha=alpha)
        places[...] = 7
        return none_is_bad()

    assert {name: mask.any() for name, mask in bad(declare(accept)).items()} == {
        "values": False,
        "places": False,
    }
    assert seen == {"x": "float64", "values": "float32", "places": "int32", "n": 4, "alpha": 0.5}
    # What it does to its copy reaches nobody.
    assert RIGHT["places"][0] == 0


def test_it_names_only_what_it_uses() -> None:
    assert bad(declare(lambda places, n: (places < 0, places >= n)))["places"].shape == (4,)


def test_a_covered_output_is_judged_by_it_and_the_others_by_the_reference() -> None:
    def reference(x, values, places, work, n, alpha):
        values[...] = 1

    def accept(places):
        return {"places": np.sort(places) != np.arange(4)}

    declared = declare(accept, reference)
    expected = compute_expected(declared, bind(declared, declared.cases[0]))
    assert set(expected.arrays) == {"values"}
    shuffled = {**RIGHT, "places": RIGHT["places"][::-1]}
    assert compare_outputs(declared, expected, shuffled).holds
    twice = {**RIGHT, "places": np.array([0, 1, 1, 3], np.int32)}
    wrong = compare_outputs(declared, expected, twice).comparisons
    assert [(one.output, one.mismatched, one.judged_by) for one in wrong] == [
        ("values", 0, ""),
        ("places", 1, "accept=accept"),
    ]
    other = {**RIGHT, "values": np.zeros(4, np.float32)}
    assert [one.mismatched for one in compare_outputs(declared, expected, other).comparisons] == [4, 0]


def test_an_updated_array_that_is_left_to_it_is_not_compared() -> None:
    @kernel("a.cu", cases=[case(n=4)], accept=lambda y: y < 0)
    def grows(y=InOut(f32, "n"), n=i32): ...

    expected = compute_expected(grows, bind(grows, grows.cases[0]))
    for value, holds in ((3.0, True), (-3.0, False)):
        outputs = {"y": np.full(4, value, np.float32)}
        assert compare_outputs(grows, expected, outputs).holds is holds


def _raises(places):
    return places["no such field"]


@pytest.mark.parametrize(
    ("accept", "complaint"),
    [
        (
            lambda: {"values": np.zeros(4, bool)},
            "expected an array for output 'places', which the reference leaves unwritten, got arrays",
        ),
        (lambda: {"place": np.zeros(4, bool)}, "True where an element is wrong, got 'place'"),
        (lambda: np.zeros(4, bool), "True where an element is wrong, got ndarray returned"),
        (lambda: None, "True where an element is wrong, got NoneType returned"),
        (lambda: (np.zeros(4, bool),), "True where an element is wrong, got tuple returned"),
        (lambda values: {**none_is_bad(), "values": values}, "got dtype float32, shape (4,)"),
        (lambda: {**none_is_bad(), "places": np.zeros(3, bool)}, "of shape (4,): True where an element is"),
        (lambda: {**none_is_bad(), "places": False}, "got dtype bool, shape ()"),
        (_raises, "accept=_raises of kernel 'top': expected no exception, got IndexError"),
        (lambda missing: None, "expected no exception, got TypeError"),
    ],
)
def test_an_answer_that_is_none_is_a_fault_of_the_declaration(
    accept: Callable[..., Any], complaint: str
) -> None:
    with pytest.raises(ReferenceFault) as caught:
        bad(declare(accept))
    assert complaint in str(caught.value)
    assert caught.value.at is not None


def test_an_empty_body_without_it_is_still_an_unwritten_output() -> None:
    @kernel("a.cu", cases=[case(n=4)])
    def empty(y=Out(f32, "n"), n=i32): ...

    with pytest.raises(ReferenceFault, match="expected every element written, got 4 of 4 left unwritten"):
        compute_expected(empty, bind(empty, empty.cases[0]))


def test_with_it_a_half_written_output_is_still_a_fault() -> None:
    def reference(values):
        values[:2] = 1

    with pytest.raises(ReferenceFault, match="got 2 of 4 left unwritten, the first at"):
        bad(declare(none_is_bad, reference))
