"""The only judge: what a candidate is, by the plan's stages, cheapest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pytest_cudaopt import plausible
from pytest_cudaopt.agreement import compare_launches, compare_outputs
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import ReferenceUnsupported
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Evaluation,
    Latency,
    LatencyKind,
    Plan,
    Stage,
    Status,
)
from pytest_cudaopt.finding import NOT_JUDGED, Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import Measured, measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure, fault_behind_wrong, run

_STATUS = {
    CaseStatus.WRONG: Status.WRONG_RESULT,
    CaseStatus.FAULT: Status.FAULT,
    CaseStatus.FINDING: Status.FINDING,
    CaseStatus.UNSUPPORTED: Status.NOT_JUDGED,
}
_NOT_COMPILED = frozenset({FindingKind.COMPILE_ERROR, FindingKind.UNKNOWN_ENTRY})


def evaluate(kernel: Kernel, candidate: Candidate, plan: Plan, device: Device) -> Evaluation:
    """Judge `candidate` as an implementation of `kernel`.

    Whatever the candidate does wrong is in the answer. Raises EnvironmentFault, DeclarationError,
    ReferenceFault, SourceError or HarnessError for what is not its fault.
    """
    return _Judge(kernel, candidate, plan, device).judge()


def checker(kernel: Kernel, candidate: Candidate, plan: Plan, device: Device) -> Callable[[Case], Evaluation]:
    """Compile once, and return what checks one case after the other; it raises what `evaluate` does.

    Of a candidate that does not compile every answer says so.
    """
    compiled = compile_candidate(kernel, candidate, device, plan.budget)

    def check(case: Case) -> Evaluation:
        judge = _Judge(kernel, candidate, replace(plan, cases=(case,)), device)
        if isinstance(compiled, CompileFailure):
            return judge._not_compiled(compiled)
        judge._check_all(compiled)
        return judge._evaluation(compiled)

    return check


@dataclass
class _Judge:
    kernel: Kernel
    candidate: Candidate
    plan: Plan
    device: Device
    outcomes: dict[Case, CaseOutcome] = field(default_factory=dict)
    seconds: dict[Stage, float] = field(default_factory=dict)

    def judge(self) -> Evaluation:
        with self._timed(Stage.COMPILE):
            compiled = compile_candidate(
                self.kernel, self.candidate, self.device, self.plan.budget, self._cases()
            )
        if isinstance(compiled, CompileFailure):
            return self._not_compiled(compiled)
        if Stage.CHECK in self.plan.stages:
            with self._timed(Stage.CHECK):
                self._check_all(compiled)
        if Stage.MEASURE in self.plan.stages and self._failure() is None:
            with self._timed(Stage.MEASURE):
                self._measure_all(compiled)
        return self._evaluation(compiled)

    def _cases(self) -> tuple[Case, ...]:
        """Return the cases that will be launched, declared or not."""
        checked = self.plan.cases if Stage.CHECK in self.plan.stages else ()
        measured = self.plan.measured if Stage.MEASURE in self.plan.stages else ()
        return (*checked, *measured)

    def _check_all(self, compiled: Compiled) -> None:
        for case in self.plan.cases:
            outcome = self._check(case, compiled)
            self.outcomes[case] = outcome
            if self.plan.stop_at_first and outcome.status is not CaseStatus.PASSED:
                return

    def _check(self, case: Case, compiled: Compiled) -> CaseOutcome:
        prepared = prepare(self.kernel, case, self.device)
        try:
            # A reference that raises is reported as such, whatever the kernel does.
            expected = prepared.expected
        except ReferenceUnsupported as error:
            return self._faulty(case, Finding(FindingKind.UNSUPPORTED_INSTRUCTION, str(error)), None)
        launch = configure(self.candidate, prepared, compiled, self.device)
        if isinstance(launch, Finding):
            return self._faulty(case, launch, None)
        result = run(prepared, compiled, launch, self.device, self.plan.budget)
        if result.fault is not None or result.outputs is None:
            return self._faulty(case, result.fault, launch)
        agreement = compare_launches(self.kernel, expected, result.outputs, result.outputs_again)
        passed = CaseOutcome(
            case,
            self._id(case),
            CaseStatus.PASSED,
            launch,
            agreement.comparisons,
            counters=result.counters,
            printed=result.printed,
        )
        if agreement.holds:
            return passed
        # A fault on one device is one on the other, whatever this one noticed.
        finding = fault_behind_wrong(prepared, compiled, launch, self.device, self.plan.budget)
        status = CaseStatus.WRONG if finding is None else CaseStatus.FAULT
        return replace(passed, status=status, finding=finding, note=agreement.note)

    def _measure_all(self, compiled: Compiled) -> None:
        for case in self.plan.measured:
            outcome = self._measure(case, compiled)
            self.outcomes[case] = outcome
            if self.plan.stop_at_first and outcome.status is not CaseStatus.PASSED:
                return

    def _measure(self, case: Case, compiled: Compiled) -> CaseOutcome:
        prepared: PreparedCase = prepare(self.kernel, case, self.device)
        launch = configure(self.candidate, prepared, compiled, self.device)
        if isinstance(launch, Finding):
            return self._faulty(case, launch, None)
        checked = self.outcomes.get(case, CaseOutcome(case, self._id(case), CaseStatus.PASSED, launch))
        if launch.is_empty:
            return checked
        measured = measure(prepared, compiled, launch, self.device, self.plan)
        if isinstance(measured, Finding):
            return self._faulty(case, measured, launch)
        return self._judge_timed(checked, measured)

    def _judge_timed(self, checked: CaseOutcome, measured: Measured) -> CaseOutcome:
        """Give the case its latency, unless the launch that was timed computed something else."""
        timed = measured.timed
        if timed is None:
            return self._if_plausible(checked, measured.latency)
        agreement = compare_outputs(self.kernel, timed.expected, timed.outputs)
        if agreement.holds:
            return self._if_plausible(checked, measured.latency)
        unseen = ", on inputs it had not seen," if timed.unseen else ""
        drawn_by = f" ({timed.inputs} draws them)" if timed.inputs is not None else ""
        note = f"a timed launch{unseen} is wrong{drawn_by}"
        return replace(checked, status=CaseStatus.WRONG, comparisons=agreement.comparisons, note=note)

    def _if_plausible(self, checked: CaseOutcome, latency: Latency) -> CaseOutcome:
        """Give the case its latency, unless no kernel can be that fast."""
        limits = self.device.limits
        finding = plausible.judge(self.kernel, self.candidate, checked.case, latency, limits)
        if finding is None:
            return replace(checked, latency=latency)
        return replace(checked, status=CaseStatus.FINDING, finding=finding)

    def _faulty(self, case: Case, finding: Finding | None, launch: LaunchConfiguration | None) -> CaseOutcome:
        not_judged = finding is not None and finding.kind in NOT_JUDGED
        status = CaseStatus.UNSUPPORTED if not_judged else CaseStatus.FAULT
        return CaseOutcome(case, self._id(case), status, launch, finding=finding)

    def _id(self, case: Case) -> str:
        known = dict(zip(self.kernel.cases, self.kernel.case_ids, strict=True))
        return known.get(case) or self.kernel.ids_of((case,))[0]

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
            finding=failure.finding,
            seconds=self._seconds(),
        )

    def _evaluation(self, compiled: Compiled) -> Evaluation:
        failure = self._failure()
        return Evaluation(
            kernel=self.kernel.name,
            candidate=self.candidate.digest,
            device=self.device.description,
            status=Status.ACCEPTED if failure is None else _STATUS[failure.status],
            reason=self._praise() if failure is None else _blame(failure),
            diagnostics=compiled.diagnostics,
            resources=compiled.resources,
            outcomes=tuple(self.outcomes.values()),
            finding=None if failure is None else failure.finding,
            seconds=self._seconds(),
        )

    def _praise(self) -> str:
        checked = len(self.outcomes) if Stage.CHECK in self.plan.stages else 0
        measured = [o.latency for o in self.outcomes.values() if o.latency is not None]
        parts = [f"right on {_count(checked, 'case')}"] if checked else []
        if measured:
            verb = "measured" if measured[0].kind is LatencyKind.MEASURED else "modelled"
            parts.append(f"latency {verb} on {_count(len(measured), 'case')}")
        return ", ".join(parts) or "compiled"

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start

    def _seconds(self) -> tuple[tuple[str, float], ...]:
        return tuple((stage.value, seconds) for stage, seconds in self.seconds.items())


def _blame(outcome: CaseOutcome) -> str:
    if outcome.finding is not None:
        return f"case {outcome.case_id}: {outcome.finding.message}"
    note = f"{outcome.note}: " if outcome.note else ""
    wrong = next((c for c in outcome.comparisons if not c.matches), None)
    if wrong is None or wrong.worst is None:
        return f"case {outcome.case_id}: {note}{outcome.status}"
    worst = wrong.worst
    verb = f"are wrong by {wrong.judged_by}" if wrong.judged_by else "differ"
    expected = "" if worst.expected is None else f"expected {_text(worst.expected)}, "
    return (
        f"case {outcome.case_id}: {note}{wrong.mismatched} of {_count(wrong.elements, 'element')} of "
        f"'{wrong.output}' {verb}, worst at {list(worst.index)}: {expected}got {_text(worst.got)}"
    )


def _text(value: float | int | bool) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
