"""The only judge: what a candidate is, by the plan's stages, cheapest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pytest_cudaopt import ladder, probe_rung
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_judge import CaseJudge, sanitize_drawn
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.differential import Challenger, trial_budget
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Evaluation,
    Plan,
    Stage,
    Status,
    Tried,
)
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.judge_limits import judge_limits
from pytest_cudaopt.logic_gaps import logic_gaps
from pytest_cudaopt.new_tripwires import new_tripwires
from pytest_cudaopt.reasons import blame, count, praise
from pytest_cudaopt.resources_taken import LimitsJudged
from pytest_cudaopt.rung import Rung
from pytest_cudaopt.sanitize_cases import small_cases
from pytest_cudaopt.tripwire import Tripwire

_STATUS = {
    CaseStatus.WRONG: Status.WRONG_RESULT,
    CaseStatus.FAULT: Status.FAULT,
    CaseStatus.FINDING: Status.FINDING,
    CaseStatus.LOST: Status.LOST_PROPERTY,
    CaseStatus.UNSUPPORTED: Status.NOT_JUDGED,
}
_AFTER_COMPILING = (
    Stage.CHECK,
    Stage.PROBE,
    Stage.FUZZ,
    Stage.CONTRACT,
    Stage.SANITIZE,
    Stage.MEASURE,
    Stage.GATE,
)
_NOT_COMPILED = frozenset({FindingKind.COMPILE_ERROR, FindingKind.UNKNOWN_ENTRY})


def evaluate(kernel: Kernel, candidate: Candidate, plan: Plan, device: Device) -> Evaluation:
    """Judge `candidate` as an implementation of `kernel`.

    Whatever the candidate does wrong is in the answer. Raises EnvironmentFault, DeclarationError,
    ReferenceFault, SourceError or HarnessError for what is not its fault.
    """
    return _Judge(kernel, candidate, plan, device).judge()


def checker(kernel: Kernel, candidate: Candidate, plan: Plan, device: Device) -> Callable[[Case], Evaluation]:
    """Compile once, and return what judges one case after the other; it raises what `evaluate` does.

    Of a candidate that does not compile every answer says so.
    """
    compiled = compile_candidate(kernel, candidate, device, plan.budget)

    def check(case: Case) -> Evaluation:
        return _Judge(kernel, candidate, replace(plan, cases=(case,)), device).judge_compiled(compiled)

    return check


@dataclass
class _Judge:
    kernel: Kernel
    candidate: Candidate
    plan: Plan
    device: Device
    outcomes: dict[Case, CaseOutcome] = field(default_factory=dict)
    seconds: dict[Stage, float] = field(default_factory=dict)
    tried: tuple[Tried, ...] = ()
    tripwires: tuple[Tripwire, ...] = ()
    limits: LimitsJudged | None = None

    def judge(self) -> Evaluation:
        with self._timed(Stage.COMPILE):
            compiled = compile_candidate(
                self.kernel, self.candidate, self.device, self.plan.budget, self._cases()
            )
        return self.judge_compiled(compiled)

    def judge_compiled(self, compiled: Compiled | CompileFailure) -> Evaluation:
        """Run the stages after compiling, as long as none fails."""
        if isinstance(compiled, CompileFailure):
            return self._not_compiled(compiled)
        if Stage.LIMITS in self.plan.stages and self.kernel.limits is not None:
            with self._timed(Stage.LIMITS):
                self.limits = judge_limits(self.kernel, self.candidate, compiled, self.device)
            if self.limits is not None and self.limits.findings:
                return self._beyond_limits(compiled, self.limits.findings)
        judge = CaseJudge(self.kernel, self.candidate, compiled, self.plan, self.device, self._cases())
        if Stage.SCAN in self.plan.stages:
            with self._timed(Stage.SCAN):
                self.tripwires = new_tripwires(judge)
        for stage in _AFTER_COMPILING:
            if stage in self.plan.stages and self._is_next(stage):
                with self._timed(stage):
                    self._run(stage, judge)
        return self._evaluation(compiled)

    def _run(self, stage: Stage, judge: CaseJudge) -> None:
        match stage:
            case Stage.CHECK:
                self._judge_all(stage, judge.check)
            case Stage.SANITIZE:
                self._judge_all(stage, judge.sanitize)
                if self._failure() is None:
                    self._take(sanitize_drawn(judge, self.outcomes))
                if self.plan.witness is not None and self._failure() is None:
                    self.tripwires += logic_gaps(judge, self.plan.witness, self.outcomes.values())
            case Stage.MEASURE:
                self._judge_all(stage, judge.measure)
            case Stage.GATE:
                self._judge_all(stage, judge.gate)
            case _ if self.plan.witness is not None:
                self._take(self._climb(stage, judge.compiled, self.plan.witness))

    def _is_next(self, stage: Stage) -> bool:
        failure = self._failure()
        # What is behind a wrong result says more than its numbers.
        return failure is None or (stage is Stage.SANITIZE and failure.status is CaseStatus.WRONG)

    def _cases(self) -> tuple[Case, ...]:
        """Return the cases that will be launched, declared or not."""
        return tuple(dict.fromkeys(case for stage in self.plan.stages for case in self._cases_of(stage)))

    def _cases_of(self, stage: Stage) -> tuple[Case, ...]:
        match stage:
            case Stage.CHECK:
                return self.plan.cases
            case Stage.SANITIZE:
                small = small_cases(self.kernel, self.plan.cases, self.plan.sanitize_elements)
                wrong = [case for case, o in self.outcomes.items() if o.status is CaseStatus.WRONG]
                return tuple(case for case in small if case in wrong or not wrong)
            case Stage.MEASURE | Stage.GATE:
                return self.plan.measured
        return ()

    def _climb(self, stage: Stage, compiled: Compiled, witness: Candidate) -> Rung:
        """Hold the candidate against the starting kernel, beyond what is declared."""
        budget = trial_budget(self.plan.budget, self.device, self.outcomes.values())
        challenger = Challenger(
            self.kernel,
            self.candidate,
            compiled,
            witness,
            self.device,
            budget,
            self.tripwires,
            self.plan.is_start,
        )
        match stage:
            case Stage.PROBE:
                return probe_rung.probe(challenger, self.outcomes.values())
            case Stage.FUZZ:
                return ladder.fuzz(challenger, self.plan)
        return ladder.contract(challenger, self.plan)

    def _take(self, rung: Rung) -> None:
        self.tried += rung.tried
        if rung.failed is not None:
            self.outcomes[rung.failed.case] = rung.failed

    def _judge_all(self, stage: Stage, judge: Callable[[Case, CaseOutcome | None], CaseOutcome]) -> None:
        for case in self._cases_of(stage):
            outcome = self.outcomes[case] = judge(case, self.outcomes.get(case))
            if self.plan.stop_at_first and outcome.status is not CaseStatus.PASSED:
                return

    def _failure(self) -> CaseOutcome | None:
        """Return the outcome that decides: a failure before a case that could not be judged."""
        failed = [o for o in self.outcomes.values() if o.status is not CaseStatus.PASSED]
        judged = [o for o in failed if o.status is not CaseStatus.UNSUPPORTED]
        return next(iter(judged or failed), None)

    def _not_compiled(self, failure: CompileFailure) -> Evaluation:
        kind = failure.finding.kind
        first = next((d for d in failure.diagnostics if d.severity == "error"), None)
        return Evaluation(
            kernel=self.kernel.name,
            candidate=self.candidate.digest,
            device=self.device.description,
            status=Status.COMPILE_ERROR if kind in _NOT_COMPILED else Status.FAULT,
            reason=str(first) if first else failure.finding.message,
            diagnostics=failure.diagnostics,
            findings=(failure.finding,),
            seconds=self._seconds(),
        )

    def _evaluation(self, compiled: Compiled) -> Evaluation:
        failure = self._failure()
        return Evaluation(
            kernel=self.kernel.name,
            candidate=self.candidate.digest,
            device=self.device.description,
            status=Status.ACCEPTED if failure is None else _STATUS[failure.status],
            reason=self._praise() if failure is None else blame(failure),
            diagnostics=compiled.diagnostics,
            resources=compiled.resources,
            outcomes=tuple(self.outcomes.values()),
            findings=() if failure is None else failure.findings,
            seconds=self._seconds(),
            tried=self.tried,
            tripwires=self.tripwires,
            limits=self.limits,
            reference_origin=self.kernel.reference_origin,
            fuzz_seed=self.plan.fuzz_seed if self.tried else None,
        )

    def _beyond_limits(self, compiled: Compiled, findings: tuple[Finding, ...]) -> Evaluation:
        more = f" (and {count(len(findings) - 1, 'more finding')})" if len(findings) > 1 else ""
        return replace(
            self._evaluation(compiled),
            status=Status.FINDING,
            reason=f"{findings[0].message}{more}",
            findings=findings,
        )

    def _praise(self) -> str:
        checked = self._cases_of(Stage.CHECK) if Stage.CHECK in self.plan.stages else ()
        return praise(tuple(self.outcomes.values()), len(checked))

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start

    def _seconds(self) -> tuple[tuple[str, float], ...]:
        return tuple((stage.value, seconds) for stage, seconds in self.seconds.items())
