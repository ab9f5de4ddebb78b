"""One run under way: what it was given, and what it has learned so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize.accept import Acceptance
from pytest_cudaopt.optimize.attempt import Attempt, Dialogue, Proposal, Proposer
from pytest_cudaopt.optimize.conversation import Usage
from pytest_cudaopt.optimize.limits import Spent
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
    # By the number of the attempt they lead to, while they go on.
    dialogues: dict[int, Dialogue] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    started_s: float = field(default_factory=time.monotonic)
    # Branches talk to models at the same time, but a device takes one request after the other.
    device_turn: threading.Lock = field(default_factory=threading.Lock)
    interrupted: threading.Event = field(default_factory=threading.Event)

    @property
    def spent(self) -> Spent:
        return Spent(self.usage.total, time.monotonic() - self.started_s, datetime.now().astimezone())

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
