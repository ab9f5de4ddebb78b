"""Runs that go on: what counts, what is done again, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_models import ListModel, proposes
from made_up_runs import (
    SOURCE,
    MadeUpDevice,
    TableJudge,
    declare_twice,
    evaluation,
    faster_with_larger_blocks,
)
from scripted_server import proposal

from pytest_cudaopt import case, directives, float_expressions
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.optimize import going_on, run_lock
from pytest_cudaopt.optimize.attempt import Attempt, Decision
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.record import read_history
from pytest_cudaopt.optimize.replay_model import ReplayModel
from pytest_cudaopt.optimize.summary import RunSummary, StopReason

BODY = "".join(SOURCE.splitlines(keepends=True)[2:])
FORMS = [
    proposal(BODY.replace("BLOCK", str(block)), f"grid=(cdiv(n, {block})) block=({block})")
    for block in (32, 96, 160, 224, 288)
]


class Killed(BaseException):
    """Ends a run as a kill would: nothing is written any more."""


class BySource:
    """Judges a source by the number of its threads: the more, the faster."""

    def __init__(self, *, killed_at: int = -1, kind: LatencyKind = LatencyKind.MODELLED) -> None:
        self.asked: list[str] = []
        self.killed_at = killed_at
        self.kind = kind
        self.drift = 1.0

    def __call__(self, kernel: Any, candidate: Any, plan: Any, device: Any) -> Any:
        if len(self.asked) == self.killed_at:
            raise Killed
        self.asked.append(candidate.digest)
        found = candidate.chosen or {"BLOCK": int(candidate.source.partition("block=(")[2].partition(")")[0])}
        latencies = {name: self.drift * faster_with_larger_blocks(found, name) for name in ("n100", "n1000")}
        judged = evaluation(latencies, kind=self.kind)
        cases = dict(zip(kernel.case_ids, kernel.cases, strict=True))
        outcomes = tuple(dataclasses.replace(one, case=cases[one.case_id]) for one in judged.outcomes)
        return dataclasses.replace(judged, outcomes=outcomes, candidate=candidate.digest)


Begin = Callable[..., RunSummary]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def start(
        judge: Any, model: Any = None, *, device: Any = None, again: bool = False, **options: Any
    ) -> Any:
        folder = tmp_path / "results" / "run-001" if again else None
        return optimize(
            options.pop("kernel", None) or declare_twice(tmp_path),
            device or MadeUpDevice(),
            OptimizeOptions(going_on_from=folder, **{"fuzz_examples": 0, **options}),
            tmp_path / "results",
            options.pop("progress", lambda attempt: None),
            model=model,
            judge=judge,
            write_replay=lambda *launch: None,
        )

    return start


def replies(*forms: Any) -> ListModel:
    return ListModel(*[proposes(form) for form in forms])


def test_a_killed_run_buys_and_judges_nothing_twice(begin: Begin, tmp_path: Path) -> None:
    first, model = BySource(killed_at=3), replies(*FORMS)
    with pytest.raises(Killed):
        begin(first, model, max_iterations=5)
    assert len(model.requests) == 3, "the third answer is on disk, its attempt was never judged"

    second = BySource()
    rest = ListModel(*model.replies)
    rest.requests = [None] * 3
    summary = begin(second, rest, again=True, max_iterations=5)
    assert len(rest.requests) == 5
    assert len(second.asked) == 3, "attempts 3, 4 and 5"
    lines = read_history(summary.folder / "history.jsonl")
    assert [line["attempt"] for line in lines] == [0, 1, 2, 3, 4, 5]
    assert [line["candidate"] for line in lines] == [*first.asked, *second.asked]
    assert "block=(288)" in (summary.folder / "best.cu").read_text()
    assert summary.usage.total == 50
    assert summary.best.number == 5
    assert json.loads((summary.folder / "summary.json").read_text())["tokens"]["total"] == 50


def test_a_run_in_two_parts_is_the_run_in_one(begin: Begin, tmp_path: Path) -> None:
    whole = begin(BySource(), replies(*FORMS), max_iterations=5)
    with pytest.raises(Killed):
        begin(BySource(killed_at=2), replies(*FORMS), max_iterations=5)
    kept = tmp_path / "results"
    (kept / "run-001").rename(kept / "run-000")
    (kept / "run-002").rename(kept / "run-001")
    rest = replies(*FORMS)
    rest.requests = [None] * 2
    parts = begin(BySource(), rest, again=True, max_iterations=5)
    assert [brief(one) for one in parts.attempts] == [brief(one) for one in whole.attempts]
    asked = [
        (kept / run / f"model/attempt-0{number}/01-request.json").read_text()
        for run in ("run-000", "run-001")
        for number in (4, 5)
    ]
    assert asked[:2] == asked[2:], "a model is told the same"


def brief(attempt: Attempt) -> Attempt:
    return attempt if attempt.is_brief else attempt.brief()


def test_a_finished_run_goes_on_with_larger_limits(begin: Begin) -> None:
    assert len(begin(TableJudge(faster_with_larger_blocks), max_iterations=1).attempts) == 2
    judge = TableJudge(faster_with_larger_blocks)
    summary = begin(judge, again=True, max_iterations=3)
    assert len(summary.attempts) == 4
    assert len(judge.asked) == 2
    assert summary.best_tunables == {"BLOCK": 512}
    written = json.loads((summary.folder / "summary.json").read_text())
    assert (written["attempts"], written["stopped_because"]) == (4, "iterations_used")
    again = begin(TableJudge(faster_with_larger_blocks), again=True, max_iterations=3)
    assert again.stopped_because is StopReason.ITERATIONS_USED
    assert len(again.attempts) == 4


@pytest.mark.parametrize("cut", [1, 30])
def test_a_torn_last_line_is_judged_again(begin: Begin, tmp_path: Path, cut: int) -> None:
    begin(TableJudge(faster_with_larger_blocks), max_iterations=2)
    history = tmp_path / "results/run-001/history.jsonl"
    history.write_bytes(history.read_bytes()[:-cut])
    judge = TableJudge(faster_with_larger_blocks)
    summary = begin(judge, again=True, max_iterations=2)
    assert len(judge.asked) == 1
    assert [line["attempt"] for line in read_history(history)] == [0, 1, 2]
    assert len(summary.attempts) == 3


def test_a_run_killed_before_its_start_was_judged_begins_in_its_folder(begin: Begin) -> None:
    with pytest.raises(Killed):
        begin(BySource(killed_at=0), replies(*FORMS), max_iterations=1)
    summary = begin(BySource(), replies(*FORMS), again=True, max_iterations=1)
    assert summary.folder.name == "run-001"
    assert [one.verdict.decision for one in summary.attempts] == [Decision.START, Decision.NOT_FASTER]


def test_tokens_of_earlier_parts_count(begin: Begin) -> None:
    begin(BySource(), replies(*FORMS), max_iterations=2)
    limits = going_on_limits(tokens=20)
    summary = begin(BySource(), replies(), again=True, max_iterations=5, bounds=limits)
    assert summary.stopped_because is StopReason.TOKENS_USED
    assert len(summary.attempts) == 3


def going_on_limits(**more: Any) -> Any:
    from pytest_cudaopt.optimize.limits import Limits

    return Limits(5, **more)


def test_a_recording_goes_on_where_it_was(begin: Begin, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text("".join(json.dumps(form) + "\n" for form in FORMS[:3]))
    with pytest.raises(Killed):
        begin(BySource(killed_at=3), ReplayModel.open(file))
    summary = begin(BySource(), ReplayModel.open(file), again=True)
    assert summary.stopped_because is StopReason.NOTHING_LEFT
    digests = [one.digest for one in summary.attempts]
    assert len(set(digests)) == len(digests) == 4


def test_measured_latencies_are_measured_anew_and_the_summary_says_so(begin: Begin, tmp_path: Path) -> None:
    device = MadeUpDevice(selector="cuda:0", description="cuda:0 (made up)")
    begin(BySource(kind=LatencyKind.MEASURED), replies(*FORMS), device=device, max_iterations=3)
    today = BySource(kind=LatencyKind.MEASURED)
    today.drift = 1.5
    rest = replies(*FORMS)
    rest.requests = [None] * 3
    summary = begin(today, rest, again=True, device=device, max_iterations=4)
    assert len(today.asked) == 4, "start, best and the new attempt, which is then timed beside the best"
    assert summary.attempts[4].verdict.decision is Decision.NEW_BEST
    assert summary.speedup == pytest.approx(224 / 64)
    (note,) = summary.notes
    assert "attempt 0 takes 1.500x of what it took" in note
    assert "attempt 3 takes 1.500x of what it took" in note
    assert json.loads((summary.folder / "summary.json").read_text())["notes"] == [note]


def test_modelled_latencies_are_taken_from_the_record(begin: Begin) -> None:
    begin(BySource(), replies(*FORMS), max_iterations=2)
    judge = BySource()
    summary = begin(judge, replies(), again=True, max_iterations=2)
    assert judge.asked == []
    assert summary.notes == ()


def test_what_is_not_accepted_any_more_ends_it(begin: Begin) -> None:
    device = MadeUpDevice(selector="cuda:0")
    begin(TableJudge(faster_with_larger_blocks, LatencyKind.MEASURED), device=device, max_iterations=1)
    with pytest.raises(EnvironmentFault, match=r"attempt 0 of .*y\[3\] is wrong"):
        begin(TableJudge(lambda chosen, case_id: None), again=True, device=device, max_iterations=2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda folder: {"kernel": declare_twice(folder, SOURCE.replace("2 *", "2.0f *"))},
            "the source as it is now, got another one, ",
        ),
        (lambda folder: {"kernel": with_another_case(folder)}, "the cases with 4 members, got 3 members"),
        (lambda folder: {"kernel": with_another_name(folder)}, "kernel thrice, got kernel twice"),
        (lambda folder: {"kernel": with_another_tolerance(folder)}, "with tolerance.rtol 0.5, got null"),
        (
            lambda folder: {"device": MadeUpDevice(description="another")},
            "device another, got device sim (made up)",
        ),
        (lambda folder: {"samples": 7}, "--cudaopt-samples 7, got 100"),
        (lambda folder: {"seed": 7}, "--optimize-seed 7, got 0"),
    ],
    ids=["source", "cases", "kernel", "signature", "device", "samples", "seed"],
)
def test_a_run_of_something_else_is_refused_with_what_differs(
    begin: Begin, tmp_path: Path, change: Any, words: str
) -> None:
    begin(TableJudge(faster_with_larger_blocks), max_iterations=1)
    before = (tmp_path / "results/run-001/history.jsonl").read_bytes()
    judge = TableJudge(faster_with_larger_blocks)
    with pytest.raises(EnvironmentFault) as raised:
        begin(judge, again=True, **change(tmp_path))
    assert words in str(raised.value)
    assert "start afresh" in str(raised.value)
    assert judge.asked == []
    assert (tmp_path / "results/run-001/history.jsonl").read_bytes() == before


def with_another_case(folder: Path) -> Any:
    kernel = declare_twice(folder)
    return dataclasses.replace(kernel, cases=(*kernel.cases, case(n=5)))


def with_another_tolerance(folder: Path) -> Any:
    kernel = declare_twice(folder)
    rtol = float_expressions.parse("0.5")
    return dataclasses.replace(kernel, tolerance=dataclasses.replace(kernel.tolerance, rtol=rtol))


def with_another_name(folder: Path) -> Any:
    return dataclasses.replace(declare_twice(folder), name="thrice")


@pytest.mark.parametrize(
    ("file", "edit", "words"),
    [
        ("attempt-01/source.cu", lambda text: text + "// better\n", "as it was judged"),
        ("attempt-01/evaluation.json", lambda text: text.replace('"accepted"', '"excellent"'), "status"),
        ("attempt-01/evaluation.json", lambda text: text[:-20], "JSON"),
        ("history.jsonl", lambda text: text.replace('"new_best"', '"no"'), "line 2"),
        ("config.json", lambda text: "{", "configuration"),
    ],
    ids=["candidate", "evaluation", "torn", "history", "config"],
)
def test_a_record_that_was_changed_is_refused(
    begin: Begin, tmp_path: Path, file: str, edit: Any, words: str
) -> None:
    tuned = [{"name": "BLOCK", "values": [128]}]
    form = proposal(BODY, "grid=(cdiv(n, BLOCK)) block=(BLOCK)", tunables=tuned)
    begin(BySource(), replies(form), max_iterations=1)
    path = tmp_path / "results/run-001" / file
    if not path.exists():
        path = path.with_name("candidate.cu")
    path.write_text(edit(path.read_text()))
    with pytest.raises(EnvironmentFault, match=words):
        begin(BySource(), replies(), again=True, max_iterations=2)


def hold(folder: Path, held: Any, release: Any) -> None:
    with run_lock.held(folder):
        held.set()
        release.wait()


def test_a_run_under_way_is_left_to_its_process(begin: Begin, tmp_path: Path) -> None:
    begin(TableJudge(faster_with_larger_blocks), max_iterations=1)
    folder = tmp_path / "results" / "run-001"
    forked = multiprocessing.get_context("fork")
    held, release = forked.Event(), forked.Event()
    other = forked.Process(target=hold, args=(folder, held, release))
    other.start()
    try:
        held.wait()
        with pytest.raises(EnvironmentFault, match=f"under way in process {other.pid}"):
            begin(TableJudge(faster_with_larger_blocks), again=True, max_iterations=2)
    finally:
        release.set()
        other.join()
    begin(TableJudge(faster_with_larger_blocks), again=True, max_iterations=2)


def test_a_run_is_named_by_number_or_path(tmp_path: Path) -> None:
    run = tmp_path / "results" / "run-007"
    run.mkdir(parents=True)
    (run / "history.jsonl").touch()
    for named in ("run-007", "results/run-007", str(run)):
        assert going_on.find(named, tmp_path, tmp_path / "results") == run
    with pytest.raises(EnvironmentFault, match="run-008"):
        going_on.find("run-008", tmp_path, tmp_path / "results")


def test_the_tuner_goes_on_after_a_models_proposals(begin: Begin) -> None:
    begin(BySource(), replies(*FORMS), max_iterations=1)
    summary = begin(BySource(), again=True, max_iterations=4)
    assert [one.tunables for one in summary.attempts[2:]] == [{"BLOCK": 128}, {"BLOCK": 256}, {"BLOCK": 512}]
    best = directives.read(summary.best_file.read_text(), "best.cu")
    assert best.starting_values == {"BLOCK": 512}
