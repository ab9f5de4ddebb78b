"""Attempts as a run's folder has them: all in brief from the history, any one whole from its own folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.errors import CudaoptError, EnvironmentFault, why_unreadable
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Evaluation,
    Latency,
    LatencyKind,
    Sampling,
    SamplingMode,
    Status,
)
from pytest_cudaopt.optimize import plain_reader
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Known, Proposal, Trial, Verdict
from pytest_cudaopt.optimize.conversation import Usage
from pytest_cudaopt.optimize.record import INITIAL, TUNING, RunFolder

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel

_AFRESH = "Start afresh without --optimize-from"


def briefs(lines: Sequence[Mapping[str, Any]], kernel: Kernel, device: str, history: Path) -> list[Attempt]:
    """Return the attempts a history tells of; raise EnvironmentFault for a line that makes no sense."""
    cases = dict(zip(kernel.case_ids, kernel.cases, strict=True))
    found = []
    for number, line in enumerate(lines):
        try:
            attempt = _brief(line, kernel.name, device, cases)
        except (KeyError, TypeError, ValueError) as error:
            raise EnvironmentFault(
                f"{history}, line {number + 1}",
                expected=f"attempt {number} as this version writes it",
                got=f"{type(error).__name__}: {error}",
                next_step=_AFRESH,
            ) from error
        if attempt.number != number:
            raise EnvironmentFault(
                f"{history}, line {number + 1}",
                expected=f"attempt {number}",
                got=f"attempt {attempt.number}",
                next_step=_AFRESH,
            )
        found.append(attempt)
    return found


def whole(brief: Attempt, folder: RunFolder, kernel: Kernel, start: Candidate) -> Attempt:
    """Return the attempt with its candidate and evaluation, as they lie in the folder.

    Raises EnvironmentFault for a file that is missing, makes no sense or is not what was judged.
    """
    path = folder.attempt_folder(brief.number) / "evaluation.json"
    evaluation = plain_reader.read(Evaluation, _json(path), str(path))
    if not brief.has_candidate:
        return replace(brief, evaluation=evaluation)
    tried = _trials(folder.attempt_folder(brief.number) / TUNING)
    proposal = replace(brief.proposal, candidate=_candidate(brief, folder, kernel, start), tried=tried)
    return replace(brief, proposal=proposal, evaluation=evaluation, known=None)


def _trials(path: Path) -> tuple[Trial, ...]:
    if not path.is_file():
        return ()
    return plain_reader.read(_Trials, {"trials": _value(path)}, str(path)).trials


@dataclass(frozen=True)
class _Trials:
    trials: tuple[Trial, ...]


def _candidate(brief: Attempt, folder: RunFolder, kernel: Kernel, start: Candidate) -> Candidate:
    own = folder.attempt_folder(brief.number)
    described = _json(own / "candidate.json")
    name = str(described.get("source", ""))
    source = start.source if name == INITIAL else _text(own / name)
    try:
        candidate = kernel.candidate(source, Path(str(described.get("file", name))))
    except CudaoptError as error:
        raise _changed(own / name, str(error)) from error
    candidate = candidate.with_tunables(brief.tunables)
    if candidate.digest != brief.digest:
        raise _changed(own / name, f"{candidate.digest[:12]}, its headers included")
    return candidate


def _brief(line: Mapping[str, Any], kernel: str, device: str, cases: Mapping[str, Case]) -> Attempt:
    decision = Decision(line["decision"])
    digest = line["candidate"]
    failure = "" if digest is not None else str(line["reason"])
    tunables = tuple((str(name), int(value)) for name, value in line["tunables"].items())
    usage = plain_reader.read(Usage, line["tokens"], "tokens")
    # Histories of earlier versions say nothing of tools.
    looked = tuple(str(one) for one in line.get("looked", ()))
    return Attempt(
        int(line["attempt"]),
        Proposal(None, str(line["why"]), failure, looked=looked, usage=usage),
        Evaluation(kernel, digest or "", device, Status(line["status"]), outcomes=_timed(line, cases)),
        Verdict(decision, str(line["reason"])),
        None if line["speedup"] is None else float(line["speedup"]),
        Known(str(digest), tunables) if digest is not None else None,
    )


def _timed(line: Mapping[str, Any], cases: Mapping[str, Case]) -> tuple[CaseOutcome, ...]:
    return tuple(
        CaseOutcome(cases[case_id], case_id, CaseStatus.PASSED, latency=_latency(line, case_id))
        for case_id in line["latency_ns"]
    )


def _latency(line: Mapping[str, Any], case_id: str) -> Latency:
    median_ns = float(line["latency_ns"][case_id])
    mode = line["latency_mode"].get(case_id)
    cold_ns = line["cold_ns"].get(case_id)
    return Latency(
        LatencyKind(line["latency_kind"]),
        median_ns,
        mode=None if mode is None else SamplingMode(mode),
        cold=None if cold_ns is None else Sampling(float(cold_ns), ()),
        batch=Sampling(median_ns, ()) if mode == SamplingMode.BATCH else None,
    )


def _value(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except ValueError as error:
        raise EnvironmentFault(str(path), expected="JSON", got=str(error), next_step=_AFRESH) from error


def _json(path: Path) -> dict[str, Any]:
    value = _value(path)
    if not isinstance(value, dict):
        raise EnvironmentFault(
            str(path), expected="a JSON object", got=type(value).__name__, next_step=_AFRESH
        )
    return value


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFault(
            str(path), expected="a readable file", got=why_unreadable(error), next_step=_AFRESH
        ) from error


def _changed(path: Path, got: str) -> EnvironmentFault:
    return EnvironmentFault(
        str(path),
        expected="the source as it was judged, and its headers",
        got=got,
        next_step=f"A recorded attempt cannot be changed. {_AFRESH}",
    )
