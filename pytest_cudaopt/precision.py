"""Whether a candidate that computes in narrower types rounds worse than the starting kernel: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_cudaopt.checked import Checked
from pytest_cudaopt.error_share import TIMES_THE_START, least_ulp, scaled_error
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus
from pytest_cudaopt.properties import Property
from pytest_cudaopt.tripwire import Tripwire, TripwireKind
from pytest_cudaopt.witness import Observed

_NARROW = (TripwireKind.NARROWER, TripwireKind.LOW_PRECISION)


def computes_narrowly(tripwires: Iterable[Tripwire]) -> Tripwire | None:
    """Return what in the code computes with fewer bits than the start, if anything does."""
    return next((one for one in tripwires if one.kind in _NARROW), None)


def lost_precision(checked: Checked, observed: Observed, tripwire: Tripwire) -> CaseOutcome | None:
    """Return the outcome of a candidate whose errors are beyond the start's; None if they are not.

    A tolerance may be loose on purpose, and a narrower type beside the point: only both together are a loss.
    """
    expected, outputs = checked.expected, checked.outputs
    if expected is None or outputs is None:
        return None
    for output in expected.arguments.outputs:
        if output.name not in observed.errors:
            continue
        error = scaled_error(expected.arrays[output.name], outputs[output.name])
        unit = 2.0**-output.dtype.mantissa_bits
        allowed = max(
            TIMES_THE_START * observed.errors[output.name], least_ulp(expected.arguments, output) * unit
        )
        if error > allowed:
            note = (
                f"'{output.name}' is off by {error:.2g} of its largest element, the starting kernel by "
                f"{observed.errors[output.name]:.2g}: {tripwire}"
            )
            return replace(
                checked.outcome, status=CaseStatus.LOST, comparisons=(), note=note, lost=Property.PRECISION
            )
    return None
