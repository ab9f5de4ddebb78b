"""Run folders: how they are taken, what they hold, and what a killed run leaves."""

from __future__ import annotations

import errno
import json
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from made_up_runs import MadeUpDevice, TableJudge, declare_twice, evaluation, faster_with_larger_blocks

from pytest_cudaopt import directives
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.optimize import record
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize
from pytest_cudaopt.optimize.record import RunFolder, read_history


def test_run_folders_are_numbered_in_order(tmp_path: Path) -> None:
    names = [RunFolder.create(tmp_path / "results").path.name for _ in range(3)]
    assert names == ["run-001", "run-002", "run-003"]


def test_a_number_is_never_reused_and_other_names_do_not_matter(tmp_path: Path) -> None:
    for name in ("run-007", "run-abc", "notes.txt"):
        (tmp_path / name).mkdir()
    assert RunFolder.create(tmp_path).path.name == "run-008"


def test_runs_that_start_at_once_get_different_folders(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: RunFolder.create(tmp_path).path, range(40)))
    assert len(set(folders)) == 40


def test_a_number_somebody_else_takes_first_is_left_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def make_second(path: Path, *arguments, **options) -> None:
        if path.name == "run-001":
            # Another process makes it between our look at the folder and our attempt.
            make(path, exist_ok=True)
        make(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", make_second)
    assert RunFolder.create(tmp_path).path.name == "run-002"


def test_an_unwritable_results_folder_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file, not a folder")
    with pytest.raises(EnvironmentFault, match="--optimize-results") as caught:
        RunFolder.create(tmp_path / "results")
    assert str(tmp_path / "results") in str(caught.value)


def write_two_attempts(tmp_path: Path) -> RunFolder:
    """Write a start, and an attempt that is faster."""
    kernel = declare_twice(tmp_path)
    folder = RunFolder.create(tmp_path / "results")
    start = kernel.start()
    folder.write_start(kernel, start, {"kernel": "twice"})
    for number, (block, decision) in enumerate([(64, Decision.START), (256, Decision.NEW_BEST)]):
        proposal = Proposal(start.with_tunables({"BLOCK": block}), "to see")
        folder.write_proposal(number, proposal, start)
        verdict = Verdict(decision, "good")
        folder.write_attempt(
            Attempt(number, proposal, evaluation({"n1000": 100.0 / (number + 1)}), verdict, number + 1.0),
            best=number,
        )
    return folder


def test_a_folder_holds_what_the_run_was_given(tmp_path: Path) -> None:
    path = write_two_attempts(tmp_path).path
    signature = json.loads((path / "signature.json").read_text())
    (instance,) = signature["instances"]
    assert instance["entry"] == "twice"
    assert [p["name"] for p in instance["parameters"]] == ["x", "y", "n"]
    assert instance["parameters"][0]["cuda_types"] == ["const float*", "float*"]
    assert instance["parameters"][0]["values"] == {"generator": "normal", "mean": 0.0, "deviation": 1.0}
    assert [c["id"] for c in json.loads((path / "input_cases.json").read_text())] == ["n1", "n100", "n1000"]
    assert "2 * x" in (path / "reference.py").read_text()
    assert (path / "initial.cu").read_text() == (tmp_path / "twice.cu").read_text()
    assert json.loads((path / "config.json").read_text()) == {"kernel": "twice"}


def test_a_history_line_says_what_was_tried_and_what_came_of_it(tmp_path: Path) -> None:
    first, second = read_history(write_two_attempts(tmp_path).history)
    assert (first["decision"], first["tunables"], first["best"]) == ("start", {"BLOCK": 64}, 0)
    assert (second["decision"], second["tunables"], second["best"]) == ("new_best", {"BLOCK": 256}, 1)
    assert second["latency_ns"] == {"n1000": 50.0}
    assert second["latency_kind"] == "modelled"
    assert second["speedup"] == 2.0


def test_the_best_kernel_starts_where_the_best_attempt_stood(tmp_path: Path) -> None:
    folder = write_two_attempts(tmp_path)
    best = directives.read(folder.best.read_text(), "best.cu")
    assert best.starting_values == {"BLOCK": 256}
    assert folder.best.read_text() == (folder.path / "attempt-01" / "candidate.cu").read_text()


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    folder = write_two_attempts(tmp_path)
    whole = folder.history.read_bytes()
    folder.history.write_bytes(whole[:-cut])
    assert [line["attempt"] for line in read_history(folder.history)] == [0]


def test_a_broken_line_before_the_last_is_an_error_that_names_it(tmp_path: Path) -> None:
    folder = write_two_attempts(tmp_path)
    folder.history.write_bytes(b'{"attempt": 0\n' + folder.history.read_bytes())
    with pytest.raises(EnvironmentFault, match="line 1"):
        read_history(folder.history)


def test_a_missing_history_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"history\.jsonl"):
        read_history(tmp_path / "history.jsonl")


@pytest.mark.parametrize(
    ("full_at", "judged"),
    [
        ("attempt-02/candidate.cu", 2),
        ("attempt-02/evaluation.json", 2),
        ("attempt-02/log.txt", 3),
        ("best.cu", 2),
    ],
)
def test_a_full_disk_names_the_file_and_leaves_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full_at: str, judged: int
) -> None:
    write, is_full = record.write_atomically, []

    def full(path: Path, content: str | bytes, **how) -> None:
        # `best.cu` is the start first; from the failure on nothing can be written.
        begun = (tmp_path / "results" / "run-001" / "attempt-01").exists()
        if is_full or (begun and str(path).endswith(full_at)):
            is_full.append(path)
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content, **how)

    monkeypatch.setattr(record, "write_atomically", full)
    with pytest.raises(EnvironmentFault, match=f"{full_at}.*No space left on device.*Free some space"):
        optimize(
            declare_twice(tmp_path),
            MadeUpDevice(),
            OptimizeOptions(),
            tmp_path / "results",
            lambda attempt: None,
            judge=TableJudge(faster_with_larger_blocks),
            write_replay=lambda *launch: None,
        )
    folder = RunFolder(tmp_path / "results" / "run-001")
    assert [line["attempt"] for line in read_history(folder.history)] == list(range(judged))
    assert directives.read(folder.best.read_text(), "best.cu").rule is not None
    assert not list(folder.path.rglob(".*"))


KILLED_RUN = """
    import os, signal
    from pathlib import Path
    from made_up_runs import MadeUpDevice, TableJudge, declare_twice, faster_with_larger_blocks
    from pytest_cudaopt.optimize.graph import OptimizeOptions, optimize

    judge = TableJudge(faster_with_larger_blocks)

    def killed_in_the_third(kernel, candidate, plan, device):
        if len(judge.asked) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(kernel, candidate, plan, device)

    here = Path({here!r})
    optimize(
        declare_twice(here), MadeUpDevice(), OptimizeOptions(fuzz_examples=0), here / "results",
        lambda attempt: None,
        judge=killed_in_the_third, write_replay=lambda *launch: None,
    )
"""


def test_a_run_killed_in_its_third_attempt_leaves_history_and_best_kernel(tmp_path: Path) -> None:
    script = textwrap.dedent(KILLED_RUN).format(here=str(tmp_path))
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": f"{Path(__file__).parent}:{Path(__file__).parent.parent}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    folder = RunFolder(tmp_path / "results" / "run-001")
    lines = read_history(folder.history)
    assert [line["attempt"] for line in lines] == [0, 1, 2]
    best = directives.read(folder.best.read_text(), "best.cu")
    assert best.starting_values == lines[lines[-1]["best"]]["tunables"]
    assert (folder.path / "attempt-03" / "candidate.cu").exists(), "what was running can be found"
    assert not (folder.path / "attempt-03" / "evaluation.json").exists()
    assert not list(folder.path.rglob(".*")), "no half-written file is left"
