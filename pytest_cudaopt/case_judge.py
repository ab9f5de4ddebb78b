"""What a compiled candidate is at one case: by the reference, by the checks of `sim`, by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from pytest_cudaopt import plausible, touched
from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import check_case, explained, faulty, no_launch
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.differential import trial_budget
from pytest_cudaopt.errors import DeclarationError, ExpressionError, ReferenceRaised
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Latency, Plan, Stage, Tried
from pytest_cudaopt.finding import SEEN_BY_CHECKS, Finding
from pytest_cudaopt.gate_case import gate_case
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import Measured, measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.properties import Property
from pytest_cudaopt.run import configure
from pytest_cudaopt.rung import Rung
from pytest_cudaopt.sanitize import sanitize
from pytest_cudaopt.sanitize_cases import DRAWN, drawn_cases
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.timed_case import TimedCase


@dataclass(frozen=True)
class CaseJudge:
    """A compiled candidate under a plan; each method adds to the outcome that the one before it gave.

    `cases` are those the plan launches: what is compiled for `sim` must hold their instances too.
    Raises as `pipeline.evaluate` does.
    """

    kernel: Kernel
    candidate: Candidate
    compiled: Compiled
    plan: Plan
    device: Device
    cases: tuple[Case, ...] = ()

    def check(self, case: Case, _: CaseOutcome | None = None) -> CaseOutcome:
        """Hold one launch against the reference."""
        budget = self.plan.budget
        checked = check_case(self.kernel, self.candidate, self.compiled, case, self.device, budget)
        return explained(checked.outcome, checked.prepared, self.compiled, self.device, budget)

    def sanitize(self, case: Case, before: CaseOutcome | None = None) -> CaseOutcome:
        """Run every check of `sim`."""
        prepared = prepare(self.kernel, case, self.device)
        launch = configure(self.candidate, prepared, self.compiled, self.device)
        if isinstance(launch, Finding):
            return faulty(self.kernel, case, launch)
        before = before or self._passed(case, launch)
        for_sim = self.for_sim()
        if isinstance(for_sim, CompileFailure):
            return replace(before, sanitized=Sanitized(skipped=for_sim.finding.message))
        sim, budget, rounding = self.device.on_sim, self.plan.budget, self.plan.rounding
        found = sanitize(prepared, self.candidate, for_sim, launch, sim, budget, rounding=rounding)
        if not found.findings:
            return replace(before, sanitized=found)
        if before.status is CaseStatus.WRONG:
            return replace(before, findings=found.findings, sanitized=found)
        was_seen = found.findings[0].kind in SEEN_BY_CHECKS
        status = CaseStatus.FINDING if was_seen else CaseStatus.FAULT
        return replace(before, status=status, findings=found.findings, sanitized=found)

    def measure(self, case: Case, before: CaseOutcome | None = None) -> CaseOutcome:
        """Give the case its latency, unless what was timed is wrong or impossible."""
        prepared = prepare(self.kernel, case, self.device)
        launch = configure(self.candidate, prepared, self.compiled, self.device)
        if isinstance(launch, Finding):
            return faulty(self.kernel, case, launch)
        before = before or self._passed(case, launch)
        if launch.is_empty:
            return before
        measured = measure(prepared, self.compiled, launch, self.device, self.plan)
        if isinstance(measured, Finding):
            return faulty(self.kernel, case, measured, launch)
        if self.kernel.work.bytes_touched:
            counted = self._touched(prepared, launch)
            before = replace(before, touched_bytes=counted.bytes)
            measured = replace(measured, latency=counted.noted(measured.latency))
        return self._judge_timed(before, measured)

    def gate(self, case: Case, before: CaseOutcome | None = None) -> CaseOutcome:
        """Hold the case's latency against the earlier versions of the plan; no verdict fails the case."""
        outcome = self.measure(case, before) if before is None or before.latency is None else before
        if outcome.latency is None or outcome.launch is None:
            # What launches nothing has no latency.
            return outcome
        prepared = prepare(self.kernel, case, self.device)
        timed = TimedCase(self.candidate, self.compiled, prepared, outcome.launch, outcome.latency)
        gated = (gate_case(timed, one, self.device, self.plan) for one in self.plan.incumbents)
        return replace(outcome, gated=tuple(gated))

    def for_sim(self) -> Compiled | CompileFailure:
        """Return the candidate as `sim` needs it: with line tables, which a GPU's module lacks."""
        if not self.device.is_gpu:
            return self.compiled
        sim, budget = self.device.on_sim, self.plan.budget
        return compile_candidate(self.kernel, self.candidate, sim, budget, self.cases)

    def _passed(self, case: Case, launch: LaunchConfiguration) -> CaseOutcome:
        return CaseOutcome(case, self.kernel.id_of(case), CaseStatus.PASSED, launch)

    def _touched(self, prepared: PreparedCase, launch: LaunchConfiguration) -> touched.Touched:
        for_sim = self.for_sim()
        if isinstance(for_sim, CompileFailure):
            return touched.Touched(why=for_sim.finding.message)
        return touched.count(prepared, for_sim, launch, self.device.on_sim, self.plan.budget)

    def _judge_timed(self, before: CaseOutcome, measured: Measured) -> CaseOutcome:
        """Give the case its latency, unless the launch that was timed computed something else."""
        timed = measured.timed
        if timed is None:
            return self._if_plausible(before, measured.latency)
        agreement = compare_outputs(self.kernel, timed.expected, timed.outputs)
        if agreement.holds:
            return self._if_plausible(before, measured.latency)
        unseen = ", on inputs it had not seen," if timed.unseen else ""
        drawn_by = f" ({timed.inputs} draws them)" if timed.inputs is not None else ""
        note = f"a timed launch{unseen} is wrong{drawn_by}"
        return replace(before, status=CaseStatus.WRONG, comparisons=agreement.comparisons, note=note)

    def _if_plausible(self, before: CaseOutcome, latency: Latency) -> CaseOutcome:
        """Give the case its latency, unless no kernel can be that fast."""
        limits = self.device.limits
        work = self.kernel.work_at(before.case, before.touched_bytes)
        finding = plausible.judge(self.kernel, self.candidate, before.case, work, latency, limits)
        if finding is None:
            return replace(before, latency=latency)
        return replace(before, status=CaseStatus.FINDING, findings=(finding,))


def sanitize_drawn(judge: CaseJudge, before: Mapping[Case, CaseOutcome]) -> Rung:
    """Sanitize cases that nobody listed; what the starting kernel does there too binds nobody."""
    plan = judge.plan
    if plan.witness is None or not plan.fuzz_examples:
        return Rung(None, ())
    # Many small launches: none may take a GPU's whole timeout.
    judge = replace(
        judge, plan=replace(plan, budget=trial_budget(plan.budget, judge.device, before.values()))
    )
    silent, failed = 0, None
    for case in drawn_cases(judge.kernel, judge.candidate, DRAWN, plan.fuzz_seed):
        with suppress(ReferenceRaised, DeclarationError, ExpressionError):
            outcome = judge.sanitize(case, before.get(case))
            silent += outcome.status is CaseStatus.PASSED
            if outcome.status in (CaseStatus.PASSED, CaseStatus.UNSUPPORTED):
                continue
            if no_launch(judge.kernel, judge.candidate, case, outcome.finding) is not None:
                continue
            if _is_silent(judge, plan.witness, case):
                failed = replace(outcome, lost=Property.FUZZED_SIZES)
                break
    return Rung(failed, (Tried(Stage.SANITIZE, Property.FUZZED_SIZES, judged=silent),))


def _is_silent(judge: CaseJudge, start: Candidate, case: Case) -> bool:
    """Whether the checks say nothing of the starting kernel."""
    compiled = compile_candidate(judge.kernel, start, judge.device, judge.plan.budget, (case,))
    if isinstance(compiled, CompileFailure):
        return False
    own = replace(judge, candidate=start, compiled=compiled)
    return own.sanitize(case).status is CaseStatus.PASSED
