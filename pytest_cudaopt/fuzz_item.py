"""What `kernel[fuzz]` does: judge the kernel at cases nobody listed, as hypothesis' profile has it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import report
from pytest_cudaopt.draw_cases import declared_seed, draws_of
from pytest_cudaopt.evaluation import Budget, Plan, Stage, Status
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.pipeline import checker

if TYPE_CHECKING:
    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.session import KernelSession


def fuzz_kernel(work: Work, session: KernelSession) -> Finished:
    """Fuzz the kernel by its declaration; raises what the judge does."""
    # Loads hypothesis, which only sessions that fuzz should pay for.
    from pytest_cudaopt.drawn import judged_by
    from pytest_cudaopt.fuzz import all_discarded, examples_of_profile, fuzz

    settings, device, kernel = session.settings, session.device(), work.kernel
    plan = Plan((Stage.COMPILE, Stage.CHECK), (), budget=Budget(timeout_s=settings.timeout_s))
    candidate = kernel.start()
    judge = judged_by(kernel, candidate, checker(kernel, candidate, plan, device))
    seed = declared_seed(kernel) if settings.fuzz_seed is None else settings.fuzz_seed
    examples = settings.fuzz_examples
    if settings.is_default("fuzz_examples"):
        examples = examples_of_profile() or examples
    fuzzed = fuzz(draws_of(kernel, candidate), judge, examples, seed, remembered_as=work.kernel_id)
    row = work.row.on(device)
    if fuzzed.failed is not None:
        case, evaluation = fuzzed.failed
        if evaluation.status is Status.NOT_JUDGED:
            return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
        session.shown_mistakes.update((work.kernel_id, one.mistake) for one in evaluation.findings)
        failure = report.describe_evaluation(kernel, candidate, evaluation, session.root)
        return Finished.failed(row, replace(failure, case=case if evaluation.outcomes else None))
    if not fuzzed.judged:
        raise all_discarded(kernel, fuzzed)
    return Finished(replace(row, note=fuzzed.summary))
