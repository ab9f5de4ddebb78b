"""`cudaopt replay`: a recorded request is executed where it was recorded, and what came of it is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from made_up_gpu import MadeUpGpu, measure, request
from measured_latencies import cold_latency

from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.finding import Finding, FindingKind, SourcePoint
from pytest_cudaopt.gpu_lock import GpuLock
from pytest_cudaopt.rerun import Ending, ending, execute, lines

pytest_plugins = ["made_up_gpu_fixtures"]

YES, NO, NOT_JUDGED = 0, 1, 2
FAULT = Finding(
    FindingKind.ILLEGAL_ADDRESS,
    "read outside of 'x'",
    file="scale.cu",
    line=4,
    inlined_from=(SourcePoint("scale.cu", 9),),
    instruction="ld.global.f32 %f1, [%rd4]",
    block=(0, 0, 0),
    thread=(51, 0, 0),
)


def answer(*steps: StepAnswer, fault: Finding | None = None) -> Answer:
    status = AnswerStatus.OK if fault is None else AnswerStatus.FAULT
    return Answer("scale/replay-n51", "replay", status, "cuda:0 (Made-Up GPU)", steps, fault)


def latency(found: Latency) -> StepAnswer:
    return StepAnswer("measure", latency=found)


def recorded(gpu: MadeUpGpu, entry: str, **members: object) -> Path:
    """Write a request that measures `entry` on the made-up GPU."""
    path = gpu.folder / "request.json"
    asked = request(gpu, entry, measure(entry), n=1024, id="made up", **members)
    path.write_text(json.dumps(asked))
    return path


def test_a_request_for_a_gpu_is_measured_there_by_the_driver_of_the_environment(
    project, gpu: MadeUpGpu
) -> None:
    result = project.cudaopt("replay", str(recorded(gpu, "copies_takes_64000_ns")))
    assert result.ret == YES
    result.stdout.fnmatch_lines(
        ["made up: ran on cuda:0 (Made-Up GPU)", "  latency   measured: 64.0 us cold, IQR *"]
    )
    assert gpu.launches("copies")


def test_json_is_the_harnesses_answer(project, gpu: MadeUpGpu) -> None:
    result = project.cudaopt("replay", "--json", str(recorded(gpu, "copies_takes_64000_ns")))
    assert result.ret == YES
    measured = json.loads(result.stdout.str())["steps"][-1]
    assert (measured["kind"], measured["latency"]["mode"]) == ("measured", "cold")


def test_a_fault_is_a_no_and_is_told(project, gpu: MadeUpGpu) -> None:
    result = project.cudaopt("replay", str(recorded(gpu, "faults_716")))
    assert result.ret == NO
    result.stdout.fnmatch_lines(["made up: failed on cuda:0*", "  fault     misaligned: *"])


def test_a_replay_waits_for_the_gpu_and_has_it_alone(
    project, gpu: MadeUpGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = []
    held = GpuLock.held

    def watched(self: GpuLock, *, alone: bool):
        turns.append((alone, len(gpu.launches("copies"))))
        return held(self, alone=alone)

    monkeypatch.setattr(GpuLock, "held", watched)
    execute(recorded(gpu, "copies"), os.environ)
    assert turns == [(True, 0)]


def test_a_gpu_that_is_not_there_could_not_be_judged(project, gpu: MadeUpGpu) -> None:
    path = recorded(gpu, "copies", device="cuda:7")
    with pytest.raises(EnvironmentFault, match="device 'cuda:7'"):
        execute(path, os.environ)
    result = project.cudaopt("replay", str(path))
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["ENVIRONMENT: device 'cuda:7'*"])


def test_a_request_the_harness_does_not_accept_could_not_be_judged(project, gpu: MadeUpGpu) -> None:
    result = project.cudaopt("replay", str(recorded(gpu, "copies", device="gpu")))
    assert result.ret == NOT_JUDGED
    result.stdout.fnmatch_lines(["made up: invalid on no device", "  fault     invalid_request: *device*"])


def test_a_harness_without_an_answer_is_said_to_be_so(
    project, gpu: MadeUpGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 7\n")
    silent.chmod(0o755)
    path = recorded(gpu, "copies", device="sim")
    with pytest.raises(HarnessError, match="expected an answer of the harness, got exit code 7"):
        execute(path, {**os.environ, "CUDAOPT_HARNESS": str(silent)})


def test_a_fault_is_told_with_its_place() -> None:
    assert lines(answer(fault=FAULT)) == [
        "scale/replay-n51: failed on cuda:0 (Made-Up GPU)",
        "  fault     illegal_address: read outside of 'x'",
        "  at        scale.cu:4",
        "  inlined   at scale.cu:9",
        "  executing ld.global.f32 %f1, [%rd4]",
        "  by        block (0, 0, 0), thread (51, 0, 0)",
    ]


def test_a_latency_is_told_with_its_kind_and_what_makes_it_doubtful() -> None:
    measured = answer(latency(cold_latency(64_000, notes=("the clock moved",))))
    assert lines(measured)[1:] == [
        "  latency   measured: 64.0 us cold, IQR 1.00 %",
        "  warning   the clock moved",
    ]
    modelled = answer(latency(Latency(LatencyKind.MODELLED, 2_000.0, bound="dram")))
    assert lines(modelled)[1:] == ["  latency   2.00 us modelled (dram)"]


def test_a_damaged_guard_is_a_fault() -> None:
    damaged = answer(StepAnswer("read_guards", intact=True), StepAnswer("read_guards", intact=False))
    assert ending(damaged) is Ending.FAULT
    assert lines(damaged)[1:] == ["  fault     wrote before or after an array"]
    assert ending(answer(StepAnswer("read_guards", intact=True))) is Ending.RAN


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FindingKind.NO_DEVICE, Ending.NOT_JUDGED),
        (FindingKind.NO_NVRTC, Ending.NOT_JUDGED),
        (FindingKind.IO_ERROR, Ending.NOT_JUDGED),
        (FindingKind.OUT_OF_MEMORY, Ending.NOT_JUDGED),
        (FindingKind.UNSUPPORTED_INSTRUCTION, Ending.NOT_JUDGED),
        (FindingKind.INVALID_REQUEST, Ending.NOT_JUDGED),
        (FindingKind.COMPILE_ERROR, Ending.FAULT),
        (FindingKind.TIMEOUT, Ending.FAULT),
        (FindingKind.HARNESS_CRASH, Ending.FAULT),
        (FindingKind.LAUNCH_ERROR, Ending.FAULT),
    ],
)
def test_what_the_machine_lacks_is_no_verdict(kind: FindingKind, expected: Ending) -> None:
    assert ending(answer(fault=Finding(kind, "made up"))) is expected


def test_findings_are_told_and_are_a_no() -> None:
    race = Finding(FindingKind.RACE, "a race", file="scale.cu", line=4)
    found = answer(StepAnswer("launch", findings=(race,)))
    assert ending(found) is Ending.FAULT
    assert lines(found)[1:] == ["  fault     race: a race", "  at        scale.cu:4"]
