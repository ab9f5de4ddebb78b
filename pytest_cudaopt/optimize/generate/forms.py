"""What a model fills in to declare a kernel that was only described. Pure; every field is required."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_cudaopt.optimize.conversation import Form as AnswerForm


class Form(BaseModel):
    """A form, or a part of one: nothing but its fields."""

    model_config = ConfigDict(extra="forbid")


class SizeForm(Form):
    """A size and its value."""

    name: str
    value: int


class ValuesForm(Form):
    """What an input holds."""

    generator: Literal["normal", "uniform", "integers", "indices", "permutation"] = Field(
        description="normal: mean `low`, deviation `high`; uniform: from low to high; integers: low to high, "
        "both included; indices: from 0 below `high`; permutation: of its own elements"
    )
    low: str | None = Field(description="a number, or for integers an expression over sizes; else null")
    high: str | None = Field(description="likewise")


class ParameterForm(Form):
    """A parameter of the kernel, in the order of the __global__ function's."""

    name: str
    role: Literal["in", "out", "inout", "scratch", "size", "scalar"] = Field(
        description="size: an integer that shapes are made of; scalar: any other number passed by value"
    )
    dtype: Literal["f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool_"]
    shape: list[str] = Field(
        description='of an array its extents, expressions over sizes, such as ["m", "k"]; else empty'
    )
    values: ValuesForm | None = Field(description="of an input what it holds; null for ordinary numbers")
    value: float | None = Field(description="of a scalar its value; else null")


class DomainForm(Form):
    """The least and the most that a size may be."""

    size: str
    least: int
    most: int


class SpecificationForm(Form):
    """A kernel's declaration, but for its reference and its code."""

    kernel: str = Field(description="the name of the __global__ function, such as sgemm")
    description: str = Field(description="one sentence: what it computes, with the formula")
    parameters: list[ParameterForm]
    domain: list[DomainForm] = Field(description="only where the operation needs it, such as k >= 1")
    where: list[str] = Field(description="conditions between sizes, such as: kv_heads <= heads")
    friendly: list[list[SizeForm]] = Field(
        description="2 to 4 cases of a few thousand elements, multiples of 32"
    )
    awkward: list[list[SizeForm]] = Field(
        description="3 to 6 small cases: sizes of 1, primes, one more or less than a power of two"
    )
    measured: list[list[SizeForm]] = Field(
        description="1 to 3 cases that latency counts at, of 100 thousand to 10 million elements"
    )
    rtol: float = Field(description="what the outputs' types allow, such as 1e-5 for sums of f32")
    atol: float
    flops: str | None = Field(description="floating-point operations, over sizes, such as 2*m*n*k; or null")
    bytes: str | None = Field(description="bytes that must be moved, over sizes; or null")


class ReferenceForm(Form):
    """A reference in NumPy."""

    source: str = Field(description="a Python file: imports of numpy and math only, and one function")


class ArrayForm(Form):
    """An array, its elements in row-major order."""

    name: str
    elements: list[float]


class KnownForm(Form):
    """A tiny case whose result you know without any program."""

    sizes: list[SizeForm]
    inputs: list[ArrayForm]
    outputs: list[ArrayForm]


class SecondOpinionForm(Form):
    """A reference of its own, and what must hold of any."""

    source: str = Field(description="a Python file: imports of numpy and math only, and one function")
    known: list[KnownForm] = Field(description="1 to 3 tiny cases, worked out by hand")
    linear_in: list[str] = Field(
        description="inputs x of which all outputs are linear, f(x1 + x2) = f(x1) + f(x2), the others fixed"
    )
    permutes: list[str] = Field(
        description="sizes such that reordering all arrays along them reorders outputs likewise, and changes "
        "outputs without them in nothing"
    )


@cache
def answer_form(form: type[Form]) -> AnswerForm:
    """Return the form as a JSON schema that strict servers accept."""
    return AnswerForm(form.__name__.removesuffix("Form").lower(), form.model_json_schema())
