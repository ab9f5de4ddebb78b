"""The witness: what the starting kernel does at cases nobody declared, asked once and remembered.

A candidate owes what the start can do, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import Checked, check_case
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.criterion import Slack, criterion
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.error_share import scaled_error, share_of_tolerance, slack_of
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.evaluation import Budget, CaseStatus
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.neighbours import without_undetermined
from pytest_cudaopt.outputs import Outputs
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.reasons import blame
from pytest_cudaopt.run import configure, run
from pytest_cudaopt.stricter import stricter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_REMEMBERED = 4096
# Elements of all arrays that `sim` is quick with, and instructions of a block.
_SMALL = 1 << 18
_MOST_INSTRUCTIONS = 5_000_000


@dataclass(frozen=True, eq=False)
class Observed:
    """What the start did at a case.

    `holds` says that it was right. `slack` is what a candidate may then miss, by output; `errors` the start's
    own error over its output's scale; `failing` marks elements at which it lacks the property itself;
    `faulted` says that a fault ended it.
    """

    holds: bool
    why: str = ""
    faulted: bool = False
    slack: Mapping[str, Slack] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    failing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


def observe(
    kernel: Kernel, start: Candidate, case: Case, device: Device, budget: Budget, asked: Property | None
) -> Observed:
    """Return what `start` does at `case`, asked for `asked`; whatever keeps it from an answer is one."""
    known = _KNOWN.setdefault(device, {})
    key = (kernel, start.digest, case, asked)
    if key not in known:
        if len(known) >= _MOST_REMEMBERED:
            known.clear()
        known[key] = _observe(kernel, start, case, device, budget, asked)
    return known[key]


def has_faulted(kernel: Kernel, start: Candidate, device: Device) -> bool:
    """Whether a fault has ended the start at some case: its contract is looser than what it can do."""
    return any(
        seen.faulted
        for (of, digest, _, _), seen in _KNOWN.get(device, {}).items()
        if of is kernel and digest == start.digest
    )


def fault_of_start(
    kernel: Kernel, start: Candidate, case: Case, device: Device, budget: Budget
) -> Finding | None:
    """Return what ends the start at `case` on `sim`, which costs no GPU's process; None for large cases."""
    sim = device.on_sim
    budget = replace(budget, block_instructions=_MOST_INSTRUCTIONS)
    with suppress(CudaoptError):
        if all_elements(kernel, kernel.all_sizes(case)) > _SMALL:
            return None
        compiled = compile_candidate(kernel, start, sim, budget, (case,))
        if not isinstance(compiled, CompileFailure):
            return _fault(kernel, start, compiled, case, sim, budget)
    return None


_KNOWN: WeakKeyDictionary[Device, dict[Any, Observed]] = WeakKeyDictionary()


def _observe(
    kernel: Kernel, start: Candidate, case: Case, device: Device, budget: Budget, asked: Property | None
) -> Observed:
    try:
        compiled = compile_candidate(kernel, start, device, budget, (case,))
        if isinstance(compiled, CompileFailure):
            return Observed(False, compiled.finding.message)
        if asked is Property.INTEGER_RANGE and (
            fault := _fault_there(kernel, start, compiled, case, device, budget)
        ):
            return Observed(False, f"the starting kernel fails there: {fault.message}", faulted=True)
        checked = check_case(kernel, start, compiled, case, device, budget)
    except CudaoptError as error:
        return Observed(False, error.short)
    return observed_of(checked, asked)


def _fault_there(
    kernel: Kernel, start: Candidate, compiled: Compiled, case: Case, device: Device, budget: Budget
) -> Finding | None:
    """Return what ends the start; a GPU is asked of nothing that has ended it on `sim`."""
    seen = fault_of_start(kernel, start, case, device, budget) if device.is_gpu else None
    return seen or _fault(kernel, start, compiled, case, device, budget)


def _fault(
    kernel: Kernel, start: Candidate, compiled: Compiled, case: Case, device: Device, budget: Budget
) -> Finding | None:
    """Return what ends the start, before a reference is asked that may not be able to answer either."""
    prepared = prepare(kernel, case, device)
    launch = configure(start, prepared, compiled, device)
    return launch if isinstance(launch, Finding) else run(prepared, compiled, launch, device, budget).fault


def determined_outputs(checked: Checked) -> Outputs:
    """Return what a launch wrote, with the reference's answer where that is not determined."""
    expected, outputs = checked.expected, checked.outputs
    assert expected is not None  # noqa: S101 - nothing was compared otherwise
    assert outputs is not None  # noqa: S101
    return without_undetermined(checked.prepared.kernel, expected, outputs)


def _holds(checked: Checked) -> bool:
    """Whether the start is right, as far as the reference's answer is determined."""
    if checked.passed:
        return True
    wrong, outcome = checked.outcome.status is CaseStatus.WRONG, checked.outcome
    if not wrong or outcome.note or checked.expected is None:
        return False
    kernel = checked.prepared.kernel
    return compare_outputs(kernel, checked.expected, determined_outputs(checked)).holds


def observed_of(checked: Checked, asked: Property | None = None) -> Observed:
    """Return what a check of the start says."""
    expected = checked.expected
    if expected is None or checked.outputs is None or not _holds(checked):
        why = f"the starting kernel fails there: {blame(checked.outcome)}"
        return Observed(False, why, faulted=checked.outcome.status is CaseStatus.FAULT)
    kernel = checked.prepared.kernel
    slack, errors, failing = {}, {}, {}
    for output in expected.arguments.outputs:
        if output.name not in expected.arrays or not output.dtype.is_float:
            continue
        wanted, got = expected.arrays[output.name], checked.outputs[output.name]
        bounds = criterion(output, kernel.tolerance, expected.arguments.sizes)
        share = share_of_tolerance(wanted, got, bounds)
        slack[output.name] = slack_of(share, expected.arguments, output, wanted)
        errors[output.name] = scaled_error(wanted, got)
        wrong = stricter(asked, output, wanted, got)
        if wrong is not None:
            failing[output.name] = wrong
    return Observed(True, slack=slack, errors=errors, failing=failing)
