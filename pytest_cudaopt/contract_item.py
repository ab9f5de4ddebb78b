"""What `kernel[contract]` does: ask the kernel for what candidates would have to keep, by what measure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import baseline_files, report
from pytest_cudaopt.baseline import Baseline, Held, candidate_of
from pytest_cudaopt.baseline_update import ACCEPT_SLOWER, Mode
from pytest_cudaopt.draw_cases import declared_seed
from pytest_cudaopt.errors import CudaoptError, DeclarationError, ReferenceFault
from pytest_cudaopt.evaluation import Budget, Plan, Stage, Status, Tried
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.loose_tolerance import loose_tolerances
from pytest_cudaopt.machine import machine_of
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.report import Failure, FailureClass
from pytest_cudaopt.sanitize_cases import small_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.session import KernelSession
    from pytest_cudaopt.table import Row


# Of what a tolerance lets pass.
_SHOWN = 3


def contract_kernel(work: Work, session: KernelSession) -> Finished:
    """Find which properties the kernel has; it fails only for one that is required."""
    settings, device, kernel = session.settings, session.device(), work.kernel
    start = kernel.start()
    plan = Plan(
        (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.CONTRACT),
        small_cases(kernel, kernel.cases, settings.sanitize_elements),
        budget=Budget(timeout_s=settings.timeout_s),
        fuzz_seed=declared_seed(kernel) if settings.fuzz_seed is None else settings.fuzz_seed,
        witness=start,
    )
    row = work.row.on(device)
    try:
        evaluation = evaluate(kernel, start, plan, device)
    except (ReferenceFault, DeclarationError) as error:
        # Of a declared case: what cannot be judged beyond those binds nobody.
        return Finished(replace(row, status="not judged"), not_judged=f"a declared case fails: {error.what}")
    if evaluation.status is Status.NOT_JUDGED:
        return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
    lost = next((outcome for outcome in evaluation.outcomes if outcome.lost is not None), None)
    if evaluation.accepted:
        loose = loose_tolerances(prepare(kernel, case, device) for case in plan.cases)
        doubts = tuple(f"the tolerance is loose: {one}" for one in loose[:_SHOWN])
        row = replace(row, note=_note(evaluation.tried), doubts=doubts)
        return _held_to_baseline(row, held_properties(evaluation.tried), work, session, plan)
    if evaluation.outcomes and lost is None:
        # For the check of that case to say in full.
        reason = f"a declared case fails: {evaluation.reason}"
        return Finished(replace(row, status="not judged"), not_judged=reason)
    session.shown_mistakes.update((work.kernel_id, one.mistake) for one in evaluation.findings)
    failure = report.describe_evaluation(kernel, start, evaluation, session.root)
    return Finished.failed(row, replace(failure, case=None if lost is None else lost.case))


def held_properties(tried: Sequence[Tried]) -> dict[str, Held]:
    """Return which properties the kernel has, at every trial of them, and why not others."""
    lacking = {one.property: one.why for one in tried if one.discarded}
    judged = [one.property for one in tried if one.judged or one.discarded]
    return {str(one): Held(one not in lacking, lacking.get(one, "")) for one in dict.fromkeys(judged)}


def _held_to_baseline(
    row: Row, held: dict[str, Held], work: Work, session: KernelSession, plan: Plan
) -> Finished:
    """Record the properties if asked to; fail for those that the baseline has and the kernel lost.

    What is lost by the record alone may be a matter of other trials, of a case that was added: the version
    of the baseline has to have it at these very trials.
    """
    settings, mode = session.settings, Mode(session.settings.baseline)
    if mode is Mode.OFF:
        return Finished(row)
    path, _, name = work.kernel_id.partition("::")
    module, device = session.root / path, machine_of(session.device()).device
    known = baseline_files.read(module, name, device)
    had = {} if known is None else known.properties
    lost = [one for one, before in had.items() if before.holds and one in held and not held[one].holds]
    if lost and known is not None:
        still_had = _still_had(known, work, session, plan)
        lost = [one for one in lost if one in still_had]
    accepts = settings.accept_slower
    note = baseline_files.record_properties(module, name, device, held, mode, accepts)
    row = replace(row, baseline_note=note)
    if not lost or (mode.replaces and accepts):
        return Finished(row)
    first = lost[0]
    failure = Failure(
        FailureClass.LOST_PROPERTY,
        f"{first}: the kernel of the baseline is right {Property(first).meaning}, this one is not",
        (
            f"  because   {held[first].why}",
            *(f"  also      {one}: {held[one].why}" for one in lost[1:]),
            f"  next      Mend it, give it up with ignored=['{first}'], or record that: "
            f"--cudaopt-baseline update {ACCEPT_SLOWER}",
        ),
    )
    return Finished.failed(row, failure)


def _still_had(known: Baseline, work: Work, session: KernelSession, plan: Plan) -> frozenset[str]:
    """Return the properties that the version of the baseline has at the plan's trials.

    None of one that cannot be rebuilt or judged: it holds nobody to anything.
    """
    kernel = work.kernel
    if not known.versions:
        return frozenset()
    try:
        version = candidate_of(known.versions[0], kernel.source.parent)
        evaluation = evaluate(kernel, version, replace(plan, witness=version), session.device())
    except CudaoptError:
        return frozenset()
    return frozenset(name for name, one in held_properties(evaluation.tried).items() if one.holds)


def _note(tried: Sequence[Tried]) -> str:
    """Say which properties the kernel has, and which it lacks at some trial."""
    judged = {one.property for one in tried if one.judged}
    lacking = {one.property for one in tried if one.discarded}
    has = [str(one) for one in Property if one in judged - lacking]
    partly = [str(one) for one in Property if one in judged & lacking]
    lacks = [str(one) for one in Property if one in lacking - judged]
    parts = [
        f"{len(has)} properties" if has else "",
        f"in part: {', '.join(partly)}" if partly else "",
        f"not: {', '.join(lacks)}" if lacks else "",
    ]
    return "; ".join(part for part in parts if part) or "nothing to ask for"
