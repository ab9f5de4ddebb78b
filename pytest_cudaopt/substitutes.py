"""What a comparison of outputs should notice: results of other inputs, of rounded inputs, in fewer bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.arguments import Arguments, bind_again
from pytest_cudaopt.dtypes import BY_NAME, DType
from pytest_cudaopt.errors import DeclarationError, ReferenceFault
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.reference import compute_expected
from pytest_cudaopt.rounding import round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

# One precision less, coarsest first, by mantissa bits; floats of 8 bits have none below.
_LOWER: Mapping[int, tuple[str, ...]] = {
    52: ("f32",),
    23: ("bf16", "f16"),
    10: ("f8e4m3",),
    7: ("f8e4m3",),
}
# As many elements do not all lie near a number of fewer bits by chance.
FEW = 16
# Draws of other inputs, where an output has fewer elements than that.
_DRAWS = 3
# The reference is asked again for cases of at most so many elements.
_MOST_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Substitutes:
    """A case, with what the reference says of its inputs and of others."""

    prepared: PreparedCase
    expected: Expectation
    others: tuple[Expectation, ...]
    rounded: Mapping[str, Expectation]

    @classmethod
    def of(cls, prepared: PreparedCase) -> Substitutes:
        expected = prepared.expected
        others: list[Expectation] = []
        rounded: dict[str, Expectation] = {}
        if _may_ask_again(prepared):
            few = any(math.prod(prepared.arguments.shapes[p.name]) < FEW for p in expected.arguments.outputs)
            others += _others(prepared, _DRAWS if few else 1)
            lower = {
                name for p in expected.arguments.outputs for name in lower_precisions(p, prepared.arguments)
            }
            rounded = {
                name: one for name in sorted(lower) if (one := _on_rounded(prepared, name)) is not None
            }
        return cls(prepared, expected, tuple(others), rounded)

    @property
    def judged(self) -> Iterator[Parameter]:
        """The outputs that a tolerance, or equality, decides on."""
        if self.prepared.kernel.accept is None:
            for parameter in self.expected.arguments.outputs:
                if math.prod(self.prepared.arguments.shapes[parameter.name]):
                    yield parameter


def _may_ask_again(prepared: PreparedCase) -> bool:
    # A kernel that is a reference would have to be launched.
    elements = sum(math.prod(shape) for shape in prepared.arguments.shapes.values())
    return callable(prepared.kernel.reference) and elements <= _MOST_ELEMENTS


def _others(prepared: PreparedCase, draws: int) -> Iterator[Expectation]:
    kernel = prepared.kernel
    for number in range(1, draws + 1):
        try:
            arguments = bind_again(kernel, prepared.case, prepared.arguments, number)
            yield compute_expected(kernel, arguments)
        except (DeclarationError, ReferenceFault):
            # The declaration is judged by its own inputs, not by these.
            return


def _on_rounded(prepared: PreparedCase, lower: str) -> Expectation | None:
    """Return what the reference makes of inputs rounded to `lower`; None where it cannot."""
    to = BY_NAME[lower]
    bound = prepared.arguments
    arrays = {
        p.name: _rounded(bound.arrays[p.name], p.dtype, to)
        for p in bound.parameters
        if p.name in bound.arrays.keys() - bound.tiles.keys()
        and p.dtype.is_float
        and p.dtype.mantissa_bits > to.mantissa_bits
    }
    if not arrays:
        return None
    try:
        return compute_expected(prepared.kernel, replace(bound, arrays={**bound.arrays, **arrays}))
    except ReferenceFault:
        return None


def _rounded(array: NDArray[Any], dtype: DType, to: DType) -> NDArray[Any]:
    """Return `array` as it is after having been `to`, read-only."""
    rounded = through(array.astype(np.float64), dtype, to)
    rounded.setflags(write=False)
    return rounded


def through(values: NDArray[np.float64], dtype: DType, to: DType) -> NDArray[Any]:
    """Return `values` in `dtype` as they are after having been `to`."""
    with np.errstate(all="ignore"):
        return round_to(dtype, round_to(to, values).astype(np.float64))


def lower_precisions(output: Parameter, arguments: Arguments) -> tuple[str, ...]:
    """Return the precisions below that of the computation: of the output, or of its inputs if less."""
    if not output.dtype.is_float:
        return ()
    inputs = [p.dtype for p in arguments.parameters if p.name in arguments.arrays and p.dtype.is_float]
    return _LOWER.get(min(dtype.mantissa_bits for dtype in (output.dtype, *inputs)), ())
