"""Attempts come back from a run's folder as they were."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from made_up_kernels import evaluation as failed
from made_up_kernels import out_of_bounds, wrong_outcome
from made_up_runs import SOURCE, declare_twice
from measured_latencies import batch_latency, cold_latency

from pytest_cudaopt import pipeline
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Evaluation,
    LatencyKind,
    Plan,
    Stage,
    Status,
)
from pytest_cudaopt.finding import FindingKind, OtherParty, SourcePoint
from pytest_cudaopt.optimize import describe, plain_reader, restored
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Trial, Verdict
from pytest_cudaopt.optimize.conversation import Usage
from pytest_cudaopt.optimize.record import RunFolder, read_history
from pytest_cudaopt.rounding_error import Distance, ErrorSplit, RoundingLoss
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.waivers import Waived, Waiver


def again(evaluation: Evaluation) -> Evaluation:
    """Return what is read of what is written."""
    written = json.dumps(describe.plain(evaluation), allow_nan=False)
    return plain_reader.read(Evaluation, json.loads(written), "evaluation")


def everything_found() -> Evaluation:
    other = OtherParty("write", "scale.cu", 9, (SourcePoint("a.h", 3),), (0, 0, 0), (31, 0, 0))
    race = dataclasses.replace(out_of_bounds(), kind=FindingKind.RACE, other=other, times=7)
    sanitized = Sanitized(
        orders=("forward", "reverse"),
        findings=(race,),
        waived=(Waived(race, Waiver(FindingKind.RACE, "scale.cu", None, "on purpose")),),
        notes=("bits depend on the order",),
        errors=(ErrorSplit("y", 2.0, *[Distance(0.5, (3,))] * 2, 9, 8, 1, 0),),
        loss=RoundingLoss(1.5, math.inf, 1.0, math.nan, inlined_from=(SourcePoint("b.h", 4),)),
    )
    outcome = dataclasses.replace(wrong_outcome(got=math.inf), sanitized=sanitized, findings=(race,))
    return failed(Status.FINDING, outcomes=(outcome,), findings=(race,), seconds=(("check", 0.25),))


def measured() -> Evaluation:
    outcomes = [
        CaseOutcome(one_case, case_id, CaseStatus.PASSED, latency=latency)
        for case_id, one_case, latency in zip(
            ("n100", "n1000"),
            declare_twice(Path(), SOURCE).cases[1:],
            (batch_latency(4_000.0, cold_ns=8_000.0), cold_latency(12_000.0, notes=("clock",))),
            strict=True,
        )
    ]
    return Evaluation("twice", "d1", "cuda:0", Status.ACCEPTED, outcomes=tuple(outcomes))


@pytest.mark.parametrize("make", [everything_found, measured])
def test_an_evaluation_comes_back_as_it_was(make: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    evaluation = make()
    # NaN is not equal to itself.
    assert repr(again(evaluation)) == repr(evaluation)


def test_what_the_judge_says_on_sim_comes_back_as_it_was(tmp_path: Path, sim: Device) -> None:
    kernel = declare_twice(tmp_path)
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.SANITIZE, Stage.MEASURE), kernel.cases, rounding=True)
    for source in (SOURCE, SOURCE.replace("i < n", "i <= n"), SOURCE.replace("2 *", "3 *"), SOURCE + "?"):
        evaluation = pipeline.evaluate(kernel, kernel.candidate(source, kernel.source), plan, sim)
        assert again(evaluation) == evaluation


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (("status",), "perfect", "evaluation.status: expected one of accepted"),
        (("seconds",), "none", "evaluation.seconds: expected a list"),
        (("seconds", 0), ["check"], r"evaluation.seconds\[0\]: expected 2 items"),
        (("seconds", 0, 1), True, r"evaluation.seconds\[0\]\[1\]: expected a number"),
        (("outcomes", 0, "case", "measure"), 1, r"outcomes\[0\].case.measure: expected true or false"),
        (("outcomes", 0, "findings", 0, "line"), "4", r"findings\[0\].line: expected a whole number"),
        (("outcomes", 0, "colour"), "red", r"outcomes\[0\]: expected members of CaseOutcome, got 'colour'"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(at: tuple[Any, ...], value: Any, words: str) -> None:
    written = json.loads(json.dumps(describe.plain(everything_found())))
    holder = written
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = value
    with pytest.raises(EnvironmentFault, match=words):
        plain_reader.read(Evaluation, written, "evaluation")


def attempts(folder: RunFolder, kernel: Any) -> list[Attempt]:
    """Write a start, a rewritten source with tunables, and an attempt without a proposal."""
    start = kernel.start()
    rewritten = kernel.candidate(SOURCE.replace("2 *", "2.0f *"), Path("twice.cu"))
    proposals = [
        Proposal(start, "the kernel as it is"),
        Proposal(
            rewritten.with_tunables({"BLOCK": 256}),
            "an idea",
            answer="{}",
            tried=(Trial((("BLOCK", 64),), None), Trial((("BLOCK", 256),), 7.5)),
            looked=("counters: attempt 0: BLOCK=64 at n100 9.00 us",),
            usage=Usage(5, 1, 2, 1),
        ),
        Proposal(None, "no usable answer", failure="refused: no", usage=Usage(3)),
    ]
    good = dataclasses.replace(measured(), device="cuda:0")
    found = []
    folder.write_start(kernel, start, {})
    for number, (proposal, decision) in enumerate(
        zip(proposals, (Decision.START, Decision.NEW_BEST, Decision.NO_PROPOSAL), strict=True)
    ):
        candidate: Candidate | None = proposal.candidate
        judged = dataclasses.replace(good, candidate="" if candidate is None else candidate.digest)
        if candidate is None:
            judged = Evaluation("twice", "", "cuda:0", Status.NOT_JUDGED, reason="refused: no")
        reason = "refused: no" if candidate is None else "because"
        attempt = Attempt(number, proposal, judged, Verdict(decision, reason), None if number == 2 else 1.5)
        folder.write_proposal(number, proposal, start)
        if proposal.tried:
            folder.write_tuning(number, proposal, proposal.tried, start)
        folder.write_attempt(attempt, best=min(number, 1), elapsed_s=1.25)
        found.append(attempt)
    return found


def test_in_brief_the_history_says_what_memory_kept(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    kernel, folder = declare_twice(tmp_path), RunFolder.create(tmp_path / "results")
    written = attempts(folder, kernel)
    read = restored.briefs(read_history(folder.history), kernel, "cuda:0", folder.history)
    assert read == [one.brief() for one in written]
    assert {one.kind for one in read[1].evaluation.latencies.values()} == {LatencyKind.MEASURED}
    assert [one.label for one in read] == ["BLOCK=64", "BLOCK=256", "no proposal"]


def test_an_attempt_comes_back_whole_from_its_folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    kernel, folder = declare_twice(tmp_path), RunFolder.create(tmp_path / "results")
    for attempt in attempts(folder, kernel):
        whole = restored.whole(attempt.brief(), folder, kernel, kernel.start())
        # What a model wrote lies in `model/`.
        expected = dataclasses.replace(attempt.proposal, answer="")
        assert whole == dataclasses.replace(attempt, proposal=expected)
