"""Hold what launches wrote against the reference: pure, whoever launched and whatever follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt.declare import Kernel
from pytest_cudaopt.evaluation import Comparison
from pytest_cudaopt.outputs import Outputs
from pytest_cudaopt.validate import compare

WRONG_AGAIN = "right on the first launch, wrong when launched again (its outputs held another pattern before)"


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
        if parameter.is_output
    )
    return Agreement(comparisons)


def compare_launches(kernel: Kernel, expected: Outputs, first: Outputs, again: Outputs | None) -> Agreement:
    """Compare a launch and, if it wrote anything else, the one after it, which started from another poison.

    An element left unwritten under a `fmaxf(y, v)`, or a counter that is not reset, may look right once.
    """
    agreement = compare_outputs(kernel, expected, first)
    if again is None or not agreement.holds:
        return agreement
    repeated = compare_outputs(kernel, expected, again)
    return agreement if repeated.holds else Agreement(repeated.comparisons, WRONG_AGAIN)
