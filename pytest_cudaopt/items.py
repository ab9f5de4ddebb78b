"""What an item does when it runs: ask the judge, or start an optimisation, and say what came of it.

It decides nothing about a kernel: `pipeline.evaluate` and `optimize` do. Knows no pytest.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.contract_item import contract_kernel
from pytest_cudaopt.errors import CudaoptError, ReferenceFault
from pytest_cudaopt.evaluation import Budget, CaseStatus, Plan, Stage, Status
from pytest_cudaopt.fuzz_item import fuzz_kernel
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.latency_item import latency_kernel
from pytest_cudaopt.limits_item import limits_kernel
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.sanitize_item import sanitize_kernel
from pytest_cudaopt.table import Row, RowStage

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.item_work import Announce, Work
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.model_choice import Chosen
    from pytest_cudaopt.optimize.summary import RunSummary
    from pytest_cudaopt.session import KernelSession

_SHOWN_CASES = 3


def run(work: Work, session: KernelSession, announce: Announce) -> Finished:
    """Do `work`; whatever this package can name as a fault becomes a failure."""
    try:
        if work.stage is RowStage.FUZZ:
            return fuzz_kernel(work, session)
        if work.stage is RowStage.CONTRACT:
            return contract_kernel(work, session)
        if work.stage is RowStage.SANITIZE:
            return sanitize_kernel(work, session)
        if work.stage is RowStage.LIMITS:
            return limits_kernel(work, session)
        if work.case is None:
            return _optimize(work, session, announce)
        if work.stage is RowStage.LATENCY:
            return latency_kernel(work, work.case, session)
        return _check(work, work.case, session)
    except CudaoptError as error:
        if isinstance(error, ReferenceFault):
            session.failed_checks.add((work.kernel_id, work.case_id))
        return Finished.failed(work.row, report.describe_error(error, session.root))


def _check(work: Work, case: Case, session: KernelSession) -> Finished:
    settings, device = session.settings, session.device()
    plan = Plan((Stage.COMPILE, Stage.CHECK), (case,), budget=Budget(timeout_s=settings.timeout_s))
    candidate = work.kernel.start()
    row = work.row.on(device)
    evaluation = evaluate(work.kernel, candidate, plan, device)
    if evaluation.status is Status.NOT_JUDGED:
        return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
    if evaluation.accepted:
        return Finished(row, printed=evaluation.printed)
    if evaluation.outcomes:
        session.failed_checks.add((work.kernel_id, work.case_id))
    session.shown_mistakes.update((work.kernel_id, one.mistake) for one in evaluation.findings)
    failure = report.describe_evaluation(work.kernel, candidate, evaluation, session.root)
    return replace(Finished.failed(row, failure), printed=evaluation.printed)


def _optimize(work: Work, session: KernelSession, announce: Announce) -> Finished:
    if not work.kernel.measured_cases:
        # Kernels that are only checked live beside those to optimise: no reason to fail.
        reason = "nothing to optimise for: no case(..., measure=True)"
        return Finished(replace(work.row, status="not measured"), not_judged=reason)
    # Loads langgraph, which only sessions that optimise should pay for.
    from pytest_cudaopt.optimize import attempt_line
    from pytest_cudaopt.optimize.graph import optimize
    from pytest_cudaopt.optimize.options import options_of

    settings, device = session.settings, session.device()
    options = options_of(settings, session.root)
    goes_on = options.going_on_from is not None
    chosen = proposer(session, goes_on=goes_on)
    folders: list[Path] = []
    item = f"  {work.kernel_id}[optimize]"

    def began(folder: Path, earlier: int) -> None:
        folders.append(folder)
        if goes_on:
            shown = report.shown_path(folder, session.root)
            announce(f"{item} {shown} goes on with {earlier} attempts, the start among them")

    def progress(attempt: Attempt) -> None:
        announce(attempt_line.text(item, attempt, options.max_iterations))

    row = work.row.on(device)
    if chosen.note:
        announce(f"{item} {chosen.note}")
    try:
        summary = optimize(
            work.kernel,
            device,
            options,
            session.results,
            progress,
            model=chosen.model,
            began=began,
            begun_in=work.run_folder,
        )
    except KeyboardInterrupt:
        session.parting_lines += _go_on_lines(work, session, folders)
        raise
    except CudaoptError as error:
        failure = report.describe_error(error, session.root)
        details = (*failure.details, *_go_on_lines(work, session, folders))
        return Finished.failed(row, replace(failure, details=details))
    if summary.best is None:
        return _rejected_start(work, row, summary, session)
    return Finished(_with_summary(row, summary, session))


def proposer(session: KernelSession, *, goes_on: bool) -> Chosen:
    """Return who proposes; what is found of a server holds for all kernels of a session."""
    from pytest_cudaopt.optimize.dialects import Api
    from pytest_cudaopt.optimize.model_choice import choose
    from pytest_cudaopt.optimize.server_model import KnownDialects

    settings = session.settings
    session.dialects = session.dialects or KnownDialects(session.note_dialect)
    return choose(
        settings.model,
        os.environ,
        session.root,
        effort=settings.effort,
        api=Api(settings.api),
        dialects=session.dialects,
        goes_on=goes_on,
    )


def _rejected_start(work: Work, judged: Row, summary: RunSummary, session: KernelSession) -> Finished:
    row = replace(judged, folder=_folder(summary, session))
    if summary.start is None:
        return Finished(replace(row, status="not started"), not_judged=summary.stopped_detail)
    evaluation = summary.start.evaluation
    if evaluation.status is Status.NOT_JUDGED:
        return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
    # One case is enough here: the check items show each.
    first = replace(
        evaluation, outcomes=tuple(o for o in evaluation.outcomes if o.status is not CaseStatus.PASSED)[:1]
    )
    failure = report.describe_evaluation(work.kernel, summary.start.candidate, first, session.root)
    explained = (
        *failure.details,
        "  not optimised: the starting kernel must pass its own checks first",
    )
    return Finished.failed(row, replace(failure, details=explained))


def _go_on_lines(work: Work, session: KernelSession, folders: Sequence[Path]) -> list[str]:
    """Say where a run that was cut short is, and the command that goes on with it."""
    lines = []
    for folder in folders:
        module, _, name = work.kernel_id.partition("::")
        path = os.path.relpath(session.root / module)
        named = folder.name if folder.parent == session.results else str(folder)
        flags = [*session.settings.given_flags(without={"going_on_from"}), f"--optimize-from={named}"]
        lines += [
            f"  recorded  {report.shown_path(folder, session.root)}",
            f"  go on     {shlex.join(['pytest', f'{path}::{name}[optimize]', *flags])}",
        ]
    return lines


def _with_summary(row: Row, summary: RunSummary, session: KernelSession) -> Row:
    best = summary.best
    return replace(
        row,
        median_ns=summary.best_ns,
        kind=summary.latency_kind,
        start_ns=summary.start_ns,
        doubts=summary.warnings,
        best=best.label if best is not None and summary.improved else None,
        gains=_gains(summary) if summary.improved else None,
        attempts=len(summary.attempts) - 1,
        rejected=summary.rejected or None,
        tokens=summary.usage.total or None,
        notes=(
            *session.take_dialect_lines(),
            *summary.notes,
            *summary.strategy_notes,
            *_proof(summary),
            *_cases_on_offer(summary),
        ),
        folder=_folder(summary, session),
        note=summary.acceptance.message if summary.acceptance is not None else None,
    )


def _proof(summary: RunSummary) -> list[str]:
    """Return one line of the winner's certificate; without one, what there is to know of the reference."""
    if summary.best is None or not summary.improved:
        origin = "" if summary.best is None else summary.best.evaluation.reference_origin
        return [f"reference: {origin}"] if origin else []
    return [f"certificate: {certificate_of(summary.best.evaluation).line}"]


def _cases_on_offer(summary: RunSummary) -> list[str]:
    """Return the cases that showed mistakes, to be declared so that they stay out for good."""
    found = summary.cases_to_declare
    if not found:
        return []
    more = f", and {len(found) - _SHOWN_CASES} in summary.json" if len(found) > _SHOWN_CASES else ""
    shown = ", ".join(found[:_SHOWN_CASES])
    return [f"mistakes showed at cases nobody declared; cases= could take {shown}{more}"]


def _gains(summary: RunSummary) -> str | None:
    """Return each case's speedup where there are several."""
    if len(summary.per_case) < 2:
        return None
    return ", ".join(f"{gain.case_id} {gain.speedup:.2f}x" for gain in summary.per_case)


def _folder(summary: RunSummary, session: KernelSession) -> str:
    return report.shown_path(summary.folder, session.root)
