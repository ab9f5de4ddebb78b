"""What a `__global__` function takes: structs as one parameter, laid out as C++ does, and no constants."""

from __future__ import annotations

import pytest

from pytest_cudaopt import Constant, In, Out, Scalar, Struct, bf16, bool_, f32, f64, i8, i32, i64
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.formals import StructLayout, constants, cuda_types, formals, struct_layouts
from pytest_cudaopt.parameters import Marker, Parameter


def layout(**members: Marker | DType) -> StructLayout:
    (found,) = struct_layouts(Struct("P", **members).parameters("p"))
    return found


@pytest.mark.parametrize(
    ("members", "offsets", "size"),
    [
        ({"q": In(f32, "n"), "n": i32}, [0, 8], 16),
        ({"n": i32, "q": In(f32, "n"), "flag": bool_}, [0, 8, 16], 24),
        ({"a": i8, "b": Scalar(bf16, 1.0), "c": i32, "d": i8}, [0, 2, 4, 8], 12),
        ({"a": i8}, [0], 1),
        ({"a": Scalar(f64, 1.0), "b": i8, "c": i64}, [0, 8, 16], 24),
    ],
)
def test_members_are_aligned_to_their_size_and_the_struct_to_the_largest(
    members: dict[str, Marker | DType], offsets: list[int], size: int
) -> None:
    found = layout(**members)

    assert [member.offset for member in found.members] == offsets
    assert found.bytes == size


def parameters() -> list[Parameter]:
    return [
        Parameter.named("n", Scalar(i32)),
        *Struct("ns::A", x=In(f32, "n")).parameters("a"),
        Parameter.named("taps", Constant(f32, 3, symbol="ns::taps")),
        *Struct("ns::A", y=Out(f32, "n")).parameters("b"),
    ]


def test_members_count_as_one_parameter_and_constants_as_none() -> None:
    assert cuda_types(parameters()) == (("int",), ("ns::A",), ("ns::A",))
    names = [
        [member.parameter.name for member in formal.members]
        for formal in formals(parameters())
        if isinstance(formal, StructLayout)
    ]
    assert names == [["x"], ["y"]]


def test_constants_are_variables_by_their_symbol() -> None:
    assert [(one.name, one.symbol) for one in constants(parameters())] == [("taps", "ns::taps")]
    assert Parameter.named("taps", Constant(f32, 3)).symbol == "taps"
