"""What each tool of a run answers, with a real judge on the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import SOURCE, declare_twice
from scripted_server import proposal

from pytest_cudaopt import directives, pipeline, replay
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.conversation import ToolCall
from pytest_cudaopt.optimize.instruments import toolbox
from pytest_cudaopt.optimize.options import OptimizeOptions
from pytest_cudaopt.optimize.record import RunFolder
from pytest_cudaopt.optimize.run import Run
from pytest_cudaopt.optimize.tuner import Tuner

BODY = "".join(SOURCE.splitlines(keepends=True)[2:]).replace("BLOCK", "256")
RIGHT = proposal(BODY)
WRONG = proposal(BODY.replace("2 *", "3 *"))
BROKEN = proposal(BODY.replace("x[i]", "x[j]"))


@pytest.fixture
def run(tmp_path: Path, sim: Device) -> Run:
    """A run whose start was judged."""
    kernel = declare_twice(tmp_path)
    start = kernel.start()
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), kernel.cases)
    judged = pipeline.evaluate(kernel, start, plan, sim)
    return Run(
        kernel=kernel,
        device=sim,
        options=OptimizeOptions(),
        folder=RunFolder(tmp_path),
        start=start,
        proposer=Tuner.of(start, directives.read(SOURCE, "twice.cu"), limit=0, seed=0),
        judge=pipeline.evaluate,
        write_replay=replay.write_replay,
        progress=lambda attempt: None,
        diagram="",
        attempts=[Attempt(0, Proposal(start, "the start"), judged, Verdict(Decision.START, "as it is"))],
    )


def use(run: Run, name: str, arguments: Any) -> str:
    return toolbox(run).use(ToolCall("call", name, json.dumps(arguments)))


def test_the_device_is_described(run: Run) -> None:
    answer = json.loads(use(run, "device_properties", {}))
    assert answer["limits"]["multiprocessors"] == 132
    assert answer["measured_peaks"] is None


def test_compiling_says_what_a_version_takes(run: Run) -> None:
    answer = json.loads(use(run, "compile_only", RIGHT))
    assert answer["resources"]["twice"]["registers"] > 0
    assert answer["occupancy"] is not None


@pytest.mark.parametrize("tool", ["compile_only", "run_one_case", "counters"])
def test_what_does_not_compile_is_shown_with_its_line(run: Run, tool: str) -> None:
    more = {} if tool == "compile_only" else {"case_id": "n100"}
    answer = use(run, tool, {**BROKEN, **more})
    assert 'identifier "j" is undefined' in answer
    assert "y[i] = 2 * x[j]" in answer


@pytest.mark.parametrize(("form", "words"), [(RIGHT, "right"), (WRONG, "100 of 100 elements")])
def test_one_case_is_checked(run: Run, form: Any, words: str) -> None:
    assert words in use(run, "run_one_case", {**form, "case_id": "n100"})


def test_counters_are_those_of_one_case(run: Run) -> None:
    answer = json.loads(use(run, "counters", {**RIGHT, "case_id": "n1000"}))
    assert answer["median_ns"] > 0
    assert answer["counters"]["max_block_instructions"] > 0
    # A case that is not declared as measured has counters too.
    assert json.loads(use(run, "counters", {**RIGHT, "case_id": "n1"}))["median_ns"] > 0


@pytest.mark.parametrize("tool", ["run_one_case", "counters"])
def test_a_case_nobody_declared_is_answered_with_those_there_are(run: Run, tool: str) -> None:
    assert use(run, tool, {**RIGHT, "case_id": "n7"}) == "There is no case 'n7'. Cases: n1, n100, n1000."


def test_a_rule_that_cannot_be_read_is_said(run: Run) -> None:
    assert "the proposal cannot be read" in use(run, "compile_only", {**RIGHT, "launch": "grid=("})


def test_an_earlier_attempt_is_told_with_its_source(run: Run) -> None:
    answer = use(run, "read_attempt", {"number": 0})
    assert answer.startswith("Attempt 0: start: as it is")
    assert "y[i] = 2 * x[i];" in answer
    assert use(run, "read_attempt", {"number": 5}) == "There are attempts 0 to 0."


def test_a_floor_nobody_knows_is_said_to_be_unknown(run: Run) -> None:
    assert use(run, "floor", {}).startswith("The floor is unknown")


def test_tools_keep_nothing(run: Run) -> None:
    use(run, "run_one_case", {**WRONG, "case_id": "n100"})
    assert (len(run.attempts), run.pending) == (1, {})
