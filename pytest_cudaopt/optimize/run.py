"""One run under way: what it was given, and what it has learned so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import restored
from pytest_cudaopt.optimize.accept import Acceptance
from pytest_cudaopt.optimize.attempt import Attempt, Dialogue, Proposal, Proposer
from pytest_cudaopt.optimize.conversation import Usage
from pytest_cudaopt.optimize.knowledge_search import Knowledge
from pytest_cudaopt.optimize.limits import Spent
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.strategies import Outcome
from pytest_cudaopt.optimize.summary import RunSummary, StopReason

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.errors import CudaoptError
    from pytest_cudaopt.evaluation import Budget, Evaluation, Plan
    from pytest_cudaopt.optimize.options import OptimizeOptions

    Judge = Callable[[Kernel, Candidate, Plan, Device], Evaluation]
    # (kernel, candidate, case, case id, device, folder, budget, inputs) -> the written request
    WriteReplay = Callable[[Kernel, Candidate, Case, str, Device, Path, Budget, Path], Path | None]

Progress = Callable[[Attempt], None]


@dataclass
class Pending:
    """A proposal that is not decided yet; `evaluation` is there once it was judged."""

    proposal: Proposal
    evaluation: Evaluation | None = None


@dataclass
class Run:
    """The nodes' common ground.

    `attempts` are those decided, by number: the start, the incumbent and the last one whole, the others in
    brief, so that a long run needs no more memory than a short one. `earlier` is how many a run that goes on
    had when it began anew. `model_name` is None for the offline tuner; `other` is what an earlier run of the
    other strategy came to.
    """

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
    model_name: str | None = None
    earlier: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    # By number, between proposal and decision.
    pending: dict[int, Pending] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    acceptance: Acceptance | None = None
    cases_to_declare: tuple[str, ...] = ()
    other: Outcome | None = None
    # By the number of the attempt they lead to, while they go on.
    dialogues: dict[int, Dialogue] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    started_s: float = field(default_factory=time.monotonic)
    # Branches talk to models at the same time, but a device takes one request after the other.
    device_turn: threading.Lock = field(default_factory=threading.Lock)
    interrupted: threading.Event = field(default_factory=threading.Event)
    # Why branches could not go on.
    failures: list[CudaoptError] = field(default_factory=list)
    _whole: set[int] = field(default_factory=set, init=False)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What can be looked up: indexed once, when somebody does."""
        return Knowledge.open(self.options.docs)

    @property
    def elapsed_s(self) -> float:
        """The seconds the run has gone on, those of its earlier parts included."""
        return time.monotonic() - self.started_s

    @property
    def spent(self) -> Spent:
        return Spent(self.usage.total, self.elapsed_s, datetime.now().astimezone())

    @property
    def start_evaluation(self) -> Evaluation | None:
        """What the judge said of the start; None before it did."""
        if self.attempts:
            return self.attempts[0].evaluation
        return self.pending[0].evaluation if 0 in self.pending else None

    def take_up(self, attempts: Sequence[Attempt], best: int, elapsed_s: float) -> None:
        """Begin after the attempts, in brief, of an earlier part that took so long.

        Raises EnvironmentFault if one that is needed whole cannot be read.
        """
        self.earlier = len(attempts)
        self.attempts = list(attempts)
        if attempts:
            for number in {0, best, len(attempts) - 1}:
                self.attempts[number] = self.whole(number)
            self.forget(best)
        self.usage = sum((one.proposal.usage for one in attempts), Usage())
        self.started_s -= elapsed_s

    def remember(self, attempt: Attempt, best: int) -> None:
        """Take in a decided attempt; of the one before only what is worth it stays."""
        self.attempts.append(attempt)
        self.forget(best)

    def forget(self, best: int) -> None:
        """Keep whole what feedback is about: the start, the incumbent, the last one."""
        kept = {0, best, len(self.attempts) - 1}
        for number in self._whole - kept:
            self.attempts[number] = self.attempts[number].brief()
        self._whole = kept

    def whole(self, number: int) -> Attempt:
        """Return a decided attempt with everything about it, from its folder if need be."""
        attempt = self.attempts[number]
        if not attempt.is_brief:
            return attempt
        return restored.whole(attempt, self.folder, self.kernel, self.start)

    def summary(self, because: StopReason, detail: str) -> RunSummary:
        return RunSummary(
            kernel=self.kernel.name,
            device=self.device.description,
            folder=self.folder.path,
            attempts=tuple(self.attempts),
            stopped_because=because,
            stopped_detail=detail,
            acceptance=self.acceptance,
            usage=self.usage,
            notes=tuple(self.notes),
            cases_to_declare=self.cases_to_declare,
            strategy=self.options.strategy,
            other=self.other,
        )
