"""One experiment of a run: what was proposed, what the judge said, what was decided."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.evaluation import CaseOutcome, Evaluation, Latency, Sampling
from pytest_cudaopt.optimize.conversation import Usage

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.run import Run


class Decision(StrEnum):
    """What became of an attempt."""

    START = "start"
    NEW_BEST = "new_best"
    NO_PROPOSAL = "no_proposal"
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
class Trial:
    """A setting of tunables and its geometric mean of latency; None if it could not be measured."""

    tunables: tuple[tuple[str, int], ...]
    geometric_mean_ns: float | None


@dataclass(frozen=True)
class Proposal:
    """A candidate worth judging, and why; or `failure`, one sentence, and no candidate.

    `answer` is what a model wrote, `looked` a line for each tool it used before. With `tunes` the source's
    tunables are tried before it is judged; `tried` are the settings that were.
    """

    candidate: Candidate | None
    why: str
    failure: str = ""
    answer: str = ""
    tunes: bool = False
    tried: tuple[Trial, ...] = ()
    looked: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Known:
    """What stays in memory of a candidate that lies in the run's folder."""

    digest: str
    tunables: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Attempt:
    """A judged proposal. Attempt 0 is the starting kernel.

    `speedup` is the start's geometric mean of latency over this one's; None if it was not measured.
    A long run remembers old attempts in brief: without source, evidence and samples, with `known` in place of
    the candidate.
    """

    number: int
    proposal: Proposal
    evaluation: Evaluation
    verdict: Verdict
    speedup: float | None = None
    known: Known | None = None

    @property
    def candidate(self) -> Candidate:
        """The candidate of a whole attempt that has one."""
        assert self.proposal.candidate is not None  # noqa: S101 - callers look at `has_candidate` first
        return self.proposal.candidate

    @property
    def has_candidate(self) -> bool:
        return self.known is not None or self.proposal.candidate is not None

    @property
    def is_brief(self) -> bool:
        return self.known is not None

    @property
    def tunables(self) -> dict[str, int]:
        """The tunables it was judged with; none without a candidate."""
        if self.known is not None:
            return dict(self.known.tunables)
        return {} if self.proposal.candidate is None else self.proposal.candidate.chosen

    @property
    def digest(self) -> str:
        if self.known is not None:
            return self.known.digest
        return "" if self.proposal.candidate is None else self.proposal.candidate.digest

    @property
    def label(self) -> str:
        """The tunables, or "start", as a table shows them."""
        if not self.has_candidate:
            return "no proposal"
        tunables = " ".join(f"{name}={value}" for name, value in self.tunables.items())
        return tunables or ("start" if self.number == 0 else self.digest[:8])

    def brief(self) -> Attempt:
        """Return what a run has to remember of it; the rest is in its folder."""
        known = Known(self.digest, tuple(self.tunables.items())) if self.has_candidate else None
        own = self.proposal
        proposal = Proposal(None, own.why, own.failure, looked=own.looked, usage=own.usage)
        return replace(self, proposal=proposal, evaluation=_brief_evaluation(self.evaluation), known=known)


def brief_latency(latency: Latency) -> Latency:
    """Return the medians alone."""
    return Latency(
        latency.kind,
        latency.median_ns,
        mode=latency.mode,
        cold=_median_of(latency.cold),
        batch=_median_of(latency.batch),
    )


def _median_of(sampling: Sampling | None) -> Sampling | None:
    return None if sampling is None else Sampling(sampling.median_ns, ())


def _brief_evaluation(whole: Evaluation) -> Evaluation:
    timed = tuple(
        CaseOutcome(one.case, one.case_id, one.status, latency=brief_latency(one.latency))
        for one in whole.outcomes
        if one.latency is not None
    )
    return Evaluation(whole.kernel, whole.candidate, whole.device, whole.status, outcomes=timed)


class Dialogue(Protocol):
    """A proposal in the making."""

    @property
    def proposal(self) -> Proposal | None:
        """The proposal once there is one."""
        ...

    def ask(self) -> None:
        """Go on: afterwards there is a proposal, or tools are wanted."""
        ...

    def use_tools(self) -> None:
        """Answer what was asked for."""
        ...


@dataclass
class Ready:
    """The dialogue of somebody who needs none."""

    proposal: Proposal

    def ask(self) -> None:
        """Do nothing: the proposal is there."""

    def use_tools(self) -> None:
        """Do nothing: none are wanted."""


class Proposer(Protocol):
    """Where candidates come from: the offline tuner, or a language model."""

    def begin(self, run: Run, parent: Attempt, number: int) -> Dialogue | None:
        """Return what leads to attempt `number`, a variation of the whole attempt `parent`.

        None if nothing is left to try.
        """
        ...

    @property
    def exhausted_reason(self) -> str:
        """Say, in one sentence, why `begin` has nothing left."""
        ...
