"""The tools of a run: the device, a compilation, one case, counters, earlier attempts, the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from pytest_cudaopt import report
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.optimize import attempt_feedback, describe, proposal_form, run_budget
from pytest_cudaopt.optimize.floor import floor_by_case
from pytest_cudaopt.optimize.proposal_form import ProposalForm
from pytest_cudaopt.optimize.toolbox import Instrument, Toolbox, as_text
from pytest_cudaopt.peaks import known_peaks

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.evaluation import Evaluation
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.run import Run


class _Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OneCase(ProposalForm):
    case_id: str = Field(description="a case's id, as the brief lists them")


class _OneAttempt(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int = Field(description="the attempt's number, 0 for the start")


@dataclass(frozen=True)
class _Instruments:
    """Answers for one attempt of `run`; candidates are judged, never kept."""

    run: Run

    @property
    def attempts(self) -> Sequence[Attempt]:
        return self.run.attempts

    @property
    def _best(self) -> Attempt:
        return next(one for one in reversed(self.attempts) if one.verdict.decision.is_kept)

    def device(self, _: _Nothing) -> str:
        device = self.run.device
        return as_text(
            {
                "device": device.description,
                "limits": describe.plain(device.limits),
                "measured_peaks": describe.plain(known_peaks(device)),
            }
        )

    def compile(self, form: ProposalForm) -> str:
        candidate = self._candidate(form)
        evaluation = self._judge(candidate, (Stage.COMPILE,), ())
        if not evaluation.accepted:
            return self._failure(candidate, evaluation)
        modelled = self._judge(candidate, (Stage.COMPILE, Stage.MEASURE), self.run.kernel.measured_cases[:1])
        occupancy = [latency.occupancy for latency in modelled.latencies.values()]
        return as_text(
            {
                "diagnostics": [str(one) for one in evaluation.diagnostics],
                "resources": describe.plain(dict(evaluation.resources)),
                "occupancy": describe.plain(occupancy[0]) if occupancy else None,
            }
        )

    def run_case(self, form: _OneCase) -> str:
        case = self._case(form.case_id)
        if case is None:
            return self._unknown_case(form.case_id)
        candidate = self._candidate(form)
        evaluation = self._judge(candidate, (Stage.COMPILE, Stage.CHECK), (case,))
        return "right" if evaluation.accepted else self._failure(candidate, evaluation)

    def counters(self, form: _OneCase) -> str:
        case = self._case(form.case_id)
        if case is None:
            return self._unknown_case(form.case_id)
        candidate = self._candidate(form)
        evaluation = self._judge(candidate, (Stage.COMPILE, Stage.MEASURE), (replace(case, measure=True),))
        if not evaluation.accepted:
            return self._failure(candidate, evaluation)
        latency = next(iter(evaluation.latencies.values()), None)
        return "nothing is launched at this case" if latency is None else as_text(describe.plain(latency))

    def attempt(self, asked: _OneAttempt) -> str:
        if not 0 <= asked.number < len(self.attempts):
            return f"There are attempts 0 to {len(self.attempts) - 1}."
        found, best = self.run.whole(asked.number), self._best
        source = "" if found.proposal.candidate is None else found.candidate.standalone_source()
        return f"{attempt_feedback.text(self.run.kernel, found, best)}\n\n{source}"

    def floor(self, _: _Nothing) -> str:
        floors = floor_by_case(self.run.kernel, self._best.evaluation, known_peaks(self.run.device))
        if not floors:
            return (
                "The floor is unknown: the kernel declares no work, or the device's peaks were not measured."
            )
        return as_text({case_id: describe.plain(floor) for case_id, floor in floors.items()})

    def _candidate(self, form: ProposalForm) -> Candidate:
        filled = proposal_form.filled_from(form)
        return proposal_form.candidate_of(filled, self.run.kernel, Path(self.run.kernel.source.name))

    def _judge(self, candidate: Candidate, stages: tuple[Stage, ...], cases: Sequence[Case]) -> Evaluation:
        plan = Plan(stages, tuple(cases), seed=self.run.options.seed, budget=run_budget.of(self.run))
        with self.run.device_turn:
            return self.run.judge(self.run.kernel, candidate, plan, self.run.device)

    def _failure(self, candidate: Candidate, evaluation: Evaluation) -> str:
        kernel = self.run.kernel
        return report.describe_evaluation(kernel, candidate, evaluation, kernel.source.parent).text

    def _case(self, case_id: str) -> Case | None:
        return dict(zip(self.run.kernel.case_ids, self.run.kernel.cases, strict=True)).get(case_id)

    def _unknown_case(self, case_id: str) -> str:
        return f"There is no case '{case_id}'. Cases: {', '.join(self.run.kernel.case_ids)}."


def toolbox(run: Run) -> Toolbox:
    """Return the tools for the next attempt."""
    of = _Instruments(run)
    return Toolbox(
        (
            Instrument("device_properties", "The device's limits and measured peaks.", _Nothing, of.device),
            Instrument(
                "compile_only",
                "Compile a version: diagnostics, registers, spills, shared memory, occupancy.",
                ProposalForm,
                of.compile,
            ),
            Instrument(
                "run_one_case", "Check a version at one case against the reference.", _OneCase, of.run_case
            ),
            Instrument(
                "counters",
                "Latency of a version at one case with its limit; on sim also the counters: sectors, bank "
                "conflicts, divergence.",
                _OneCase,
                of.counters,
            ),
            Instrument(
                "read_attempt", "How an earlier attempt ended, and its source.", _OneAttempt, of.attempt
            ),
            Instrument(
                "floor", "The least time each case can take, and how near the best is.", _Nothing, of.floor
            ),
        )
    )
