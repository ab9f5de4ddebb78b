"""Hold what launches wrote against the reference: pure, whoever launched and whatever follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.accept import accept_name, bad_elements
from pytest_cudaopt.buffers import FINITE_POISON, poison_of
from pytest_cudaopt.criterion import Slack, criterion
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import Comparison
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.outputs import Outputs, pattern_at
from pytest_cudaopt.parameters import Parameter, Role
from pytest_cudaopt.tolerance import Unwritten
from pytest_cudaopt.validate import FIRST_SHOWN, compare, compare_marked

if TYPE_CHECKING:
    from numpy.typing import NDArray

WRONG_AGAIN = "right on the first launch, wrong when launched again (its outputs held another pattern before)"


# Of narrower integers, and of floats of one byte, a value that was computed could be the pattern.
_LEAST_INTEGER_BYTES = 4


@dataclass(frozen=True)
class Agreement:
    """One comparison per output; `note` says of which launch they are, if not of the first."""

    comparisons: tuple[Comparison, ...]
    note: str = ""

    @property
    def holds(self) -> bool:
        return all(comparison.matches for comparison in self.comparisons)


def compare_outputs(
    kernel: Kernel,
    expected: Expectation,
    outputs: Outputs,
    poison: str | None = None,
    slack: Mapping[str, Slack] | None = None,
) -> Agreement:
    """Judge every output of one launch by `accept=`, or else by its tolerance and the `slack` it gets.

    `poison` is what outputs held before the launch, where that is not what they usually hold.
    """
    bad = bad_elements(kernel, expected, outputs)
    comparisons, note = [], ""
    for parameter in expected.arguments.outputs:
        name, got = parameter.name, outputs[parameter.name]
        if name in bad:
            reference = expected.arrays.get(name)
            comparisons.append(compare_marked(parameter, bad[name], reference, got, accept_name(kernel)))
            continue
        comparison = _compare_output(kernel, parameter, expected, got, (slack or {}).get(name, Slack()))
        overwritten = _overwritten(parameter, expected, got, poison)
        if overwritten is not None and overwritten.any():
            comparison = _with_overwritten(comparison, parameter, overwritten, got)
            count = f"{int(np.count_nonzero(overwritten))} of {got.size}"
            note = note or f"{count} elements of '{name}' were overwritten, though the reference keeps them"
        comparisons.append(comparison)
    return Agreement(tuple(comparisons), note)


def _compare_output(
    kernel: Kernel, parameter: Parameter, expected: Expectation, got: NDArray[Any], slack: Slack
) -> Comparison:
    bounds = slack.on(criterion(parameter, kernel.tolerance, expected.arguments.sizes))
    unwritten = expected.unwritten.get(parameter.name)
    compared = None if unwritten is None else ~unwritten
    return compare(parameter, expected.arrays[parameter.name], got, bounds, compared)


def _overwritten(
    parameter: Parameter, expected: Expectation, got: NDArray[Any], poison: str | None
) -> NDArray[np.bool_] | None:
    """Return the elements that should be as they were before the launch, and are not."""
    unwritten = expected.unwritten.get(parameter.name)
    if unwritten is None or parameter.judging.unwritten is not Unwritten.KEPT:
        return None
    return unwritten & ~pattern_at(got, poison or poison_of(parameter.dtype))


def compare_launches(
    kernel: Kernel, expected: Expectation, first: Outputs, again: Outputs | None
) -> Agreement:
    """Compare a launch and, if it wrote anything else, the one after it, which started from another poison.

    An element left unwritten under a `fmaxf(y, v)`, or a counter that is not reset, may look right once.
    """
    agreement = compare_outputs(kernel, expected, first)
    if not agreement.holds:
        if agreement.note:
            return agreement
        return replace(agreement, note=_unwritten_note(expected, agreement, first))
    if again is None:
        return agreement
    repeated = compare_outputs(kernel, expected, again, FINITE_POISON)
    return agreement if repeated.holds else Agreement(repeated.comparisons, WRONG_AGAIN)


def _unwritten_note(expected: Expectation, agreement: Agreement, outputs: Outputs) -> str:
    """Say of the first wrong output how many elements nobody wrote; empty if none, or if nobody can tell."""
    wrong = next(comparison.output for comparison in agreement.comparisons if not comparison.matches)
    parameter = next(p for p in expected.arguments.outputs if p.name == wrong)
    array = outputs[wrong]
    dtype = parameter.dtype
    can_tell = dtype.itemsize >= (2 if dtype.is_float else _LEAST_INTEGER_BYTES)
    must_write = parameter.judging.unwritten is Unwritten.ERROR
    if parameter.role is not Role.OUT or not can_tell or not must_write:
        return ""
    unwritten = int(np.count_nonzero(pattern_at(array, poison_of(dtype))))
    return f"{unwritten} of {array.size} elements of '{wrong}' were never written" if unwritten else ""


def _with_overwritten(
    comparison: Comparison, parameter: Parameter, overwritten: NDArray[np.bool_], got: NDArray[Any]
) -> Comparison:
    """Add the elements that a launch should have left alone to those that are wrong."""
    marked = compare_marked(parameter, overwritten, None, got, "")
    return replace(
        comparison,
        mismatched=comparison.mismatched + marked.mismatched,
        worst=comparison.worst or marked.worst,
        first=(*comparison.first, *marked.first)[:FIRST_SHOWN],
    )
