"""What `kernel[limits]` does: compile, and hold what the code takes against the declared limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.evaluation import Budget, Plan, Stage, Status
from pytest_cudaopt.finding import BEYOND_LIMITS
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.pipeline import evaluate

if TYPE_CHECKING:
    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.resources_taken import LimitsJudged
    from pytest_cudaopt.session import KernelSession
    from pytest_cudaopt.table import Row
    from pytest_cudaopt.waivers import Waiver


def limits_kernel(work: Work, session: KernelSession) -> Finished:
    """Fail for what exceeds a limit; a limit that could be lower is a note."""
    device, kernel = session.device(), work.kernel
    start = kernel.start()
    plan = Plan((Stage.COMPILE, Stage.LIMITS), (), budget=Budget(timeout_s=session.settings.timeout_s))
    evaluation = evaluate(kernel, start, plan, device)
    row = work.row.on(device)
    if evaluation.limits is not None:
        row = _with(row, evaluation.limits, kernel.waivers)
    if evaluation.status is Status.NOT_JUDGED:
        return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
    if evaluation.accepted:
        return Finished(row)
    return Finished.failed(row, report.describe_evaluation(kernel, start, evaluation, session.root))


def _with(row: Row, judged: LimitsJudged, waivers: tuple[Waiver, ...]) -> Row:
    used = {one.waiver for one in judged.waived}
    unused = [one for one in waivers if one.kind in BEYOND_LIMITS and one not in used]
    doubts = [f"{one} matches no finding" for one in unused]
    if judged.no_launch:
        doubts.append(f"no launch, so shared memory is not known, at {', '.join(judged.no_launch)}")
    return replace(row, note=judged.text, waived=tuple(map(str, judged.waived)), doubts=tuple(doubts))
