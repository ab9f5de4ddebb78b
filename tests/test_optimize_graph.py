"""Whole runs: with judges that answer from a table, and once with the real one."""

from __future__ import annotations

import dataclasses
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from harness_client import NO_END_S
from langsmith.run_helpers import get_tracing_context
from made_up_runs import (
    LARGE,
    SMALL,
    SOURCE,
    MadeUpDevice,
    TableJudge,
    declare_twice,
    evaluation,
    faster_with_larger_blocks,
)
from measured_latencies import batch_latency, cold_latency

from pytest_cudaopt import case, directives
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault, ReferenceFault, SourceError
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
from pytest_cudaopt.optimize import closing
from pytest_cudaopt.optimize.accept import AcceptOutcome
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Ready
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure
from pytest_cudaopt.optimize.graph import OptimizeOptions, mermaid, optimize
from pytest_cudaopt.optimize.record import read_history
from pytest_cudaopt.optimize.search import Search
from pytest_cudaopt.optimize.summary import RunSummary, StopReason
from pytest_cudaopt.properties import Property

Run = Callable[..., RunSummary]


class NoReplay:
    """Takes the place of what needs a real device, and remembers the cases it was asked for."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []

    def __call__(self, kernel, candidate, case, case_id, device, folder, budget, inputs) -> None:
        self.written.append((folder.name, case_id))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that optimises the doubling kernel with a judge."""

    def start(judge, *, kernel=None, progress=lambda attempt: None, proposer=None, replay=None, **options):
        return optimize(
            kernel or declare_twice(tmp_path),
            MadeUpDevice(),
            OptimizeOptions(**{"fuzz_examples": 0, **options}),
            tmp_path / "results",
            progress,
            judge=judge,
            proposer=proposer,
            write_replay=replay or NoReplay(),
        )

    return start


def best_only_at_128(chosen: Mapping[str, int], case_id: str) -> float | None:
    """Wrong at 512, best at 128, slower at 256."""
    return {64: 100.0, 128: 50.0, 256: 150.0, 512: None}[chosen["BLOCK"]]


def test_the_fastest_accepted_candidate_is_kept(run: Run) -> None:
    summary = run(TableJudge(best_only_at_128))
    assert summary.best_tunables == {"BLOCK": 128}
    assert (summary.start_ns, summary.best_ns) == (pytest.approx(100), pytest.approx(50))
    assert summary.speedup == pytest.approx(2)
    assert [gain.speedup for gain in summary.per_case] == [2, 2]
    assert summary.improved
    assert summary.stopped_because is StopReason.NOTHING_LEFT
    assert [a.verdict.decision for a in summary.attempts] == [
        Decision.START,
        Decision.NEW_BEST,
        Decision.NOT_FASTER,
        Decision.NOT_ACCEPTED,
    ]
    assert summary.rejected == 1
    best = directives.read(summary.best_file.read_text(), "best.cu")
    assert best.starting_values == {"BLOCK": 128}


def test_a_run_in_which_nothing_is_faster_keeps_the_start(run: Run) -> None:
    summary = run(TableJudge(lambda chosen, case_id: float(chosen["BLOCK"])))
    assert summary.best == summary.start
    assert not summary.improved
    assert summary.speedup == 1
    assert directives.read(summary.best_file.read_text(), "best.cu").starting_values == {"BLOCK": 64}


def test_a_candidate_that_slows_one_case_down_is_not_kept(run: Run) -> None:
    def trades(chosen: Mapping[str, int], case_id: str) -> float:
        return 100 if chosen["BLOCK"] == 64 else {SMALL: 103, LARGE: 10}[case_id]

    summary = run(TableJudge(trades))
    assert not summary.improved
    assert {a.verdict.decision for a in summary.attempts[1:]} == {Decision.CASE_SLOWER}
    assert run(TableJudge(trades), allow_slower=0.05).improved


def test_every_attempt_is_measured_as_the_options_say(run: Run) -> None:
    judge = TableJudge(best_only_at_128)
    run(judge, warmup=2, samples=7, relative_error=0.01)
    assert {(plan.warmup, plan.samples, plan.relative_error) for _, plan in judge.asked} == {(2, 7, 0.01)}


def test_start_and_best_are_compared_in_the_same_mode(run: Run) -> None:
    """The start takes too long for batches; what they say of the candidates is not held against it."""

    def judge(kernel: Kernel, candidate: Candidate, plan: Plan, device: object) -> Evaluation:
        if candidate.chosen["BLOCK"] == 64:
            return _measured(cold_latency(12_000.0, notes=("the clock moved",)))
        return _measured(batch_latency(4_000.0, cold_ns=8_000.0))

    summary = run(judge)
    assert (summary.start_ns, summary.best_ns) == (pytest.approx(12_000), pytest.approx(8_000))
    assert summary.speedup == pytest.approx(1.5)
    assert [gain.speedup for gain in summary.per_case] == [1.5]
    assert summary.to_json()["warnings"] == ["the clock moved"]
    first, second = read_history(summary.folder / "history.jsonl")[:2]
    assert (first["latency_mode"], second["latency_mode"]) == ({"n1": "cold"}, {"n1": "batch"})
    assert (first["warnings"], second["warnings"]) == (["the clock moved"], [])
    log = (summary.folder / "attempt-00" / "log.txt").read_text()
    assert "12.0 us cold, IQR 1.00 %, the clock moved" in log


def _measured(latency: Latency) -> Evaluation:
    outcome = CaseOutcome(case(n=1, measure=True), "n1", CaseStatus.PASSED, latency=latency)
    return Evaluation("twice", "digest", "cuda:0 (made up)", Status.ACCEPTED, outcomes=(outcome,))


def test_iterations_count_proposals_and_not_the_start(run: Run) -> None:
    summary = run(TableJudge(faster_with_larger_blocks), max_iterations=2)
    assert len(summary.attempts) == 3
    assert summary.stopped_because is StopReason.ITERATIONS_USED


def test_a_kernel_without_tunables_is_judged_once_and_the_reason_says_so(run: Run, tmp_path: Path) -> None:
    source = SOURCE.replace("// @tune BLOCK = 64, 128, 256, 512\n", "").replace("BLOCK", "64")
    kernel = declare_twice(tmp_path, source)
    summary = run(TableJudge(lambda chosen, case_id: 1.0), kernel=kernel)
    assert len(summary.attempts) == 1
    assert summary.stopped_because is StopReason.NOTHING_LEFT
    assert "@tune" in summary.stopped_detail


def test_a_start_that_is_wrong_ends_the_run(run: Run) -> None:
    judge = TableJudge(lambda chosen, case_id: None)
    summary = run(judge)
    assert len(judge.asked) == 1
    assert summary.best is None
    assert summary.speedup is None
    assert summary.stopped_because is StopReason.START_REJECTED
    assert "y[3] is wrong" in summary.stopped_detail
    assert json.loads((summary.folder / "summary.json").read_text())["best_attempt"] is None
    assert not (summary.folder / "heatmap.png").exists()


def test_every_attempt_is_judged_on_all_cases_and_stages(run: Run, tmp_path: Path) -> None:
    judge = TableJudge(faster_with_larger_blocks)
    run(judge)
    for _, plan in judge.asked:
        assert [c.by_name["n"] for c in plan.cases] == [1, 100, 1000]
        assert [stage.value for stage in plan.stages] == ["compile", "limits", "check", "sanitize", "measure"]
    assert [plan.stop_at_first for _, plan in judge.asked] == [False, True, True, True]


@pytest.mark.parametrize(("counted", "expected"), [(1_000, 10_000_000), (1_000_000, 50_000_000)])
def test_candidates_are_bounded_by_the_starts_instructions(run: Run, counted: int, expected: int) -> None:
    budgets = []

    def judge(kernel, candidate, plan, device):
        budgets.append(plan.budget.block_instructions)
        return evaluation({SMALL: 1.0, LARGE: 1.0}, max_block_instructions=counted)

    run(judge)
    assert budgets == [None, expected, expected, expected]


def test_progress_hears_of_every_attempt_when_it_is_on_disk(run: Run, tmp_path: Path) -> None:
    heard = []

    def progress(attempt: Attempt) -> None:
        lines = read_history(tmp_path / "results" / "run-001" / "history.jsonl")
        heard.append((attempt.number, lines[-1]["attempt"]))

    run(TableJudge(faster_with_larger_blocks), progress=progress)
    assert heard == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_an_attempt_is_in_the_history_before_its_evidence_is_written(run: Run, tmp_path: Path) -> None:
    def disk_full(*launch: object) -> None:
        raise EnvironmentFault("replay files", expected="to be written", got="No space left on device")

    with pytest.raises(EnvironmentFault):
        run(TableJudge(best_only_at_128), replay=disk_full)
    (history,) = (tmp_path / "results").glob("run-*/history.jsonl")
    assert [line["attempt"] for line in read_history(history)] == [0]


def test_a_finished_run_leaves_its_whole_folder(run: Run) -> None:
    replay = NoReplay()
    summary = run(TableJudge(best_only_at_128), replay=replay)
    names = {path.name for path in summary.folder.iterdir()}
    assert names >= {
        "config.json",
        "signature.json",
        "input_cases.json",
        "reference.py",
        "initial.cu",
        "history.jsonl",
        "history.json",
        "summary.json",
        "best.cu",
        "heatmap.png",
        "heatmap.svg",
        "graph.mmd",
        "attempt-00",
        "attempt-03",
    }
    assert replay.written[-2:] == [("replay", SMALL), ("replay", LARGE)]
    assert json.loads((summary.folder / "history.json").read_text()) == read_history(
        summary.folder / "history.jsonl"
    )
    written = json.loads((summary.folder / "summary.json").read_text())
    assert written["best_tunables"] == {"BLOCK": 128}
    assert written["speedup"] == pytest.approx(2)
    assert "nothing was measured" in written["ranked_by"]
    config = json.loads((summary.folder / "config.json").read_text())
    assert config["options"]["max_iterations"] == 7
    assert (summary.folder / "graph.mmd").read_text() == mermaid()
    assert b"wrong result" in (summary.folder / "heatmap.svg").read_bytes()


def test_the_winner_replaces_the_source_only_when_asked(run: Run, tmp_path: Path) -> None:
    judge = TableJudge(best_only_at_128)
    source = tmp_path / "twice.cu"
    assert run(judge).acceptance.outcome is AcceptOutcome.NOT_ASKED
    assert run(judge, accept=True).acceptance.outcome is AcceptOutcome.ONLY_MODELLED
    assert source.read_text() == SOURCE
    summary = run(judge, accept=True, accept_modelled=True)
    assert summary.acceptance.outcome is AcceptOutcome.WRITTEN
    assert source.read_text() == summary.best_file.read_text()


def test_a_measured_winner_needs_no_second_flag(run: Run, tmp_path: Path) -> None:
    summary = run(TableJudge(best_only_at_128, LatencyKind.MEASURED), accept=True)
    assert summary.acceptance.outcome is AcceptOutcome.WRITTEN


def interrupting(signal_number: int, at_attempt: int):
    """Return a judge that is interrupted as a terminal would, in the given attempt."""
    judge = TableJudge(faster_with_larger_blocks)

    def judged(kernel, candidate, plan, device):
        if len(judge.asked) == at_attempt:
            signal.raise_signal(signal_number)
        return judge(kernel, candidate, plan, device)

    return judged


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt: programs started in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_ctrl_c_leaves_a_summary_and_is_raised_again(run: Run, tmp_path: Path, attempt: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(interrupting(signal.SIGINT, attempt))
    folder = tmp_path / "results" / "run-001"
    assert len(read_history(folder / "history.jsonl")) == attempt
    written = json.loads((folder / "summary.json").read_text())
    assert written["stopped_because"] == "interrupted"
    assert written["attempts"] == attempt
    assert directives.read((folder / "best.cu").read_text(), "best.cu").rule is not None


def test_a_fault_of_the_machine_leaves_a_summary_and_is_raised_again(run: Run, tmp_path: Path) -> None:
    judge = TableJudge(faster_with_larger_blocks)

    def breaks(kernel, candidate, plan, device):
        if len(judge.asked) == 2:
            raise EnvironmentFault("harness", got="it is gone")
        return judge(kernel, candidate, plan, device)

    with pytest.raises(EnvironmentFault, match="it is gone"):
        run(breaks)
    written = json.loads((tmp_path / "results" / "run-001" / "summary.json").read_text())
    assert (written["stopped_because"], written["attempts"]) == ("fault", 2)


def test_the_reference_is_run_before_anything_is_judged(run: Run, tmp_path: Path) -> None:
    kernel = declare_twice(tmp_path)
    judge = TableJudge(faster_with_larger_blocks)

    def broken(x, y, n):
        raise ValueError("no reference today")

    object.__setattr__(kernel, "reference", broken)
    with pytest.raises(ReferenceFault, match="no reference today"):
        run(judge, kernel=kernel)
    assert judge.asked == []


def test_nothing_is_written_for_a_kernel_that_cannot_be_optimised(run: Run, tmp_path: Path) -> None:
    judge = TableJudge(faster_with_larger_blocks)
    with pytest.raises(DeclarationError, match="measure=True"):
        run(judge, kernel=declare_twice(tmp_path, measured=False))
    kernel = declare_twice(tmp_path)
    kernel.source.unlink()
    with pytest.raises(SourceError):
        run(judge, kernel=kernel)
    assert not (tmp_path / "results").exists()


def test_a_measured_case_without_a_latency_is_the_declarations_fault(run: Run) -> None:
    with pytest.raises(DeclarationError, match="larger sizes"):
        run(lambda kernel, candidate, plan, device: evaluation({}))


class TwoSources:
    """Proposes two rewritten sources, as a model would."""

    exhausted_reason = "two were enough"

    def begin(self, run, parent: Attempt, number: int) -> Ready | None:
        if number > 2:
            return None
        source = run.start.source + f"// version {number}\n"
        return Ready(Proposal(dataclasses.replace(run.start, source=source), "another source"))


def test_any_proposer_can_take_the_tuners_place(run: Run) -> None:
    def by_version(kernel, candidate, plan, device):
        ns = 10.0 if "// version 2" in candidate.source else 20.0
        return evaluation({SMALL: ns, LARGE: ns})

    summary = run(by_version, proposer=TwoSources())
    assert summary.stopped_detail == "two were enough"
    assert summary.best.number == 2
    assert "// version 2" in summary.best_file.read_text()


class Waiting:
    """A dialogue that has its proposal only once another attempt was judged."""

    def __init__(self, proposal: Proposal, judged: threading.Event) -> None:
        self._ready = proposal
        self._judged = judged
        self.proposal: Proposal | None = None
        self.waited_in_vain = False

    def ask(self) -> None:
        self.waited_in_vain = not self._judged.wait(NO_END_S)
        assert not self.waited_in_vain, "the other branch waits for this one"
        self.proposal = self._ready

    def use_tools(self) -> None:
        raise AssertionError


class OneWaitsForTheOther:
    """Proposes two versions; the first has to wait until the second was judged."""

    exhausted_reason = "two were enough"

    def __init__(self) -> None:
        self.judged = threading.Event()

    def begin(self, run, parent: Attempt, number: int) -> Ready | Waiting | None:
        if number > 2:
            return None
        source = run.start.source + f"// version {number}\n"
        proposal = Proposal(dataclasses.replace(run.start, source=source), "another source")
        return Waiting(proposal, self.judged) if number == 1 else Ready(proposal)


def test_a_branch_is_judged_while_another_waits_for_its_model(run: Run) -> None:
    proposer, order = OneWaitsForTheOther(), []

    def judge(kernel, candidate, plan, device):
        version = candidate.source.rpartition("version ")[2].strip()[:1]
        order.append(version)
        if version == "2":
            proposer.judged.set()
        return evaluation({SMALL: 20.0 - len(order), LARGE: 20.0 - len(order)})

    summary = run(judge, proposer=proposer, search=Search(1, 2), max_iterations=2)
    assert order[1:] == ["2", "1"]
    assert [line["attempt"] for line in read_history(summary.folder / "history.jsonl")] == [0, 1, 2]
    assert summary.best.number == 1


class OneFails:
    """Of two branches one cannot go on, and the other waits for what never comes."""

    exhausted_reason = "never"

    def __init__(self, released: threading.Event) -> None:
        self.released = released
        self.dialogues: list[Waiting] = []

    def begin(self, run, parent: Attempt, number: int) -> Waiting:
        kind = Failing if number == 2 else Waiting
        self.dialogues.append(kind(Proposal(run.start, "the same"), self.released))
        return self.dialogues[-1]


class Failing(Waiting):
    def ask(self) -> None:
        raise ModelFailure(FailureKind.REJECTED, "no such model", is_final=True)


def test_a_branch_that_cannot_go_on_ends_the_run_though_another_waits(run: Run, tmp_path: Path) -> None:
    released = threading.Event()
    judge, proposer = TableJudge(faster_with_larger_blocks), OneFails(released)
    try:
        with pytest.raises(EnvironmentFault, match="no such model"):
            run(judge, proposer=proposer, search=Search(1, 2), max_iterations=2)
        assert [one.waited_in_vain for one in proposer.dialogues] == [False, False]
    finally:
        released.set()
    written = json.loads((tmp_path / "results" / "run-001" / "summary.json").read_text())
    assert written["stopped_because"] == "fault"


def test_of_a_long_run_only_what_is_needed_stays_whole(run: Run) -> None:
    rounds = iter(range(100))

    def judge(kernel, candidate, plan, device):
        ns = {0: 100.0, 2: 50.0}.get(next(rounds), 200.0)
        return evaluation({SMALL: ns, LARGE: ns})

    summary = run(judge, proposer=Endless(), max_iterations=6)
    assert [one.number for one in summary.attempts if not one.is_brief] == [0, 2, 6]
    assert summary.best.number == 2


class Endless(TwoSources):
    def begin(self, run, parent: Attempt, number: int) -> Ready | None:
        source = run.start.source + f"// version {number}\n"
        return Ready(Proposal(dataclasses.replace(run.start, source=source), "another source"))


def test_a_picture_of_a_long_run_shows_the_start_the_best_and_the_latest(run: Run) -> None:
    rounds = iter(range(200))

    def judge(kernel, candidate, plan, device):
        ns = {0: 100.0, 7: 50.0}.get(next(rounds), 200.0)
        return evaluation({SMALL: ns, LARGE: ns})

    drawn = closing.heatmap(run(judge, proposer=Endless(), max_iterations=99))
    numbers = [int(row.label.split()[0]) for row in drawn.rows]
    assert numbers == [0, 7, *range(42, 100)]
    assert [row.label.split()[0] for row in drawn.rows if row.is_best] == ["7"]
    assert "60 of 100 attempts" in drawn.title


def test_a_long_run_does_not_hit_the_graphs_step_limit(run: Run, tmp_path: Path) -> None:
    values = ", ".join(str(value) for value in range(1, 31))
    kernel = declare_twice(tmp_path, SOURCE.replace("64, 128, 256, 512", values))
    summary = run(TableJudge(faster_with_larger_blocks), kernel=kernel, max_iterations=29)
    assert len(summary.attempts) == 30
    assert summary.best_tunables == {"BLOCK": 30}


def test_a_rejected_status_is_recorded_with_its_reason(run: Run) -> None:
    summary = run(TableJudge(best_only_at_128))
    line = read_history(summary.folder / "history.jsonl")[3]
    assert (line["status"], line["reason"]) == (Status.WRONG_RESULT.value, "y[3] is wrong")
    assert line["latency_kind"] is None


def test_every_launch_an_attempt_was_judged_by_is_kept_in_its_folder(run: Run) -> None:
    replay = NoReplay()

    def wrong_at_small(kernel, candidate, plan, device):
        judged = evaluation({SMALL: 1.0, LARGE: 1.0})
        if candidate.chosen["BLOCK"] == 64:
            return judged
        wrong = dataclasses.replace(judged.outcomes[0], status=CaseStatus.WRONG)
        return dataclasses.replace(judged, status=Status.WRONG_RESULT, outcomes=(wrong,))

    summary = run(wrong_at_small, replay=replay, max_iterations=1)
    assert replay.written[:3] == [("attempt-00", SMALL), ("attempt-00", LARGE), ("attempt-01", SMALL)]
    log = (summary.folder / "attempt-01" / "log.txt").read_text()
    assert "verdict: wrong_result" in log
    assert f"case {SMALL}: wrong" in log


def test_the_graph_is_drawn_with_every_step() -> None:
    text = mermaid()
    for step in ("load", "reference", "evaluate", "decide", "plan", "gather", "finish"):
        assert f"\t{step}({step}" in text
    # What each branch of a round goes through by itself.
    for step in ("propose", "tools", "evaluate"):
        assert f"({step})" in text.partition("subgraph branch")[2]
    for edge in ("load --> reference", "evaluate --> decide", "decide -.-> finish", "gather --> decide"):
        assert edge in text


def test_nothing_is_traced_because_other_programs_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "true")
    monkeypatch.delenv("LANGSMITH_TRACING", raising=False)
    seen = []

    def judge(kernel, candidate, plan, device):
        seen.append(get_tracing_context()["enabled"])
        return evaluation({}, status=Status.FAULT)

    run(judge)
    assert seen == [False]


def test_only_an_attempt_that_would_be_kept_is_put_to_the_proof(run: Run) -> None:
    judge = TableJudge(best_only_at_128)
    summary = run(judge, fuzz_examples=3)

    proofs = [(candidate, plan) for candidate, plan in judge.asked if Stage.FUZZ in plan.stages]
    assert [plan.fuzz_examples for _, plan in proofs] == [30]
    assert [plan.witness for _, plan in proofs] == [summary.start.candidate]
    assert [candidate for candidate, _ in proofs] == [summary.best.candidate]


def test_an_attempt_that_loses_a_property_is_not_kept_and_held_out_sizes_stay_secret(run: Run) -> None:
    table = TableJudge(best_only_at_128)

    def judge(kernel: Kernel, candidate: Candidate, plan: Plan, device: object) -> Evaluation:
        evaluation = table(kernel, candidate, plan, device)
        if Stage.FUZZ not in plan.stages:
            return evaluation
        lost = CaseOutcome(
            case(n=12_345), "n12345", CaseStatus.LOST, note="wrong", lost=Property.LARGER_SIZES
        )
        return dataclasses.replace(
            evaluation, status=Status.LOST_PROPERTY, reason="case n12345: wrong", outcomes=(lost,)
        )

    summary = run(judge, fuzz_examples=3)

    assert not summary.improved
    (refused,) = [one for one in summary.attempts if one.evaluation.status is Status.LOST_PROPERTY]
    assert refused.verdict.reason == (
        "lost property larger_sizes: the starting kernel is right far beyond the declared sizes, this one "
        "is not (lost)"
    )
    told = (summary.folder / f"attempt-{refused.number:02d}" / "evaluation.json").read_text()
    assert "12345" in told
