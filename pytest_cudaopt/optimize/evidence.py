"""What an attempt was judged by, as files: its log, its launches to execute again, its wrong outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt import replay
from pytest_cudaopt.evaluation import CaseStatus
from pytest_cudaopt.optimize import attempt_log

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.evaluation import Budget
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.run import Run


def write_replays(run: Run, best: Attempt, budget: Budget) -> None:
    """Write the best candidate's launch at every measured case as a request to execute again."""
    for case_id, case in zip(run.kernel.case_ids, run.kernel.cases, strict=True):
        if case.measure:
            _write_request(run, best, case, case_id, run.folder.path / "replay", budget)


def write(run: Run, attempt: Attempt, budget: Budget) -> None:
    """Write an attempt's log and every launch it was judged by, the one it failed at included."""
    folder = run.folder.attempt_folder(attempt.number)
    run.folder.write(f"{folder.name}/log.txt", attempt_log.text(attempt), synced=False)
    for outcome in attempt.evaluation.outcomes:
        request = _write_request(run, attempt, outcome.case, outcome.case_id, folder, budget)
        if request is not None and outcome.status is CaseStatus.WRONG:
            # Wrong outputs are evidence too; the request writes them beside itself.
            replay.write_outputs(request, run.device)


def _write_request(
    run: Run, attempt: Attempt, case: Case, case_id: str, folder: Path, budget: Budget
) -> Path | None:
    candidate, inputs = attempt.candidate, run.folder.path / "inputs"
    return run.write_replay(run.kernel, candidate, case, case_id, run.device, folder, budget, inputs)
