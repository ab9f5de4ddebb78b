"""What `kernel[sanitize]` does: every check of `sim`, on the small declared cases and a few drawn ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.errors import DeclarationError, ExpressionError, ReferenceRaised
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import SEEN_BY_CHECKS, FindingKind
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.pipeline import checker
from pytest_cudaopt.reasons import count
from pytest_cudaopt.rounding_text import rounding_lines
from pytest_cudaopt.sanitize_cases import DRAWN, drawn_cases, small_cases

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.session import KernelSession
    from pytest_cudaopt.table import Row
    from pytest_cudaopt.waivers import Waiver


def sanitize_kernel(work: Work, session: KernelSession) -> Finished:
    """Look at every case, and report all that is found."""
    settings, device, kernel = session.settings, session.device(), work.kernel
    candidate = kernel.start()
    stages, budget = (Stage.COMPILE, Stage.SANITIZE), Budget(timeout_s=settings.timeout_s)
    check = checker(kernel, candidate, Plan(stages, (), budget=budget, rounding=True), device)
    declared = small_cases(kernel, kernel.cases, settings.sanitize_elements)
    drawn = drawn_cases(kernel, candidate, DRAWN, settings.fuzz_seed)
    evaluations = [*map(check, declared), *_of_drawn(check, drawn)]
    shown = {mistake for kernel_id, mistake in session.shown_mistakes if kernel_id == work.kernel_id}
    # What ends a launch ended those of the checks as well.
    evaluations = [
        one for one in evaluations if not (one.outcomes and one.finding and one.finding.mistake in shown)
    ]
    row = _with_waived(work.row.on(device), evaluations)
    failure = _all_failures(evaluations)
    if failure is not None:
        described = report.describe_evaluation(kernel, candidate, failure, session.root)
        case = next((outcome.case for outcome in failure.outcomes), None)
        return Finished.failed(row, replace(described, case=case))
    return _passed(row, evaluations, kernel.waivers)


def _of_drawn(check: Callable[[Case], Evaluation], drawn: Sequence[Case]) -> Iterator[Evaluation]:
    """Judge drawn cases, but for those the reference or the launch rule is not for: fuzzing counts them."""
    for case in drawn:
        try:
            evaluation = check(case)
        except (ReferenceRaised, DeclarationError, ExpressionError):
            continue
        if evaluation.finding is None or evaluation.finding.kind is not FindingKind.INVALID_LAUNCH:
            yield evaluation


def _all_failures(evaluations: Sequence[Evaluation]) -> Evaluation | None:
    """Return everything that failed as one evaluation, the worst first; None if nothing did."""
    failed = [one for one in evaluations if one.status not in (Status.ACCEPTED, Status.NOT_JUDGED)]
    # What ended a launch comes first; of equals, the case that was declared first.
    failed.sort(key=lambda one: one.status is Status.FINDING)
    if not failed:
        return None
    return replace(failed[0], outcomes=tuple(outcome for one in failed for outcome in one.outcomes))


def _passed(row: Row, evaluations: Sequence[Evaluation], waivers: Sequence[Waiver]) -> Finished:
    outcomes = [outcome for one in evaluations for outcome in one.outcomes]
    seen = [o.sanitized for o in outcomes if o.sanitized is not None]
    done = [one for one in seen if one.is_done]
    if not done:
        reasons = [one.skipped for one in seen] + [one.reason for one in evaluations]
        why = reasons[0] if reasons else "the checks have failed the same way"
        return Finished(replace(row, status="unsupported"), not_judged=why)
    texts = [f"{count(len(done), 'case')}, each in {len(done[0].orders)} orders"]
    if left := [one.skipped for one in seen if one.skipped]:
        texts.append(f"{count(len(left), 'more case')} not executed: {left[0]}")
    texts += dict.fromkeys(note for one in done for note in one.notes)
    used = {waived.waiver for one in done for waived in one.waived}
    unused = [one for one in waivers if one.kind in SEEN_BY_CHECKS and one not in used]
    doubts = tuple(f"{one} matches no finding" for one in unused)
    row = replace(row, note="; ".join(texts), doubts=doubts, rounding=rounding_lines(done))
    return Finished(row)


def _with_waived(row: Row, evaluations: Sequence[Evaluation]) -> Row:
    """Return the row with every finding that is waived, once."""
    sanitized = [outcome.sanitized for one in evaluations for outcome in one.outcomes]
    waived = {one.finding.mistake: one for found in sanitized if found is not None for one in found.waived}
    return replace(row, waived=tuple(str(one) for one in waived.values()))
