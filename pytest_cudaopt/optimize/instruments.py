"""The tools of a run: the device, a compilation, one case, counters, earlier attempts, the floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from pytest_cudaopt import report
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.optimize import (
    attempt_feedback,
    comparing,
    counters_table,
    describe,
    floor,
    run_budget,
)
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure
from pytest_cudaopt.optimize.knowledge_search import Question
from pytest_cudaopt.optimize.proposal_form import VersionForm
from pytest_cudaopt.optimize.quotation import quoted
from pytest_cudaopt.optimize.toolbox import Instrument, Toolbox, as_text
from pytest_cudaopt.optimize.versions import Version, version_of
from pytest_cudaopt.peaks import known_peaks

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.evaluation import Evaluation, Latency
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.run import Run

# Settings times cases of one call.
_MOST_MEASUREMENTS = 8


class _Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _OneCase(VersionForm):
    case_id: str = Field(description="a case's id, as the brief lists them")


class _SomeCases(VersionForm):
    case_ids: list[str] = Field(
        default=[], description="ids of cases, as the brief lists them; empty for all measured ones"
    )


class _OneAttempt(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int = Field(description="the attempt's number, 0 for the start")


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")
    question: str = Field(description="what holds the kernel up, in plain words or names of counters")


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
        described = {"device": device.description, "limits": describe.plain(device.limits)}
        if device.limits.gpu is None:
            return as_text(
                {
                    **described,
                    "modelled_dram_bytes_per_ns": floor.MODELLED_DRAM_BYTES_PER_NS,
                    "modelled_fp32_flops_per_ns": round(floor.MODELLED_FP32_FLOPS_PER_NS),
                }
            )
        return as_text({**described, "measured_peaks": describe.plain(known_peaks(device))})

    def compile(self, form: VersionForm) -> str:
        version = version_of(form, self.run)
        evaluation = self._judge(version.first, (Stage.COMPILE,), ())
        if not evaluation.accepted:
            return self._failure(version, version.first, evaluation)
        measured = self.run.kernel.measured_cases[:1]
        modelled = self._judge(version.first, (Stage.COMPILE, Stage.MEASURE), measured)
        lines = attempt_feedback.resources(evaluation)
        said = "; ".join(line.strip() for line in lines) or "compiled"
        occupied = [
            counters_table.table({"": latency}, self.run.device.limits.multiprocessors)
            for latency in modelled.latencies.values()
        ]
        notes = [str(one) for one in evaluation.diagnostics]
        return "\n".join([f"{version.label(version.first)}: {said}", *notes, *occupied])

    def run_case(self, form: _OneCase) -> str:
        case = self._case(form.case_id)
        version = version_of(form, self.run)
        evaluation = self._judge(version.first, (Stage.COMPILE, Stage.CHECK), (case,))
        if not evaluation.accepted:
            return self._failure(version, version.first, evaluation)
        return f"{version.label(version.first)} at {form.case_id}: right"

    def counters(self, form: _SomeCases) -> str:
        kernel = self.run.kernel
        names = form.case_ids or [
            name for name, case in zip(kernel.case_ids, kernel.cases, strict=True) if case.measure
        ]
        cases = {name: self._case(name) for name in dict.fromkeys(names[:_MOST_MEASUREMENTS])}
        version = version_of(form, self.run)
        most = max(1, _MOST_MEASUREMENTS // len(cases))
        tried = version.settings[:most]
        measured = tuple(replace(case, measure=True) for case in cases.values())
        latencies: dict[str, dict[str, Latency]] = {name: {} for name in cases}
        for number, candidate in enumerate(tried, start=1):
            evaluation = self._judge(candidate, (Stage.COMPILE, Stage.MEASURE), measured)
            if not evaluation.accepted:
                return self._failure(version, candidate, evaluation)
            title = attempt_feedback.setting(candidate.chosen) or f"version {number}"
            for name, outcome in zip(cases, evaluation.outcomes, strict=True):
                if outcome.latency is not None:
                    latencies[name][title] = outcome.latency
        left = len(version.settings) - len(tried)
        more = f"; {left} more settings were left out" if left else ""
        tables = [self._table(name, found) for name, found in latencies.items()]
        return "\n\n".join([f"{version.name}: {self._headline(latencies)}{more}", *tables])

    def _headline(self, latencies: Mapping[str, Mapping[str, Latency]]) -> str:
        best = self._best
        parts = []
        for name, found in latencies.items():
            theirs = best.evaluation.latencies.get(name)
            for title, latency in found.items():
                own_ns, best_ns = (0.0, 0.0) if theirs is None else comparing.comparable_ns(latency, theirs)
                ratio = f" ({own_ns / best_ns:.3f}x of attempt {best.number})" if best_ns else ""
                parts.append(f"{title} at {name} {format_duration(latency.median_ns)}{ratio}")
        return "; ".join(parts) or "nothing is launched"

    def _table(self, name: str, found: Mapping[str, Latency]) -> str:
        if not found:
            return f"{name}: nothing is launched at this case"
        columns = dict(found)
        theirs = self._best.evaluation.latencies.get(name)
        if theirs is not None:
            columns[f"the best, attempt {self._best.number}"] = theirs
        least = floor.least_terms(self.run.kernel, self._case(name))
        multiprocessors = self.run.device.limits.multiprocessors
        return f"{name}\n{counters_table.table(columns, multiprocessors, least)}"

    def attempt(self, asked: _OneAttempt) -> str:
        if not 0 <= asked.number < len(self.attempts):
            return f"There are attempts 0 to {len(self.attempts) - 1}."
        found, best = self.run.whole(asked.number), self._best
        source = "" if found.proposal.candidate is None else found.candidate.standalone_source()
        return f"{attempt_feedback.text(self.run.kernel, found, best)}\n\n{source}"

    def floor(self, _: _Nothing) -> str:
        kernel, judged, peaks = self.run.kernel, self._best.evaluation, known_peaks(self.run.device)
        floors = floor.floor_by_case(kernel, judged, peaks)
        if not floors:
            return f"The floor is unknown: {floor.why_unknown(kernel, judged, peaks)}."
        return "\n".join(
            f"{case_id}: at least {format_duration(one.floor_ns)} ({one.because}); "
            f"attempt {self._best.number} has {100 * one.share:.0f} % of that speed"
            for case_id, one in floors.items()
        )

    def _judge(self, candidate: Candidate, stages: tuple[Stage, ...], cases: Sequence[Case]) -> Evaluation:
        plan = Plan(stages, tuple(cases), seed=self.run.options.seed, budget=run_budget.of(self.run))
        with self.run.device_turn:
            return self.run.judge(self.run.kernel, candidate, plan, self.run.device)

    def _failure(self, version: Version, candidate: Candidate, evaluation: Evaluation) -> str:
        kernel = self.run.kernel
        told = report.describe_evaluation(kernel, candidate, evaluation, kernel.source.parent).text
        return f"{version.label(candidate)}: {evaluation.status.value}\n{told}"

    def look_up(self, form: _Question) -> str:
        # The best one is remembered whole.
        source = self._best.candidate.standalone_source()
        asked = Question(form.question, self.run.device.limits.architecture, source)
        # As many as fit into one answer.
        return quoted(self.run.knowledge.search(asked, most_own=2, most_of_user=1))

    def _case(self, case_id: str) -> Case:
        """Return the case of that id; raise ModelFailure that lists those there are."""
        cases = dict(zip(self.run.kernel.case_ids, self.run.kernel.cases, strict=True))
        if case_id not in cases:
            said = f"There is no case '{case_id}'. Cases: {', '.join(self.run.kernel.case_ids)}."
            raise ModelFailure(FailureKind.MALFORMED, said)
        return cases[case_id]


def toolbox(run: Run) -> Toolbox:
    """Return the tools for the next attempt."""
    of = _Instruments(run)
    return Toolbox(
        (
            Instrument("device_properties", "The device's limits and peaks.", _Nothing, of.device),
            Instrument(
                "compile_only",
                "Compile a version with the first value of each tunable: diagnostics, registers, spills, "
                "occupancy.",
                VersionForm,
                of.compile,
                is_remembered=True,
            ),
            Instrument(
                "run_one_case",
                "Check a version with the first value of each tunable at one case against the reference.",
                _OneCase,
                of.run_case,
                is_remembered=True,
            ),
            Instrument(
                "counters",
                "Latency of a version at some cases, with counters beside the best's where there are any. "
                "Every combination of the tunables' values is measured, up to "
                f"{_MOST_MEASUREMENTS} settings times cases.",
                _SomeCases,
                of.counters,
                is_remembered=True,
            ),
            Instrument(
                "read_attempt", "How an earlier attempt ended, and its source.", _OneAttempt, of.attempt
            ),
            Instrument(
                "look_up",
                "Quotations from pages on how CUDA kernels are made faster, and from the user's own "
                "documents: when a technique applies, how that shows in counters, its pitfalls.",
                _Question,
                of.look_up,
            ),
            Instrument(
                "floor", "The least time each case can take, and how near the best is.", _Nothing, of.floor
            ),
        )
    )
