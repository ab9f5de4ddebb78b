"""The only judge: what a candidate is, by the plan's stages, cheapest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_cudaopt import ladder, plausible, touched
from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import check_case, faulty
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.differential import Challenger
from pytest_cudaopt.errors import DeclarationError, ExpressionError, ReferenceRaised
from pytest_cudaopt.evaluation import (
    Budget,
    CaseOutcome,
    CaseStatus,
    Evaluation,
    Latency,
    Plan,
    Stage,
    Status,
    Tried,
)
from pytest_cudaopt.finding import SEEN_BY_CHECKS, Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import Measured, measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.properties import Property
from pytest_cudaopt.reasons import blame, praise
from pytest_cudaopt.run import configure
from pytest_cudaopt.sanitize import sanitize
from pytest_cudaopt.sanitize_cases import drawn_cases, small_cases
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.scan import scan
from pytest_cudaopt.tripwire import Scanned, Tripwire

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
)
_LADDER = (Stage.PROBE, Stage.FUZZ, Stage.CONTRACT)
# A hang costs a GPU's process, and no trial takes so long otherwise.
_TRIAL_TIMEOUT_S = 10.0
# What a block may execute on `sim`, and how many times what one did at the declared cases.
_LEAST_TRIAL_INSTRUCTIONS = 5_000_000
_TRIAL_FACTOR = 50
# Sizes nobody listed that are sanitized too.
_SANITIZED_DRAWS = 3
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
        if Stage.SCAN in self.plan.stages:
            with self._timed(Stage.SCAN):
                self.tripwires = self._scanned(compiled)
        for stage in _AFTER_COMPILING:
            if stage in self.plan.stages and self._is_next(stage):
                with self._timed(stage):
                    if stage in _LADDER:
                        self._climb(stage, compiled)
                    else:
                        self._judge_all(stage, compiled)
                    if stage is Stage.SANITIZE and self._failure() is None:
                        self._sanitize_drawn(compiled)
        return self._evaluation(compiled)

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
            case Stage.MEASURE:
                return self.plan.measured
        return ()

    def _scanned(self, compiled: Compiled) -> tuple[Tripwire, ...]:
        """Return what stands out in the code, of that of the starting kernel nothing."""
        own = self._scan(self.candidate, self._for_sim(compiled))
        witness = self.plan.witness
        if witness is None or witness.digest == self.candidate.digest:
            return own.tripwires if witness is None else ()
        sim, budget = self.device.on_sim, self.plan.budget
        start = compile_candidate(self.kernel, witness, sim, budget, self._cases())
        return own.new_since(self._scan(witness, start))

    def _scan(self, candidate: Candidate, compiled: Compiled | CompileFailure) -> Scanned:
        if isinstance(compiled, CompileFailure) or compiled.module.ptx_file is None:
            return Scanned()
        ptx = Path(compiled.module.ptx_file).read_text()
        return scan(ptx, candidate, self.kernel, compiled.module.lowered)

    def _climb(self, stage: Stage, compiled: Compiled) -> None:
        """Hold the candidate against the starting kernel, beyond what is declared."""
        witness = self.plan.witness
        if witness is None:
            return
        challenger = Challenger(
            self.kernel,
            self.candidate,
            compiled,
            witness,
            self.device,
            self._trial_budget(),
            self.tripwires,
        )
        match stage:
            case Stage.PROBE:
                rung = ladder.probe(challenger, self.outcomes.values())
            case Stage.FUZZ:
                rung = ladder.fuzz(challenger, self.plan)
            case _:
                rung = ladder.contract(challenger, self.plan)
        self.tried += rung.tried
        if rung.failed is not None:
            self.outcomes[rung.failed.case] = rung.failed

    def _trial_budget(self) -> Budget:
        """Bound each trial by what the declared cases took: they are small, and there are many."""
        budget = self.plan.budget
        if self.device.is_gpu:
            return replace(budget, launch_timeout_s=min(_TRIAL_TIMEOUT_S, budget.launching_timeout_s))
        if budget.block_instructions is not None:
            return budget
        counted = [int(o.counters["max_block_instructions"]) for o in self.outcomes.values() if o.counters]
        most = max(_LEAST_TRIAL_INSTRUCTIONS, _TRIAL_FACTOR * max(counted, default=0))
        return replace(budget, block_instructions=most)

    def _judge_all(self, stage: Stage, compiled: Compiled) -> None:
        judges = {Stage.CHECK: self._check, Stage.SANITIZE: self._sanitize, Stage.MEASURE: self._measure}
        for case in self._cases_of(stage):
            outcome = self.outcomes[case] = judges[stage](case, compiled)
            if self.plan.stop_at_first and outcome.status is not CaseStatus.PASSED:
                return

    def _check(self, case: Case, compiled: Compiled) -> CaseOutcome:
        budget = self.plan.budget
        return check_case(self.kernel, self.candidate, compiled, case, self.device, budget).outcome

    def _sanitize(self, case: Case, compiled: Compiled) -> CaseOutcome:
        prepared = prepare(self.kernel, case, self.device)
        launch = configure(self.candidate, prepared, compiled, self.device)
        if isinstance(launch, Finding):
            return faulty(self.kernel, case, launch)
        checked = self.outcomes.get(
            case, CaseOutcome(case, self.kernel.id_of(case), CaseStatus.PASSED, launch)
        )
        for_sim = self._for_sim(compiled)
        if isinstance(for_sim, CompileFailure):
            return replace(checked, sanitized=Sanitized(skipped=for_sim.finding.message))
        sim, budget = self.device.on_sim, self.plan.budget
        found = sanitize(prepared, self.candidate, for_sim, launch, sim, budget, rounding=self.plan.rounding)
        if not found.findings:
            return replace(checked, sanitized=found)
        if checked.status is CaseStatus.WRONG:
            return replace(checked, findings=found.findings, sanitized=found)
        was_seen = found.findings[0].kind in SEEN_BY_CHECKS
        status = CaseStatus.FINDING if was_seen else CaseStatus.FAULT
        return replace(checked, status=status, findings=found.findings, sanitized=found)

    def _sanitize_drawn(self, compiled: Compiled) -> None:
        """Sanitize cases that nobody listed; what the starting kernel does there too binds nobody."""
        witness, plan = self.plan.witness, self.plan
        if witness is None or not plan.fuzz_examples:
            return
        silent = 0
        start = _Judge(self.kernel, witness, plan, self.device)
        for case in drawn_cases(self.kernel, self.candidate, _SANITIZED_DRAWS, plan.fuzz_seed):
            with suppress(ReferenceRaised, DeclarationError, ExpressionError):
                outcome = self._sanitize(case, compiled)
                silent += outcome.status is CaseStatus.PASSED
                if outcome.status in (CaseStatus.PASSED, CaseStatus.UNSUPPORTED):
                    continue
                of_start = start.judge_sanitized(case)
                if of_start is not None and of_start.status is CaseStatus.PASSED:
                    self.outcomes[case] = replace(outcome, lost=Property.FUZZED_SIZES)
                    break
        self.tried += (Tried(Stage.SANITIZE, Property.FUZZED_SIZES, judged=silent),)

    def judge_sanitized(self, case: Case) -> CaseOutcome | None:
        """Sanitize one case; None for a candidate that does not compile."""
        compiled = compile_candidate(self.kernel, self.candidate, self.device, self.plan.budget, (case,))
        return None if isinstance(compiled, CompileFailure) else self._sanitize(case, compiled)

    def _for_sim(self, compiled: Compiled) -> Compiled | CompileFailure:
        """Return the candidate as `sim` needs it: with line tables, which a GPU's module lacks."""
        if not self.device.is_gpu:
            return compiled
        sim, budget = self.device.on_sim, self.plan.budget
        return compile_candidate(self.kernel, self.candidate, sim, budget, self._cases())

    def _measure(self, case: Case, compiled: Compiled) -> CaseOutcome:
        prepared: PreparedCase = prepare(self.kernel, case, self.device)
        launch = configure(self.candidate, prepared, compiled, self.device)
        if isinstance(launch, Finding):
            return faulty(self.kernel, case, launch)
        checked = self.outcomes.get(
            case, CaseOutcome(case, self.kernel.id_of(case), CaseStatus.PASSED, launch)
        )
        if launch.is_empty:
            return checked
        measured = measure(prepared, compiled, launch, self.device, self.plan)
        if isinstance(measured, Finding):
            return faulty(self.kernel, case, measured, launch)
        if self.kernel.work.bytes_touched:
            counted = self._touched(prepared, compiled, launch)
            checked = replace(checked, touched_bytes=counted.bytes)
            measured = replace(measured, latency=counted.noted(measured.latency))
        return self._judge_timed(checked, measured)

    def _touched(
        self, prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration
    ) -> touched.Touched:
        for_sim = self._for_sim(compiled)
        if isinstance(for_sim, CompileFailure):
            return touched.Touched(why=for_sim.finding.message)
        return touched.count(prepared, for_sim, launch, self.device.on_sim, self.plan.budget)

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
        work = self.kernel.work_at(checked.case, checked.touched_bytes)
        finding = plausible.judge(self.kernel, self.candidate, checked.case, work, latency, limits)
        if finding is None:
            return replace(checked, latency=latency)
        return replace(checked, status=CaseStatus.FINDING, findings=(finding,))

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
            fuzz_seed=self.plan.fuzz_seed if self.tried else None,
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
