"""Failures as text: what class of failure, what was seen, where in the source, how to run it again.

Pure functions from evaluations and errors to lines; nothing here prints or reads a file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.comparison_text import comparison_lines, mismatch_share
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import (
    BaselineError,
    CudaoptError,
    DeclarationError,
    EnvironmentFault,
    HarnessError,
    LaunchError,
    ReferenceFault,
    SettingsError,
    SourceError,
    SourceLocation,
)
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Diagnostic,
    Evaluation,
    Status,
)
from pytest_cudaopt.excerpts import CompiledSource
from pytest_cudaopt.finding import BEYOND_LIMITS, SEEN_BY_CHECKS, FindingKind
from pytest_cudaopt.finding_text import finding_lines
from pytest_cudaopt.properties import Property
from pytest_cudaopt.resources_taken import LimitsJudged

_SHOWN_DIAGNOSTICS = 5
_SHOWN_FINDINGS = 5


class FailureClass(StrEnum):
    """The first word of every failure: who has to look at it."""

    WRONG = "WRONG"
    FAULT = "FAULT"
    COMPILE = "COMPILE"
    RACE = "RACE"
    UNINITIALIZED_READ = "UNINITIALIZED READ"
    UNFINISHED_COPY = "UNFINISHED COPY"
    ORDER_DEPENDENT = "ORDER DEPENDENT"
    LIMIT = "LIMIT"
    FINDING = "FINDING"
    LOST_PROPERTY = "LOST PROPERTY"
    UNSUPPORTED = "UNSUPPORTED"
    SOURCE = "SOURCE"
    LAUNCH = "LAUNCH"
    DECLARATION = "DECLARATION"
    REFERENCE = "REFERENCE"
    SETTINGS = "SETTINGS"
    BASELINE = "BASELINE"
    ENVIRONMENT = "ENVIRONMENT"
    SLOWER = "SLOWER"
    NO_BASELINE = "NO BASELINE"
    UNSURE = "UNSURE"


@dataclass(frozen=True)
class Failure:
    """One failure, ready to be shown: `headline` says what, `details` are lines below it.

    `brief` is the headline for where there is no room for details; `case` the one that failed, where the item
    does not name it.
    """

    kind: FailureClass
    headline: str
    details: tuple[str, ...] = ()
    at: SourceLocation | None = None
    brief: str = ""
    case: Case | None = None

    @property
    def summary(self) -> str:
        """One line."""
        return f"{self.kind}: {self.brief or self.headline}"

    @property
    def text(self) -> str:
        return "\n".join([f"{self.kind}: {self.headline}", *self.details])


_OF_STATUS = {
    Status.COMPILE_ERROR: FailureClass.COMPILE,
    Status.WRONG_RESULT: FailureClass.WRONG,
    Status.FINDING: FailureClass.FINDING,
    Status.LOST_PROPERTY: FailureClass.LOST_PROPERTY,
    Status.FAULT: FailureClass.FAULT,
    Status.NOT_JUDGED: FailureClass.UNSUPPORTED,
}
# What the checks of `sim` see is a class of its own each.
_OF_KIND = {
    **{kind: FailureClass[kind.name] for kind in SEEN_BY_CHECKS},
    **dict.fromkeys(BEYOND_LIMITS, FailureClass.LIMIT),
}
_OF_ERROR: tuple[tuple[type[CudaoptError], FailureClass], ...] = (
    (SourceError, FailureClass.SOURCE),
    (LaunchError, FailureClass.LAUNCH),
    (ReferenceFault, FailureClass.REFERENCE),
    (SettingsError, FailureClass.SETTINGS),
    (BaselineError, FailureClass.BASELINE),
    (EnvironmentFault, FailureClass.ENVIRONMENT),
    (HarnessError, FailureClass.ENVIRONMENT),
    (DeclarationError, FailureClass.DECLARATION),
)


def describe_error(error: CudaoptError, base: Path) -> Failure:
    """Return the failure an error of this package stands for; `base` shortens paths."""
    kind = next((kind for type_, kind in _OF_ERROR if isinstance(error, type_)), FailureClass.DECLARATION)
    details: list[str] = []
    for label, part in (("expected", error.expected), ("got", error.got), ("next", error.next_step)):
        if part is not None:
            first, *rest = part.splitlines() or [""]
            details += [f"  {label:<9} {first}", *(f"    {line}" for line in rest)]
    if error.at is not None:
        details.append(f"  {'at':<9} {shown_path(Path(error.at.file), base)}:{error.at.line}")
    return Failure(kind, error.what, tuple(details), error.at, _brief(error))


def describe_evaluation(
    kernel: Kernel, candidate: Candidate, evaluation: Evaluation, base: Path, file: Path | None = None
) -> Failure:
    """Return the failure a rejected evaluation stands for, with excerpts of the candidate's source.

    The candidate is from `file`, by default the kernel's own.
    """
    file = file or kernel.source
    source = CompiledSource(candidate, shown_path(file, base), shown_path(kernel.source.parent, base))
    kind = _OF_STATUS[evaluation.status]
    if evaluation.status is Status.COMPILE_ERROR:
        headline, details = _compile_part(evaluation, source)
        if evaluation.finding is not None and evaluation.finding.kind is FindingKind.UNKNOWN_ENTRY:
            declared = f"{shown_path(Path(kernel.location.file), base)}:{kernel.location.line}"
            details += [*finding_lines(evaluation.finding, source), f"  {'declared':<9} {declared}"]
        return Failure(kind, headline, tuple(details), _place(evaluation, file, source))
    failed = [outcome for outcome in evaluation.outcomes if outcome.status is not CaseStatus.PASSED]
    lost = next((outcome.lost for outcome in failed if outcome.lost is not None), None)
    details = [] if failed or evaluation.finding is None else finding_lines(evaluation.finding, source)
    details += _failed_lines(evaluation, failed, source)
    if evaluation.limits is not None:
        details += _limits_lines(evaluation.limits)
    if evaluation.status is Status.FINDING and evaluation.finding is not None:
        kind = _OF_KIND.get(evaluation.finding.kind, kind)
    headline = _headline(evaluation, failed)
    if lost is not None and lost.is_beyond_contract and evaluation.status is not Status.WRONG_RESULT:
        # What it leads to, a fault perhaps, is second to what was lost.
        kind, headline = FailureClass.LOST_PROPERTY, f"{lost}: {headline}"
        details += _lost_lines(kernel, lost)
    return Failure(kind, headline, tuple(details), _place(evaluation, file, source))


def _limits_lines(judged: LimitsJudged) -> list[str]:
    """Say what else exceeds its limit, and what can be done; nothing if all limits are kept."""
    if not judged.findings:
        return []
    first, *others = judged.findings
    place = first.file if first.line is None else f"{first.file}:{first.line}"
    return [
        *(f"  {'also':<9} {one.message}" for one in others),
        *(f"  {'waived':<9} {one}" for one in judged.waived),
        f"  {'next':<9} Take less, raise the limit, or declare "
        f'waive("{first.kind}", at="{place}", reason="...")',
    ]


def _lost_lines(kernel: Kernel, lost: Property) -> list[str]:
    if lost in kernel.obligations.required:
        return [f"  {'property':<9} required=['{lost}']: a kernel must be right {lost.meaning}"]
    return [
        f"  {'property':<9} the starting kernel is right {lost.meaning}; this one is not",
        f"  {'next':<9} Mend it; if it may be given up, declare ignored=['{lost}']",
    ]


def reproduce_lines(node_id: str, flags: Iterable[str], case: Case | None) -> list[str]:
    """Return the command that runs this again, and the case to paste."""
    command = shlex.join(["pytest", node_id, *flags])
    return [f"reproduce: {command}", *([f"           {case}"] if case is not None else [])]


def shown_path(path: Path, base: Path) -> str:
    """Return `path` relative to `base` where it lies below it."""
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _brief(error: CudaoptError) -> str:
    expected = [f"expected {error.expected}"] if error.expected is not None else []
    got = [f"got {error.got.splitlines()[0]}"] if error.got else []
    return ": ".join([error.what, *([", ".join([*expected, *got])] if expected or got else [])])


def _headline(evaluation: Evaluation, failed: Sequence[CaseOutcome]) -> str:
    finding = None if evaluation.status is Status.WRONG_RESULT else evaluation.finding
    if finding is not None:
        return finding.message if finding.kind in _OF_KIND else f"{finding.kind}: {finding.message}"
    wrong = [(outcome, one) for outcome in failed for one in outcome.comparisons if not one.matches]
    if wrong:
        outcome, worst = wrong[0]
        note = f"{outcome.note}: " if outcome.note else ""
        judged = f"are wrong by {worst.judged_by}" if worst.judged_by else "differ from the reference"
        return f"{note}{worst.output}: {mismatch_share(worst)} {judged}"
    return evaluation.reason or f"kernel '{evaluation.kernel}' was not accepted"


def _place(evaluation: Evaluation, file: Path, source: CompiledSource) -> SourceLocation | None:
    """Return the line of the candidate's own `file` that is to blame, if one is known."""
    errors = [d for d in evaluation.diagnostics if d.severity == "error" and source.owns(d.file)]
    if evaluation.status is Status.COMPILE_ERROR and errors:
        return SourceLocation(str(file), errors[0].line)
    finding = evaluation.finding
    if finding is not None and finding.line is not None and source.owns(finding.file):
        return SourceLocation(str(file), finding.line)
    return None


def _compile_part(evaluation: Evaluation, source: CompiledSource) -> tuple[str, list[str]]:
    errors = [d for d in evaluation.diagnostics if d.severity == "error"]
    details: list[str] = []
    for diagnostic in (errors or evaluation.diagnostics)[:_SHOWN_DIAGNOSTICS]:
        details += _diagnostic_lines(diagnostic, source)
    if len(errors) > _SHOWN_DIAGNOSTICS:
        details.append(f"  and {len(errors) - _SHOWN_DIAGNOSTICS} more errors")
    if not errors:
        return evaluation.reason or f"{source.path} does not compile", details
    count = f"{len(errors)} errors, the first: " if len(errors) > 1 else ""
    return f"{source.path}: {count}{errors[0].text.splitlines()[0]}", details


def _diagnostic_lines(diagnostic: Diagnostic, source: CompiledSource) -> list[str]:
    place = source.place(diagnostic.file, diagnostic.line, diagnostic.column)
    first, *rest = diagnostic.text.splitlines() or [""]
    return [
        f"  {place}: {diagnostic.severity}: {first}",
        *(f"      {line}" for line in rest),
        *source.excerpt(diagnostic.file, diagnostic.line, diagnostic.column),
    ]


def _failed_lines(evaluation: Evaluation, failed: Sequence[CaseOutcome], source: CompiledSource) -> list[str]:
    """Say what failed each case; mistakes that are the same at another are told once."""
    lines: list[str] = []
    told: set[object] = set()
    likewise: list[str] = []
    for outcome in failed:
        if (
            told
            and outcome.findings
            and not outcome.comparisons
            and {f.mistake for f in outcome.findings} <= told
        ):
            likewise.append(_sizes_text(outcome))
        else:
            lines += _outcome_lines(outcome, evaluation, source, told)
    return [*lines, *([f"  {'likewise':<9} {'; '.join(likewise)}"] if likewise else [])]


def _sizes_text(outcome: CaseOutcome) -> str:
    if outcome.lost is not None:
        # Nobody declared it: in full, to be pasted.
        return str(outcome.case)
    absent = ((name, None) for name in outcome.case.absent)
    named = (*outcome.case.sizes, *outcome.case.types, *absent)
    return ", ".join(f"{name}={value}" for name, value in named) or "no sizes"


def _outcome_lines(
    outcome: CaseOutcome, evaluation: Evaluation, source: CompiledSource, told: set[object]
) -> list[str]:
    launch = f", launched with {outcome.launch}" if outcome.launch is not None else ""
    lines = [f"  {'case':<9} {_sizes_text(outcome)}{launch}, on {evaluation.device}"]
    for comparison in outcome.comparisons:
        if not comparison.matches:
            lines += comparison_lines(comparison)
    in_headline = not told and evaluation.status is not Status.WRONG_RESULT
    new = [one for one in outcome.findings or evaluation.findings if one.mistake not in told]
    told.update(one.mistake for one in new)
    for number, finding in enumerate(new[:_SHOWN_FINDINGS]):
        if number or not in_headline:
            lines.append(f"  {'also':<9} {_OF_KIND.get(finding.kind, finding.kind)}: {finding.message}")
        lines += finding_lines(finding, source)
    if len(new) > _SHOWN_FINDINGS:
        lines.append(f"  and {len(new) - _SHOWN_FINDINGS} more findings")
    waived = () if outcome.sanitized is None else outcome.sanitized.waived
    return [*lines, *(f"  {'waived':<9} {one}" for one in waived)]
