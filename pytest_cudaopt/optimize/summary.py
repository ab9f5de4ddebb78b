"""What a run amounts to, for the test item, the terminal and `summary.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.optimize import comparing
from pytest_cudaopt.optimize.accept import Acceptance
from pytest_cudaopt.optimize.attempt import Attempt, Decision
from pytest_cudaopt.optimize.conversation import Usage
from pytest_cudaopt.optimize.strategies import Outcome, Strategy, beside


class StopReason(StrEnum):
    """Why a run ended."""

    ITERATIONS_USED = "iterations_used"
    TOKENS_USED = "tokens_used"
    SECONDS_USED = "seconds_used"
    PATIENCE_LOST = "patience_lost"
    NEAR_FLOOR = "near_floor"
    MODEL_FAILED = "model_failed"
    NOTHING_LEFT = "nothing_left"
    START_REJECTED = "start_rejected"
    INTERRUPTED = "interrupted"
    FAULT = "fault"


@dataclass(frozen=True)
class CaseGain:
    """A measured case's latency at the start and at the best."""

    case_id: str
    start_ns: float
    best_ns: float

    @property
    def speedup(self) -> float:
        return self.start_ns / self.best_ns


@dataclass(frozen=True)
class RunSummary:
    """A finished or interrupted run.

    Of `attempts` the start and the best are whole. `stopped_detail` is a sentence, and so are `notes`, on
    what a reader of the figures has to know; `usage` is what all attempts took of a model. Latencies are
    geometric means over the measured cases and None as long as the start was not measured; they are modelled
    or measured as `latency_kind` says, and those of start and best are of the same mode. `cases_to_declare`
    are those nobody declared at which an attempt failed, as one can paste them. `other` is what an earlier
    run came to that differs in its strategy alone.
    """

    kernel: str
    device: str
    folder: Path
    attempts: tuple[Attempt, ...]
    stopped_because: StopReason
    stopped_detail: str
    acceptance: Acceptance | None = None
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    cases_to_declare: tuple[str, ...] = ()
    strategy: Strategy = Strategy.LOOP
    other: Outcome | None = None

    @property
    def start(self) -> Attempt | None:
        return self.attempts[0] if self.attempts else None

    @property
    def best(self) -> Attempt | None:
        """The fastest attempt that passed everything; None if not even the start did."""
        kept = [attempt for attempt in self.attempts if attempt.verdict.decision.is_kept]
        return kept[-1] if kept else None

    @property
    def rejected(self) -> int:
        """How many attempts were not accepted, whatever their speed."""
        return sum(attempt.verdict.decision is Decision.NOT_ACCEPTED for attempt in self.attempts)

    @property
    def improved(self) -> bool:
        return self.best is not None and self.best.verdict.decision is Decision.NEW_BEST

    @property
    def start_ns(self) -> float | None:
        return None if (means := self._means_ns()) is None else means[0]

    @property
    def best_ns(self) -> float | None:
        return None if (means := self._means_ns()) is None else means[1]

    @property
    def speedup(self) -> float | None:
        return self.best.speedup if self.best else None

    @property
    def latency_kind(self) -> LatencyKind | None:
        latencies = self.best.evaluation.latencies.values() if self.best else ()
        return next((latency.kind for latency in latencies), None)

    @property
    def ranked_by(self) -> str | None:
        """Say what the order of the attempts rests on."""
        if self.latency_kind is None:
            return None
        if self.latency_kind is LatencyKind.MEASURED:
            return "measured latency"
        return "modelled latency alone; nothing was measured on a GPU"

    @property
    def best_tunables(self) -> dict[str, int]:
        return self.best.tunables if self.best else {}

    @property
    def best_file(self) -> Path:
        return self.folder / "best.cu"

    @property
    def per_case(self) -> tuple[CaseGain, ...]:
        if self.start is None or self.best is None:
            return ()
        pairs = comparing.case_ns(self.start.evaluation, self.best.evaluation)
        return tuple(CaseGain(case_id, start_ns, best_ns) for case_id, (start_ns, best_ns) in pairs.items())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the latencies of the start or the best doubtful."""
        ends = [one.evaluation for one in (self.start, self.best) if one is not None]
        return comparing.warnings(*ends)

    @property
    def strategy_notes(self) -> tuple[str, ...]:
        """Say what became of a single proposal, and what both strategies came to if both were tried."""
        notes = []
        if self.strategy is Strategy.SINGLE and len(self.attempts) > 1:
            verdict = self.attempts[1].verdict
            kept = "became the best" if verdict.decision.is_kept else "was not kept, so the start stays"
            notes.append(f"single prompt: its one proposal {kept}: {verdict.reason}")
        if self._outcomes:
            notes.append(beside(*self._outcomes))
        return tuple(notes)

    @property
    def _outcomes(self) -> tuple[Outcome, ...]:
        """Both strategies' outcomes; none if only one was tried."""
        if self.other is None or self.speedup is None or len(self.attempts) < 2:
            return ()
        own = Outcome(self.strategy, self.folder.name, self.speedup, len(self.attempts) - 1)
        return own, self.other

    def _means_ns(self) -> tuple[float, float] | None:
        if self.start is None or self.best is None:
            return None
        return comparing.mean_ns(self.start.evaluation, self.best.evaluation)

    def to_json(self) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        return {
            "kernel": self.kernel,
            "device": self.device,
            "strategy": self.strategy,
            "strategies": {
                one.strategy: {"run": one.run, "speedup": one.speedup, "attempts": one.attempts}
                for one in self._outcomes
            },
            "attempts": len(self.attempts),
            "best_attempt": self.best.number if self.best else None,
            "best_tunables": self.best_tunables,
            "latency_kind": self.latency_kind,
            "ranked_by": self.ranked_by,
            "start_ns": self.start_ns,
            "best_ns": self.best_ns,
            "speedup": self.speedup,
            "cases": [
                {
                    "id": gain.case_id,
                    "start_ns": gain.start_ns,
                    "best_ns": gain.best_ns,
                    "speedup": gain.speedup,
                }
                for gain in self.per_case
            ],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "cases_to_declare": list(self.cases_to_declare),
            "tokens": {**asdict(self.usage), "total": self.usage.total},
            "stopped_because": self.stopped_because,
            "stopped_detail": self.stopped_detail,
            "accepted": None if self.acceptance is None else self.acceptance.outcome,
            "accept_message": None if self.acceptance is None else self.acceptance.message,
        }
