"""Execute one case with every check of `sim` on, in several orders of its blocks and warps.

A GPU shows none of what is looked for here, and often the right result all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.cases import derived_seed
from pytest_cudaopt.contents import remove
from pytest_cudaopt.errors import HarnessError, ReferenceUnsupported
from pytest_cudaopt.finding import Finding, FindingKind, distinct, most_severe_first
from pytest_cudaopt.outputs import Outputs, output_files, read_changed, read_outputs
from pytest_cudaopt.protocol import Checks, Load, Order, Read, Reload, Request, Reset, Step
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.shadow_run import rounding_of
from pytest_cudaopt.waivers import sort_out

if TYPE_CHECKING:
    from pytest_cudaopt.answers import Answer
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.compile import Compiled
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Budget, Comparison
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.prepared_case import PreparedCase

ORDERS = (Order.FORWARD, Order.REVERSE, Order.RANDOM)
CHECKS = Checks(accesses=True)
# Of a kernel whose smallest case is large.
TIMEOUT_S = 30.0
# What else a launch may end with is about `sim`: what it cannot execute, or has no room for.
_EVIDENCE = frozenset(
    {
        FindingKind.ILLEGAL_ADDRESS,
        FindingKind.MISALIGNED,
        FindingKind.WRITE_TO_INPUT,
        FindingKind.BARRIER_DIVERGENCE,
        FindingKind.ABSENT_LANE,
        FindingKind.NO_PROGRESS,
        FindingKind.TRAP,
    }
)


def sanitize(
    prepared: PreparedCase,
    candidate: Candidate,
    compiled: Compiled,
    launch: LaunchConfiguration,
    sim: Device,
    budget: Budget,
    *,
    rounding: bool = False,
) -> Sanitized:
    """Return what `sim` finds in one launch of the case, compiled for it, and what of that is waived.

    Every order starts from the same memory. Outputs that keep the contract in one order and not in another
    are a finding; bits that differ within it, as those of sums by atomics do, are a note. What is wrong in
    every order is for the check to say. With `rounding`, errors are split where nothing is found. Raises
    ReferenceFault.
    """
    if launch.is_empty:
        return Sanitized(tuple(ORDERS))
    request = base_request(prepared, compiled, "sanitize", sim, budget)
    request = replace(request, timeout_s=min(TIMEOUT_S, budget.launching_timeout_s))
    files = {order: output_files(prepared, sim, request, f"-{order}") for order in ORDERS}
    try:
        answer = sim.ask(replace(request, steps=_steps(prepared, compiled, launch, files)))
        skipped = _skipped(answer, request)
        if skipped:
            return Sanitized(skipped=skipped)
        found = _found(answer)
        outputs = [] if answer.fault is not None else _outputs(answer, prepared, files)
    finally:
        remove(file for each in files.values() for file in each.values())
    dependent, notes = _dependence(prepared, candidate, outputs)
    unseen = (note for step in answer.steps if step.do == "launch" for note in step.notes)
    notes = (*notes, *dict.fromkeys(unseen))
    if answer.fault is not None and not any(one.kind is answer.fault.kind for one in found):
        notes = (*notes, f"blocks rely on their order: {answer.fault.message}")
    seen = _without_waived(prepared, candidate, most_severe_first([*distinct(found), *dependent]), notes)
    if not rounding or seen.findings:
        return seen
    errors, loss = rounding_of(prepared, compiled, launch, sim, budget)
    return replace(seen, errors=errors, loss=loss)


def _without_waived(
    prepared: PreparedCase, candidate: Candidate, findings: tuple[Finding, ...], notes: tuple[str, ...]
) -> Sanitized:
    waivers, source = prepared.kernel.waivers, prepared.kernel.source
    if not (findings and waivers):
        return Sanitized(tuple(ORDERS), findings, notes=notes)
    text = prepared.kernel.read_source()
    standing, waived = sort_out(findings, waivers, candidate, source, text)
    return Sanitized(tuple(ORDERS), standing, waived, notes)


def _steps(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    files: Mapping[Order, Mapping[str, Path]],
) -> tuple[Step, ...]:
    step = launch_step(prepared, compiled, launch)
    seed = derived_seed(prepared.kernel.name, prepared.case) & 0xFFFFFFFF
    steps: list[Step] = []
    for order in ORDERS:
        # Also what the module's own variables held: a counter that nobody resets is another matter.
        steps += [Reload(step.module), Reset()] if steps else [Load(step.module)]
        order_seed = seed if order is Order.RANDOM else 0
        steps.append(replace(step, checks=CHECKS, order=order, order_seed=order_seed))
        steps += [Read(name, str(file), if_changed=True) for name, file in files[order].items()]
    return tuple(steps)


def _skipped(answer: Answer, request: Request) -> str:
    """Return why nothing can be said of the case; empty if something can."""
    fault = answer.fault
    if fault is None or fault.kind in _EVIDENCE:
        return ""
    if fault.kind is not FindingKind.TIMEOUT:
        return fault.message
    if fault.is_placed:
        # The bound of instructions, which the launch kept without checks, or would have on a GPU.
        return ""
    return f"sim needs more than {request.timeout_s:g} s for the case with its checks"


def _found(answer: Answer) -> list[Finding]:
    """Return what was seen, and the fault that ended it all; later orders are named."""
    launches = [step for step in answer.steps if step.do == "launch"]
    fault = answer.fault
    if len(launches) > len(ORDERS) or (fault is None and len(launches) < len(ORDERS)):
        raise HarnessError(
            f"answer '{answer.id}'", expected=f"{len(ORDERS)} 'launch' steps", got=str(len(launches))
        )
    seen = [(order, launch.findings) for order, launch in zip(ORDERS, launches, strict=False)]
    if fault is not None:
        order = ORDERS[min(len(launches), len(ORDERS) - 1)]
        seen.append((order, answer.findings if _relies_on_order(fault, order) else (fault, *answer.findings)))
    return [_in_order(finding, order) for order, findings in seen for finding in findings]


def _relies_on_order(fault: Finding, order: Order) -> bool:
    """Whether blocks wait for ever in an order other than that in which GPUs start them.

    CUDA promises none, but scans that look back live by it: no finding. It misses what hangs on a GPU that
    starts blocks otherwise.
    """
    return fault.kind is FindingKind.NO_PROGRESS and order is not Order.FORWARD


def _in_order(finding: Finding, order: Order) -> Finding:
    if order is Order.FORWARD:
        return finding
    return replace(finding, message=f"{finding.message.rstrip('.')} (blocks and warps in {order} order)")


@dataclass(frozen=True)
class _Written:
    """What one order wrote; `changed` names the outputs that differ from those of the order before."""

    order: Order
    outputs: Outputs
    changed: tuple[str, ...]


def _outputs(
    answer: Answer, prepared: PreparedCase, files: Mapping[Order, Mapping[str, Path]]
) -> list[_Written]:
    reads = [step.changed for step in answer.steps if step.do == "read"]
    asked = [(order, name) for order in ORDERS for name in files[order]]
    if len(reads) != len(asked):
        raise HarnessError(
            f"answer '{answer.id}'", expected=f"{len(asked)} 'read' steps", got=str(len(reads))
        )
    differs = dict(zip(asked, reads, strict=True))
    written: list[_Written] = []
    for order in ORDERS:
        changed = tuple(name for name in files[order] if differs[order, name])
        before = written[-1].outputs if written else read_outputs(files[order], prepared)
        outputs = read_changed(files[order], prepared, before, changed) or before
        written.append(_Written(order, outputs, changed))
    return written


def _dependence(
    prepared: PreparedCase, candidate: Candidate, written: list[_Written]
) -> tuple[list[Finding], tuple[str, ...]]:
    """Return the finding of a result that depends on the order, or the note that bits of it do."""
    differing = sorted({name for later in written[1:] for name in later.changed})
    if not differing:
        return [], ()
    try:
        expected = prepared.expected
    except ReferenceUnsupported:
        # Nobody can say whether the contract is kept: no finding.
        return [], (_bits_note(differing),)
    agreements = {one.order: compare_outputs(prepared.kernel, expected, one.outputs) for one in written}
    right = [order for order, agreement in agreements.items() if agreement.holds]
    wrong = [order for order, agreement in agreements.items() if not agreement.holds]
    if not wrong:
        return [], (_bits_note(differing),)
    if not right:
        return [], ()
    worst = next(one for one in agreements[wrong[0]].comparisons if not one.matches)
    message = (
        f"kernel '{prepared.kernel.name}' is right with blocks and warps in {right[0]} order and wrong in "
        f"{wrong[0]} order: {_difference(worst)}"
    )
    # No line did it; waivers go by the file.
    return [Finding(FindingKind.ORDER_DEPENDENT, message, file=candidate.file, buffer=worst.output)], ()


def _bits_note(names: list[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return f"bits of {listed} depend on the order"


def _difference(worst: Comparison) -> str:
    text = f"{worst.mismatched} of {worst.elements} elements of '{worst.output}' differ"
    if worst.worst is None or worst.worst.expected is None:
        return text
    index = ", ".join(str(i) for i in worst.worst.index)
    return f"{text}, worst at [{index}]: expected {worst.worst.expected:.9g}, got {worst.worst.got:.9g}"
