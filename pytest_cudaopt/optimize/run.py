"""One run under way: what it was given, and what it has learned so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize.accept import Acceptance
from pytest_cudaopt.optimize.attempt import Attempt, Proposal, Proposer
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.summary import RunSummary, StopReason

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Budget, Evaluation, Plan
    from pytest_cudaopt.optimize.options import OptimizeOptions

    Judge = Callable[[Kernel, Candidate, Plan, Device], Evaluation]
    # (kernel, candidate, case, case id, device, folder, budget, inputs) -> the written request
    WriteReplay = Callable[[Kernel, Candidate, Case, str, Device, Path, Budget, Path], Path | None]

Progress = Callable[[Attempt], None]


@dataclass
class Run:
    """The nodes' common ground. Lists are indexed by attempt number."""

    kernel: Kernel
    device: Device
    options: OptimizeOptions
    folder: RunFolder
    start: Candidate
    proposer: Proposer
    judge: Judge
    write_replay: WriteReplay
    progress: Progress
    diagram: str
    proposals: list[Proposal] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    acceptance: Acceptance | None = None

    def summary(self, because: StopReason, detail: str) -> RunSummary:
        return RunSummary(
            kernel=self.kernel.name,
            device=self.device.description,
            folder=self.folder.path,
            attempts=tuple(self.attempts),
            stopped_because=because,
            stopped_detail=detail,
            acceptance=self.acceptance,
        )
