"""Hold what launches wrote against the reference: pure, whoever launched and whatever follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pytest_cudaopt.buffers import POISON
from pytest_cudaopt.declare import Kernel
from pytest_cudaopt.evaluation import Comparison
from pytest_cudaopt.outputs import Outputs
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.validate import compare

WRONG_AGAIN = "right on the first launch, wrong when launched again (its outputs held another pattern before)"


# Of narrower integers, a value that was computed could be the pattern.
_LEAST_INTEGER_BYTES = 4


@dataclass(frozen=True)
class Agreement:
    """One comparison per output; `note` says of which launch they are, if not of the first."""

    comparisons: tuple[Comparison, ...]
    note: str = ""

    @property
    def holds(self) -> bool:
        return all(comparison.matches for comparison in self.comparisons)


def compare_outputs(kernel: Kernel, expected: Outputs, outputs: Outputs) -> Agreement:
    """Compare every output of one launch by the kernel's tolerance."""
    comparisons = tuple(
        compare(
            parameter,
            expected[parameter.name],
            outputs[parameter.name],
            *kernel.tolerance.for_dtype(parameter.dtype),
        )
        for parameter in kernel.parameters
        if parameter.is_output and parameter.name in expected
    )
    return Agreement(comparisons)


def compare_launches(kernel: Kernel, expected: Outputs, first: Outputs, again: Outputs | None) -> Agreement:
    """Compare a launch and, if it wrote anything else, the one after it, which started from another poison.

    An element left unwritten under a `fmaxf(y, v)`, or a counter that is not reset, may look right once.
    """
    agreement = compare_outputs(kernel, expected, first)
    if not agreement.holds:
        return replace(agreement, note=_unwritten_note(kernel, agreement, first))
    if again is None:
        return agreement
    repeated = compare_outputs(kernel, expected, again)
    return agreement if repeated.holds else Agreement(repeated.comparisons, WRONG_AGAIN)


def _unwritten_note(kernel: Kernel, agreement: Agreement, outputs: Outputs) -> str:
    """Say of the first wrong output how many elements nobody wrote; empty if none, or if nobody can tell."""
    wrong = next(comparison.output for comparison in agreement.comparisons if not comparison.matches)
    parameter = next(p for p in kernel.parameters if p.name == wrong)
    array = outputs[wrong]
    dtype = parameter.dtype
    can_tell = dtype.is_float or dtype.itemsize >= _LEAST_INTEGER_BYTES
    if parameter.role is not Role.OUT or not can_tell:
        return ""
    element = np.resize(np.frombuffer(bytes.fromhex(POISON), np.uint8), dtype.itemsize)
    elements = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, dtype.itemsize)
    unwritten = int((elements == element).all(axis=1).sum())
    return f"{unwritten} of {array.size} elements of '{wrong}' were never written" if unwritten else ""
