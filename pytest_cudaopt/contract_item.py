"""What `kernel[contract]` does: ask the kernel for what candidates would have to keep, by what measure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.draw_cases import declared_seed
from pytest_cudaopt.errors import DeclarationError, ReferenceFault
from pytest_cudaopt.evaluation import Budget, Plan, Stage, Status, Tried
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.loose_tolerance import loose_tolerances
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.sanitize_cases import small_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.session import KernelSession


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
        return Finished(replace(row, note=_note(evaluation.tried), doubts=doubts))
    if evaluation.outcomes and lost is None:
        # For the check of that case to say in full.
        reason = f"a declared case fails: {evaluation.reason}"
        return Finished(replace(row, status="not judged"), not_judged=reason)
    session.shown_mistakes.update((work.kernel_id, one.mistake) for one in evaluation.findings)
    failure = report.describe_evaluation(kernel, start, evaluation, session.root)
    return Finished.failed(row, replace(failure, case=None if lost is None else lost.case))


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
