"""What `kernel[latency-CASE]` does: measure it, gate it against earlier versions, record it on request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_cudaopt import baseline_files, report
from pytest_cudaopt.achieved import achieved_by_case
from pytest_cudaopt.against import revision_incumbent
from pytest_cudaopt.baseline import ANCHOR, BASELINE, incumbents, standing_at, why_no_incumbent
from pytest_cudaopt.baseline_update import ACCEPT_SLOWER, Mode, seen_of
from pytest_cudaopt.declared_facts import facts_of
from pytest_cudaopt.errors import SourceLocation
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.gate_modelled import recorded_of, thresholds_of
from pytest_cudaopt.gated import Gated
from pytest_cudaopt.item_work import Finished
from pytest_cudaopt.machine import machine_of
from pytest_cudaopt.peaks import known_peaks
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.report import Failure, FailureClass
from pytest_cudaopt.requirements import unmet

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_cudaopt.baseline import Baseline, Version
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Latency
    from pytest_cudaopt.incumbent import Incumbent
    from pytest_cudaopt.item_work import Work
    from pytest_cudaopt.session import KernelSession
    from pytest_cudaopt.table import Row


def latency_kernel(work: Work, case: Case, session: KernelSession) -> Finished:
    """Measure and gate; raises as `pipeline.evaluate` does, and BaselineError for a baseline that is none."""
    if (work.kernel_id, work.case_id) in session.failed_checks:
        # How fast something wrong is says nothing.
        reason = f"check-{work.case_id} failed"
        return Finished(replace(work.row.on(session.device()), status="not timed"), not_judged=reason)
    return _LatencyItem(work, case, session, session.device(), work.kernel.start()).run()


@dataclass(frozen=True)
class _LatencyItem:
    work: Work
    case: Case
    session: KernelSession
    device: Device
    candidate: Candidate

    @cached_property
    def known(self) -> Baseline | None:
        """What is recorded of the kernel here."""
        if self._mode is Mode.OFF:
            return None
        return baseline_files.read(self._module, self._name, machine_of(self.device).device)

    @cached_property
    def held(self) -> dict[str, Version]:
        """The versions that the case is held to, by the name they are gated under."""
        facts = facts_of(self.work.kernel, self.case)
        return {} if self._is_off else standing_at(self.known, self.work.case_id, facts)

    def run(self) -> Finished:
        evaluation = evaluate(self.work.kernel, self.candidate, self._plan(), self.device)
        row = self.work.row.on(self.device)
        if evaluation.status is Status.NOT_JUDGED:
            return Finished(replace(row, status="unsupported"), not_judged=evaluation.reason)
        if not evaluation.accepted:
            return self._rejected(row, evaluation)
        outcome = evaluation.outcomes[0]
        done = achieved_by_case(self.work.kernel, evaluation, known_peaks(self.device))
        row = replace(row, touched_bytes=outcome.touched_bytes)
        row = row.with_latency(outcome.latency, done.get(outcome.case_id))
        if outcome.latency is None:
            return Finished(row, printed=evaluation.printed)
        row = row.with_gated(outcome.gated)
        # Those of a revision come last, whatever it is called.
        recorded = outcome.gated[: len(self.held)] if outcome.gated else ()
        row = replace(row, baseline_note=self._record(outcome.latency, recorded))
        failure = self._failure(outcome.gated, recorded)
        finished = Finished(row) if failure is None else Finished.failed(row, failure)
        return replace(finished, printed=evaluation.printed, latency=outcome.latency)

    def _plan(self) -> Plan:
        settings = self.session.settings
        return Plan(
            (Stage.COMPILE, Stage.MEASURE, Stage.GATE),
            (self.case,),
            budget=Budget(timeout_s=settings.timeout_s),
            warmup=settings.warmup,
            samples=settings.samples,
            relative_error=settings.relative_error,
            incumbents=self._incumbents(),
            thresholds=thresholds_of(settings.sim_gate, self.work.kernel.gate),
        )

    def _incumbents(self) -> tuple[Incumbent, ...]:
        if self._is_off:
            return ()
        revision = self.session.against
        then = () if revision is None else (revision_incumbent(self.work.kernel, revision),)
        return (*incumbents(self.known, self.work.kernel, self.work.case_id, self.case), *then)

    @property
    def _is_off(self) -> bool:
        return self.session.settings.sim_gate == "off" and not self.device.is_gpu

    def _rejected(self, row: Row, evaluation: Evaluation) -> Finished:
        kernel_id, session = self.work.kernel_id, self.session
        if evaluation.outcomes:
            session.failed_checks.add((kernel_id, self.work.case_id))
        session.shown_mistakes.update((kernel_id, one.mistake) for one in evaluation.findings)
        failure = report.describe_evaluation(self.work.kernel, self.candidate, evaluation, session.root)
        return replace(Finished.failed(row, failure), printed=evaluation.printed)

    def _record(self, latency: Latency, gated: tuple[Gated, ...]) -> str:
        """Write the baseline if asked to; return one line about it."""
        if not self._mode.writes:
            return ""
        seen = seen_of(
            self.work.kernel,
            self.work.case_id,
            self.case,
            self.candidate,
            machine_of(self.device),
            recorded_of(latency),
            datetime.now(UTC).date().isoformat(),
            gated,
            latency.samples_ns,
            self.held if gated else None,
        )
        accepts = self.session.settings.accept_slower
        return baseline_files.record(self._module, self._name, seen, self._mode, accepts)

    def _failure(self, gated: tuple[Gated, ...], recorded: tuple[Gated, ...]) -> Failure | None:
        settings = self.session.settings
        accepted = recorded if self._mode.replaces and settings.accept_slower else ()
        slower = [one for one in gated if one.fails and one not in accepted]
        if slower:
            return self._slower(slower)
        return unmet(settings.require, self.work.case_id, gated, self._why_none())

    def _why_none(self) -> str:
        """Return why there is nothing to hold the case to; nothing if it has just been recorded."""
        if self._is_off:
            return "--cudaopt-sim-gate is off"
        if self._mode is Mode.OFF:
            return "--cudaopt-baseline is off"
        return "" if self._mode.writes else why_no_incumbent(self.known, self.work.case_id)

    def _slower(self, slower: list[Gated]) -> Failure:
        first, kernel = slower[0], self.work.kernel
        cause = next((one for one in first.causes if one.file == kernel.source.name and one.line), None)
        at = None if cause is None else SourceLocation(str(kernel.source), cause.line or 1)
        return Failure(
            FailureClass.SLOWER,
            f"{self.work.case_id} against {first.against}: {first.reason}",
            (
                *(f"  also      against {one.against}: {one.reason}" for one in slower[1:]),
                *self._advice(first.against),
            ),
            at,
        )

    def _advice(self, against: str) -> tuple[str, str]:
        """Return how to see what changed, and what to do about it."""
        if against in (BASELINE, ANCHOR):
            return (
                f"  changed   cudaopt baseline diff {self.work.kernel_id}",
                f"  next      Make it as fast again, or record it: --cudaopt-baseline update {ACCEPT_SLOWER}",
            )
        source = report.shown_path(self.work.kernel.source, self.session.root)
        return f"  changed   git diff {against} -- {source}", "  next      Make it as fast again"

    @property
    def _mode(self) -> Mode:
        return Mode(self.session.settings.baseline)

    @property
    def _module(self) -> Path:
        return self.session.root / self.work.kernel_id.partition("::")[0]

    @property
    def _name(self) -> str:
        return self.work.kernel_id.partition("::")[2]
