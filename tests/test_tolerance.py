"""What an output is judged by: its own tolerance, the kernel's, its dtype's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_cudaopt import In, InOut, Out, bool_, f16, f32, i32
from pytest_cudaopt.criterion import Criterion, criterion
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.parameters import Marker, Parameter
from pytest_cudaopt.tolerance import Tolerance, Unwritten

SIZES = {"k": 16}


def judged_by(marker: Marker, **kernel: Any) -> Criterion:
    shared = Tolerance.of(kernel.get("rtol"), kernel.get("atol"))
    return criterion(Parameter.named("y", marker), shared, SIZES)


@pytest.mark.parametrize(
    ("marker", "kernel", "expected"),
    [
        (Out(f32, "k"), {}, Criterion(f32.rtol, f32.atol)),
        (Out(f32, "k"), {"rtol": 0.5}, Criterion(0.5, f32.atol)),
        (Out(f32, "k"), {"rtol": "1e-3*sqrt(k)", "atol": 0}, Criterion(4e-3, 0.0)),
        (Out(f32, "k", rtol=0), {"rtol": 0.5, "atol": 2}, Criterion(0.0, 2.0)),
        (InOut(f16, "k", atol="k/2"), {}, Criterion(f16.rtol, 8.0)),
        # Otherwise the default, which is wider, would count.
        (Out(f32, "k", ulp=1), {}, Criterion(0.0, 0.0, 1.0)),
        (Out(f32, "k", ulp=2, atol=1e-6), {}, Criterion(0.0, 1e-6, 2.0)),
        (Out(f32, "k", ulp=2), {"rtol": 1e-3}, Criterion(1e-3, 0.0, 2.0)),
        (Out(f32, "k", exact=True), {"rtol": 1.0}, Criterion(exact=True)),
        # What is allowed for floats must not loosen an index or a count.
        (Out(i32, "k"), {"rtol": 1.0, "atol": 5.0}, Criterion()),
        (Out(bool_, "k"), {"rtol": 1.0, "atol": 5.0}, Criterion()),
        (Out(i32, "k", atol=1), {"rtol": 1.0}, Criterion(0.0, 1.0)),
    ],
)
def test_the_outputs_own_wins_over_the_kernels_over_the_dtypes(
    marker: Marker, kernel: dict[str, Any], expected: Criterion
) -> None:
    assert judged_by(marker, **kernel) == expected


def test_a_tolerance_that_is_no_number_names_the_output_and_the_sizes() -> None:
    with pytest.raises(DeclarationError) as caught:
        judged_by(Out(f32, "k", rtol="10 - k"))
    assert str(caught.value).startswith(
        "rtol of 'y': expression '10 - k': expected a number >= 0, got -6 (k=16). Write it so that it is"
    )


@pytest.mark.parametrize(
    ("declare_wrongly", "complaint"),
    [
        (lambda: Out(f32, 4, rtol=-1), "rtol=: expected a finite number >= 0, got -1"),
        (lambda: Out(f32, 4, atol=float("nan")), "atol=: expected a finite number >= 0, got nan"),
        (lambda: InOut(f32, 4, rtol="1 -"), "rtol=: expression '1 -': expected numbers, sizes"),
        (lambda: Out(f32, 4, rtol="0/0"), "rtol=: expression '0/0': got a division by zero"),
        (lambda: Out(f32, 4, ulp=-1), "ulp=: expected a finite number >= 0, got -1"),
        (lambda: Out(f32, 4, ulp="2"), "ulp=: expected a finite number >= 0, got '2'"),
        (lambda: Out(f32, 4, ulp=True), "ulp=: expected a finite number >= 0, got True"),
        (lambda: Out(i32, 4, ulp=1), "ulp=: expected an output of floats, got one of i32. Write atol=1"),
        (lambda: Out(bool_, 4, atol=1), "rtol=, atol=: expected an output of numbers, got one of bool_"),
        (lambda: Out(f32, 4, exact=True, ulp=1), "exact=True: expected no tolerance beside it"),
        (
            lambda: Out(f32, 4, unwritten="keep"),
            "unwritten=: expected one of error, kept, any, got 'keep'. 'kept': the kernel must leave them",
        ),
        (lambda: Out(f32, 4, unwritten=None), "unwritten=: expected one of error, kept, any, got None"),
        (lambda: InOut(f32, 4, unwritten="any"), "unwritten=: expected an Out"),
        (lambda: In(f32, 4, oracle="float32"), "oracle=: expected one of float64, stored, got 'float32'"),
        (lambda: Out(f32, 4, oracle=None), "oracle=: expected one of float64, stored, got None"),
    ],
)
def test_rules_that_contradict_themselves_are_refused(
    declare_wrongly: Callable[[], Marker], complaint: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        declare_wrongly()
    assert str(caught.value).startswith(complaint)


def test_a_marker_keeps_what_its_output_is_judged_by() -> None:
    kept = Parameter.named("y", Out(f32, "k", unwritten="kept", oracle="stored", ulp=3))
    assert kept.judging.unwritten is Unwritten.KEPT
    assert kept.judging.tolerance.ulp == 3
    assert kept.oracle_dtype == f32.numpy
