"""Declarations of strides, null pointers, constants and structs: what they hold, and wrong ones refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import Constant, In, InOut, Out, Scalar, Scratch, Struct, case, f32, i32, i64, kernel
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError


def declared(function: Callable[..., Any], *cases: Any, **more: Any) -> Kernel:
    return kernel("none.cu", cases=cases or [case(n=4)], **more)(function)


def structured(**more: Any) -> Kernel:
    def structured(
        p=Struct("ns::P", x=In(f32, "n"), step=Scalar(i64, derive="n + 1"), y=Out(f32, "n"), n=i32),
        extra=Scalar(i32, 3),
        *,
        x,
        y,
        n,
        **rest,
    ):
        y[...] = x * extra + rest["step"]

    return declared(structured, **more)


def test_members_of_a_struct_are_parameters_of_their_own_names() -> None:
    made = structured()

    assert [parameter.name for parameter in made.parameters] == ["x", "step", "y", "n", "extra"]
    assert [parameter.struct is not None for parameter in made.parameters] == [True] * 4 + [False]
    assert made.sizes == ("n",)
    assert bind(made, made.cases[0]).scalars["step"] == 5


def test_a_reference_of_its_own_leaves_the_function_without_members() -> None:
    def without(p=Struct("P", x=In(f32, "n"), y=Out(f32, "n"), n=i32)):
        pass

    assert len(declared(without, reference=lambda x, y, n: x).parameters) == 3


def test_what_the_optional_array_is_absent_from_is_not_bound() -> None:
    def biased(x=In(f32, "n"), bias=In(f32, "n", optional=True), y=Out(f32, "n"), n=i32):
        pass

    made = declared(biased, case(n=4), case(n=4, bias=None))
    there, absent = (bind(made, one) for one in made.cases)

    assert set(there.shapes) == {"x", "bias", "y"}
    assert set(absent.shapes) == set(absent.arrays) | {"y"} == {"x", "y"}


def test_an_input_that_repeats_its_elements_is_given_to_the_reference_as_it_is_in_memory() -> None:
    def repeated(x=In(f32, "n", 3, strides=(0, 1)), y=Out(f32, "n"), n=i32):
        pass

    made = declared(repeated)
    x = bind(made, made.cases[0]).arrays["x"]

    assert x.shape == (4, 3)
    assert (x == x[0]).all()


def two(**markers: Any) -> Callable[..., Any]:
    """Return a function of x and y, one of them another marker, that is no use as a reference."""
    x, y = markers.get("x", In(f32, "n")), markers.get("y", Out(f32, "n"))

    def function(x=x, y=y, n=i32):
        pass

    return function


def _members_untaken(p=Struct("P", x=In(f32, "n"), y=Out(f32, "n"), n=i32), *, x):
    pass


def _same_name_twice(p=Struct("P", x=In(f32, "n"), y=Out(f32, "n")), x=In(f32, "n"), n=i32, **members):
    pass


def _positional_member(p=Struct("P", x=In(f32, "n"), y=Out(f32, "n"), n=i32), y=None):
    pass


@pytest.mark.parametrize(
    ("function", "cases", "complaint"),
    [
        (
            two(x=In(f32, "n", strides=("ld",))),
            [case(n=4)],
            "parameter 'x': 'ld': expected sizes among n, got 'ld'",
        ),
        (
            two(),
            [case(n=4, x=None)],
            "cases[0]: expected None for optional arrays only (there is none), got x=None. Declare it as "
            "optional: x=In(..., optional=True)",
        ),
        (
            two(x=In(f32, "n", optional=True)),
            [case(n=4, z=None)],
            "cases[0]: expected None for optional arrays only (x), got z=None",
        ),
        (
            two(y=Out(f32, "n", optional=True)),
            [case(n=4), case(n=4, y=None)],
            "cases[1]: expected at least one output that is there, got y=None",
        ),
        (
            _members_untaken,
            [case(n=4)],
            "struct 'p': expected a reference that takes its members: *, x, y, n, got none called 'y'. Add "
            "them behind the other parameters: def _members_untaken(..., *, x, y, n)",
        ),
        (
            _same_name_twice,
            [case(n=4)],
            "parameter 'x': expected a name that no other parameter, and no member of a struct, has, got 'x'",
        ),
        (_positional_member, [case(n=4)], "parameter 'y': expected a marker as default"),
    ],
)
def test_a_wrong_declaration_is_refused_at_its_line(
    function: Callable[..., Any], cases: list[Any], complaint: str
) -> None:
    with pytest.raises(DeclarationError) as caught:
        declared(function, *cases)
    assert complaint in str(caught.value)
    assert caught.value.at is not None
    assert caught.value.at.file == __file__


def test_an_output_whose_elements_overlap_is_refused_at_the_case() -> None:
    made = declared(two(y=Out(f32, "n", 2, strides=(1, 1))))
    with pytest.raises(DeclarationError) as caught:
        bind(made, made.cases[0])
    assert "function.y at case(n=4): strides: expected an element of its own for each index" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: In(f32, "n", "m", strides=(1,)),
            "In(f32) strides=: expected 2 of them, as many as dimensions, got (1,)",
        ),
        (lambda: InOut(f32, "n", strides=4), "Inout(f32) strides=: expected 1 of them"),  # type: ignore[arg-type]
        (lambda: Scalar(i32, 3, derive="n"), "Scalar: expected value or derive=, got both"),
        (lambda: Constant(f32, 3, symbol=" "), "Constant(symbol=): expected the variable's name, got ' '"),
        (lambda: Constant(f32), "In(f32): expected at least one extent"),
        (lambda: Struct("P"), "Struct('P'): expected at least one member, got none"),
        (lambda: Struct("", n=i32), "Struct: expected the C++ name of the struct, got ''"),
        (lambda: Struct("P", a=f32), "Struct('P'), member 'a': expected In, Out, InOut, Scratch, Scalar"),
        (
            lambda: Struct("P", a=3),
            "member 'a': expected In, Out, InOut, Scratch, Scalar or an integer dtype",
        ),  # type: ignore[arg-type]
        (
            lambda: Struct("P", a=Constant(f32, 3)),
            "got a Constant ('a' is a variable of its own)",
        ),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        make()
    assert complaint in str(caught.value)


def test_scratch_may_be_a_member_too(tmp_path: Path) -> None:
    (marked,) = Struct("P", w=Scratch(f32, 4)).parameters("p")
    assert marked.cuda_types == ("float*",)
