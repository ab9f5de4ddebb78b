"""One question against the loop: what is asked, what is judged, and when both are stated."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_up_models import ListModel, proposes, wants
from made_up_runs import SOURCE, MadeUpDevice, declare_twice, evaluation
from scripted_server import Answer, Json, message, proposal, response, serving

from conftest import Project
from pytest_cudaopt import case
from pytest_cudaopt.errors import EnvironmentFault, SettingsError
from pytest_cudaopt.evaluation import Evaluation, Status
from pytest_cudaopt.optimize.attempt import Decision
from pytest_cudaopt.optimize.conversation import Text
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.limits import Limits
from pytest_cudaopt.optimize.search import Search
from pytest_cudaopt.optimize.strategies import Strategy
from pytest_cudaopt.optimize.summary import RunSummary, StopReason

BODY = "".join(SOURCE.splitlines(keepends=True)[2:])
LOOP, SINGLE = Strategy.LOOP, Strategy.SINGLE


def version(threads: int) -> Json:
    return proposal(BODY.replace("BLOCK", str(threads)), f"grid=(cdiv(n, {threads})) block=({threads})")


BETTER, BEST = version(128), version(256)
WRONG = proposal(BODY.replace("BLOCK", "96").replace("2 *", "3 *"), "grid=(cdiv(n, 96)) block=(96)")
TUNED = proposal(
    BODY, "grid=(cdiv(n, BLOCK)) block=(BLOCK)", tunables=[{"name": "BLOCK", "values": [128, 512]}]
)


class Killed(BaseException):
    """Ends a run as a kill would: nothing is written any more."""


class ByThreads:
    """Accepts what doubles: the more threads a block has, the faster it is."""

    def __init__(self, *, killed_at: int = -1) -> None:
        self.asked = 0
        self.killed_at = killed_at

    def __call__(self, kernel: Any, candidate: Any, plan: Any, device: Any) -> Evaluation:
        if self.asked == self.killed_at:
            raise Killed
        self.asked += 1
        if "3 *" in candidate.source:
            wrong = evaluation({}, status=Status.WRONG_RESULT, reason="y[3] is wrong")
            return dataclasses.replace(wrong, candidate=candidate.digest)
        given = candidate.source.partition("block=(")[2].partition(")")[0]
        threads = int(candidate.chosen.get("BLOCK", 0) or given)
        judged = evaluation(dict.fromkeys(("n100", "n1000"), 64000 / threads))
        cases = dict(zip(kernel.case_ids, kernel.cases, strict=True))
        outcomes = tuple(dataclasses.replace(one, case=cases[one.case_id]) for one in judged.outcomes)
        return dataclasses.replace(judged, outcomes=outcomes, candidate=candidate.digest)


def model_of(*forms: Json) -> ListModel:
    return ListModel(*map(proposes, forms))


Begin = Callable[..., RunSummary]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def start(strategy: Strategy, model: Any, *, judge: Any = None, **more: Any) -> RunSummary:
        kernel, device = more.pop("kernel", None), more.pop("device", None)
        again = more.pop("again", None)
        iterations = {"max_iterations": 1 if strategy is SINGLE else 2}
        options = {"fuzz_examples": 0, "going_on_from": again, **iterations, **more}
        return optimize(
            kernel or declare_twice(tmp_path),
            device or MadeUpDevice(),
            OptimizeOptions(strategy=strategy, **options),
            tmp_path / "results",
            lambda attempt: None,
            model=model,
            judge=judge or ByThreads(),
            write_replay=lambda *launch: None,
        )

    return start


def written(summary: RunSummary) -> Any:
    return json.loads((summary.folder / "summary.json").read_text())


def test_a_single_prompt_is_one_request_without_tools(begin: Begin) -> None:
    model = model_of(BETTER, BEST)
    summary = begin(SINGLE, model)
    (request,) = model.requests
    assert request.tools == ()
    told = "\n".join(one.text for one in request.items if isinstance(one, Text))
    assert len(request.items) == 2, "what it is about, and the start's latencies"
    assert "Tools may be called" not in told
    assert "There are no tools" in told
    assert "1 of 1 attempts are left" in told
    assert [one.verdict.decision for one in summary.attempts] == [Decision.START, Decision.NEW_BEST]
    assert summary.speedup == pytest.approx(2)
    assert summary.stopped_because is StopReason.ITERATIONS_USED
    assert "block=(128)" in summary.best_file.read_text()


def test_a_loop_asks_with_tools_and_again(begin: Begin) -> None:
    model = model_of(BETTER, BEST)
    begin(LOOP, model)
    assert [bool(request.tools) for request in model.requests] == [True, True]
    assert "Tools may be called" in model.requests[0].items[0].text


def test_the_record_says_the_strategy(begin: Begin) -> None:
    for strategy in Strategy:
        summary = begin(strategy, model_of(BETTER, BEST))
        config = json.loads((summary.folder / "config.json").read_text())
        assert (config["options"]["strategy"], config["model"]) == (strategy, "a list")
        assert written(summary)["strategy"] == strategy


def test_a_wrong_proposal_is_the_only_one_and_the_start_stays(begin: Begin) -> None:
    model = model_of(WRONG, BEST)
    summary = begin(SINGLE, model)
    assert len(model.requests) == 1
    assert [one.verdict.decision for one in summary.attempts] == [Decision.START, Decision.NOT_ACCEPTED]
    assert not summary.improved
    assert "BLOCK = 64" in summary.best_file.read_text()
    (note,) = summary.strategy_notes
    assert note.startswith("single prompt: its one proposal was not kept, so the start stays: ")
    assert "y[3] is wrong" in note


def test_calls_of_tools_that_nobody_offered_are_no_proposal(begin: Begin) -> None:
    model = ListModel(wants("floor", {}), proposes(BEST))
    summary = begin(SINGLE, model)
    assert len(model.requests) == 1
    assert summary.attempts[1].verdict.decision is Decision.NO_PROPOSAL
    assert "tools that were not offered: floor" in summary.attempts[1].verdict.reason
    assert summary.usage.total == 10


def test_tunables_of_a_single_proposal_are_tried_as_in_the_loop(begin: Begin) -> None:
    found = {strategy: begin(strategy, model_of(TUNED, WRONG)).attempts[1] for strategy in Strategy}
    assert found[SINGLE].tunables == found[LOOP].tunables == {"BLOCK": 512}


@pytest.mark.parametrize("first", [LOOP, SINGLE])
def test_both_are_stated_once_both_were_run(begin: Begin, first: Strategy) -> None:
    forms = {LOOP: (BETTER, BEST), SINGLE: (BETTER,)}
    alone = begin(first, model_of(*forms[first]))
    assert written(alone)["strategies"] == {}
    assert not any("; single" in note for note in alone.strategy_notes)

    both = begin(first.other, model_of(*forms[first.other]))
    run_of = {first: "run-001", first.other: "run-002"}
    line = f"loop: 4.00x in 2 attempts ({run_of[LOOP]}); single prompt: 2.00x ({run_of[SINGLE]})"
    assert both.strategy_notes[-1] == line
    assert written(both)["strategies"] == {
        "loop": {"run": run_of[LOOP], "speedup": pytest.approx(4), "attempts": 2},
        "single": {"run": run_of[SINGLE], "speedup": pytest.approx(2), "attempts": 1},
    }


def test_the_latest_run_of_the_other_strategy_is_the_one_that_is_stated(begin: Begin, tmp_path: Path) -> None:
    for form in (BETTER, BEST):
        begin(SINGLE, model_of(form))
    (tmp_path / "results" / "run-002").rename(tmp_path / "results" / "run-1000")
    (tmp_path / "results" / "run-001").rename(tmp_path / "results" / "run-999")
    line = begin(LOOP, model_of(BETTER, WRONG)).strategy_notes[-1]
    assert line == "loop: 2.00x in 2 attempts (run-1001); single prompt: 4.00x (run-1000)"


def named(model: ListModel, name: str) -> ListModel:
    model.name = name
    return model


def with_another_case(folder: Path) -> Any:
    kernel = declare_twice(folder)
    return dataclasses.replace(kernel, cases=(*kernel.cases, case(n=5)))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: {"kernel": dataclasses.replace(declare_twice(folder), name="thrice")},
        lambda folder: {"kernel": declare_twice(folder, SOURCE.replace("2 *", "2.0f *"))},
        lambda folder: {"kernel": dataclasses.replace(declare_twice(folder), defines=(("X", "1"),))},
        lambda folder: {"kernel": with_another_case(folder)},
        lambda folder: {"device": MadeUpDevice(description="another")},
        lambda folder: {"model": named(model_of(BETTER), "another list")},
        lambda folder: {"effort": "high"},
        lambda folder: {"samples": 7},
        lambda folder: {"allow_slower": 0.5},
    ],
    ids=["kernel", "source", "defines", "cases", "device", "model", "effort", "samples", "allowance"],
)
def test_a_run_of_something_else_is_not_compared(begin: Begin, tmp_path: Path, change: Any) -> None:
    begin(LOOP, model_of(BETTER, BEST))
    assert written(begin(SINGLE, **{"model": model_of(BETTER), **change(tmp_path)}))["strategies"] == {}
    # The start's file may have been another one meanwhile.
    assert written(begin(SINGLE, model_of(BETTER), kernel=declare_twice(tmp_path)))["strategies"] != {}


def not_utf8(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def edited(**values: Any) -> Callable[[Path], None]:
    return lambda path: (path.write_text(json.dumps({**json.loads(path.read_text()), **values})), None)[1]


DAMAGED: list[tuple[str, Callable[[Path], Any]]] = [
    *(
        (name, damage)
        for name in ("config.json", "summary.json", "initial.cu", "attempt-00/candidate.json")
        for damage in (Path.unlink, not_utf8, a_folder, a_pipe)
    ),
    ("config.json", lambda path: path.write_text("[" * 200_000)),
    ("config.json", lambda path: path.write_text("[]")),
    ("config.json", edited(options=[])),
    ("config.json", edited(options=None)),
    ("continued.jsonl", lambda path: path.write_text('{"model": "another"}\n')),
    ("continued.jsonl", lambda path: path.write_text("torn")),
    ("summary.json", edited(speedup=None)),
    ("summary.json", edited(speedup="fast")),
    ("summary.json", edited(speedup=True)),
    ("summary.json", edited(speedup=float("nan"))),
    ("summary.json", edited(speedup=10**400)),
    ("summary.json", edited(speedup=0)),
    ("summary.json", edited(attempts="many")),
    ("summary.json", edited(attempts=1)),
    ("summary.json", edited(stopped_because="interrupted")),
    ("summary.json", edited(stopped_because="fault")),
    ("summary.json", edited(stopped_because=["fault"])),
    ("summary.json", edited(stopped_because="new words")),
]


def test_what_is_damaged_or_unfinished_is_passed_over(begin: Begin, tmp_path: Path) -> None:
    begin(LOOP, model_of(BETTER, BEST))
    results = tmp_path / "results"
    for number, (name, damage) in enumerate(DAMAGED, start=2):
        copy = results / f"run-{number:03d}"
        shutil.copytree(results / "run-001", copy)
        damage(copy / name)
    (results / "run-900").write_text("a file")
    summary = begin(SINGLE, model_of(BETTER))
    assert written(summary)["strategies"]["loop"]["run"] == "run-001", "the one that is whole"
    shutil.rmtree(results / "run-001")
    assert written(begin(SINGLE, model_of(BETTER)))["strategies"] == {}


def test_a_killed_single_run_buys_its_one_answer_once(begin: Begin, tmp_path: Path) -> None:
    model = model_of(BETTER, BEST)
    with pytest.raises(Killed):
        begin(SINGLE, model, judge=ByThreads(killed_at=1))
    folder = tmp_path / "results" / "run-001"
    summary = begin(SINGLE, model, again=folder)
    assert len(model.requests) == 1
    assert summary.speedup == pytest.approx(2)
    finished = begin(SINGLE, model, again=folder)
    assert len(model.requests) == 1, "one proposal is one proposal"
    assert len(finished.attempts) == 2


@pytest.mark.parametrize("first", [LOOP, SINGLE])
def test_a_run_cannot_go_on_with_the_other_strategy(begin: Begin, tmp_path: Path, first: Strategy) -> None:
    begin(first, model_of(BETTER, BEST))
    model = model_of(BEST)
    words = f"--optimize-strategy {first.other}, got {first}"
    with pytest.raises(EnvironmentFault, match=words):
        begin(first.other, model, again=tmp_path / "results" / "run-001")
    assert model.requests == []


def test_a_run_that_went_on_with_another_model_says_nothing_of_either(begin: Begin, tmp_path: Path) -> None:
    begin(SINGLE, model_of(BETTER))
    begin(LOOP, named(model_of(BETTER), "another list"), max_iterations=1)
    mixed = begin(LOOP, ListModel(proposes(BEST)), again=tmp_path / "results" / "run-002")
    assert len(mixed.attempts) == 3
    assert written(mixed)["strategies"] == {}


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (None, {}, "expected a language model to ask, got the offline tuner"),
        (model_of(BETTER), {"max_iterations": 7}, "expected one attempt.* got --optimize-max-iterations 7"),
        (model_of(BETTER), {"bounds": Limits(2)}, "expected one attempt.* got --optimize-max-iterations 2"),
        (model_of(BETTER), {"search": Search(2, 2)}, "expected --optimize-search greedy"),
    ],
    ids=["offline", "iterations", "bounds", "beam"],
)
def test_what_one_question_cannot_be_is_refused_before_anything_is_done(
    begin: Begin, tmp_path: Path, model: Any, options: Any, words: str
) -> None:
    judge = ByThreads()
    with pytest.raises(SettingsError, match=words) as raised:
        begin(SINGLE, model, judge=judge, **options)
    assert raised.value.what == "--optimize-strategy single"
    assert raised.value.next_step is not None
    assert judge.asked == 0
    assert not (tmp_path / "results").exists()


HEAD = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n'
SLOW = f"""// @launch grid=(1) block=(64)
{HEAD}    for (int i = threadIdx.x; i < n; i += 64) y[i] = 2.0f * x[i];
}}
"""


def scaled(value: str) -> Json:
    return proposal(
        f"{HEAD}    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) y[i] = {value};\n}}\n"
    )


def answer(form: Json) -> Answer:
    return response(message(json.dumps(form)))


def test_pytest_shows_what_the_loop_adds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("scale.cu", SLOW)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    flags = ("-k", "optimize", "--optimize", "--optimize-model=any-name", "--cudaopt-device=sim")
    wrong, right = answer(scaled("3.0f * x[i]")), answer(scaled("2.0f * x[i]"))
    with serving(wrong, right, wrong) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        project.run(*flags, "--optimize-max-iterations=2").assert_outcomes(passed=1, deselected=6)
        single = project.run(*flags, "--optimize-strategy=single", "--cudaopt-report=out.md")
    assert single.ret == 0
    single.stdout.fnmatch_lines(
        [
            "*nothing faster found in 1 attempts, of which 1 not accepted*",
            "*single prompt: its one proposal was not kept, so the start stays: *51 of 51 elements*",
            "*loop: *x in 2 attempts (run-001); single prompt: 1.00x (run-002)",
        ]
    )
    assert "single prompt: 1.00x (run-002)" in (project.path / "out.md").read_text()
    assert [bool(request.get("tools")) for request in server.requests] == [True, True, False]
    assert (project.path / "scale.cu").read_text() == SLOW


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--model=offline",), "the offline tuner"),
        (("--model=replay:kept.jsonl", "--max-iterations=7"), "--optimize-max-iterations 7"),
        (("--model=replay:kept.jsonl", "--search=beam"), "one that asks for 4 versions"),
    ],
    ids=["offline", "iterations", "beam"],
)
def test_the_command_refuses_what_one_question_cannot_be(
    project: Project, flags: tuple[str, ...], words: str
) -> None:
    project.write("kept.jsonl", json.dumps(scaled("2.0f * x[i]")) + "\n")
    refused = project.cudaopt("optimize", "test_scale.py::scale", "--device=sim", "--strategy=single", *flags)
    assert refused.ret == 2
    refused.stdout.fnmatch_lines(["SETTINGS: --optimize-strategy single", f"  got *{words}*"])
    assert not (project.path / "results").exists()


def test_the_command_asks_a_recording_once(project: Project) -> None:
    project.write("scale.cu", SLOW)
    forms = [scaled("2.0f * x[i]"), scaled("x[i] + x[i]")]
    project.write("kept.jsonl", "".join(json.dumps(form) + "\n" for form in forms))
    flags = ("--device=sim", "--model=replay:kept.jsonl", "--strategy=single")
    asked = project.cudaopt("optimize", "test_scale.py::scale", *flags)
    assert asked.ret == 0
    asked.stdout.fnmatch_lines(
        ["*attempt 1/1*new best*", "*single prompt: its one proposal became the best*"]
    )
    history = project.path / "results" / "run-001" / "history.jsonl"
    assert len(history.read_text().splitlines()) == 2
