"""One experiment of a run: what was proposed, what the judge said, what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.evaluation import Evaluation


class Decision(StrEnum):
    """What became of an attempt."""

    START = "start"
    NEW_BEST = "new_best"
    NOT_ACCEPTED = "not_accepted"
    NOT_FASTER = "not_faster"
    CASE_SLOWER = "case_slower"

    @property
    def is_kept(self) -> bool:
        """True if the attempt became the incumbent."""
        return self in (Decision.START, Decision.NEW_BEST)


@dataclass(frozen=True)
class Verdict:
    """A decision and its reason, one sentence for a person."""

    decision: Decision
    reason: str


@dataclass(frozen=True)
class Proposal:
    """A candidate worth judging, and why."""

    candidate: Candidate
    why: str


@dataclass(frozen=True)
class Attempt:
    """A judged proposal. Attempt 0 is the starting kernel.

    `speedup` is the start's geometric mean of latency over this one's; None if it was not measured.
    """

    number: int
    proposal: Proposal
    evaluation: Evaluation
    verdict: Verdict
    speedup: float | None = None

    @property
    def candidate(self) -> Candidate:
        return self.proposal.candidate

    @property
    def label(self) -> str:
        """The tunables, or "start", as a table shows them."""
        tunables = " ".join(f"{name}={value}" for name, value in self.candidate.tunables)
        return tunables or ("start" if self.number == 0 else self.candidate.digest[:8])


class Proposer(Protocol):
    """Where candidates come from; the offline tuner is one, a language model can be another."""

    def propose(self, attempts: Sequence[Attempt]) -> Proposal | None:
        """Return the next candidate given all attempts so far, or None if there is nothing left to try."""
        ...

    @property
    def exhausted_reason(self) -> str:
        """Say, in one sentence, why `propose` has nothing left."""
        ...
