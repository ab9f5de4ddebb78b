"""Whole judgements by a harness that executes on a GPU, which is made up: a kernel's name says what it does.

The source says the same to `sim`, which is asked for the place of a fault.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up_gpu import MadeUpGpu

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget, CaseStatus, Evaluation, LatencyKind, Plan, SamplingMode, Stage
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.paired import estimate
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.protocol import Entry
from pytest_cudaopt.replay import write_replay

pytest_plugins = ["made_up_gpu_fixtures"]

COPY = "if (i < n) y[i] = x[i];"
# 512 bytes end flush against the guard page.
CASES = (case(n=128), case(n=500, measure=True))
ALL_STAGES = (Stage.COMPILE, Stage.CHECK, Stage.MEASURE)


@pytest.fixture
def device(gpu: MadeUpGpu, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    with open_device("cuda:0") as opened:
        yield opened


def declare(folder: Path, entry: str, body: str = COPY) -> Kernel:
    """Declare `y = x`, whose kernel takes 64 us unless its name says otherwise."""
    name = entry if "takes" in entry else f"{entry}_takes_64000_ns"
    file = folder / f"{name}.cu"
    file.write_text(
        "// @launch grid=(cdiv(n + 1, 64)) block=(64)\n"
        f'extern "C" __global__ void {name}(const float* x, float* y, int n) {{\n'
        "    int i = blockIdx.x * 64 + threadIdx.x;\n"
        f"    {body}\n}}\n"
    )

    @kernel(str(file), entry=name, cases=CASES)
    def copies(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    return copies


def judge(kernel: Kernel, device: Device, timeout_s: float = 60.0) -> Evaluation:
    budget = Budget(timeout_s=timeout_s)
    plan = Plan(ALL_STAGES, kernel.cases, budget=budget, samples=12, stop_at_first=True)
    return evaluate(kernel, kernel.start(), plan, device)


def test_a_right_kernel_is_measured(device: Device, tmp_path: Path) -> None:
    evaluation = judge(declare(tmp_path, "copies"), device)
    assert evaluation.accepted, evaluation.reason
    latency = evaluation.latencies["n500"]
    assert (latency.kind, latency.mode) == (LatencyKind.MEASURED, SamplingMode.COLD)
    assert latency.median_ns == pytest.approx(64_000, rel=1e-3)
    assert len(latency.samples_ns) == 12
    # The case's own inputs, another draw, and the held-out one.
    assert latency.contents == 3


def test_a_kernel_that_remembers_is_caught_by_inputs_it_had_not_seen(device: Device, tmp_path: Path) -> None:
    evaluation = judge(declare(tmp_path, "remembers"), device)
    assert evaluation.outcomes[-1].status is CaseStatus.WRONG
    assert "a timed launch, on inputs it had not seen, is wrong" in evaluation.reason


@pytest.mark.parametrize("entry", ["keeps_maximum", "is_right_once"])
def test_a_kernel_that_is_right_only_the_first_time_is_wrong(
    entry: str, device: Device, tmp_path: Path
) -> None:
    evaluation = judge(declare(tmp_path, entry), device)
    assert evaluation.outcomes[0].status is CaseStatus.WRONG
    note = "right on the first launch, wrong when launched again (its outputs held another pattern before)"
    assert evaluation.reason.startswith(f"case n128: {note}: ")


def test_a_fault_that_shows_as_a_wrong_result_is_one_as_on_sim(device: Device, tmp_path: Path) -> None:
    evaluation = judge(declare(tmp_path, "adds_one", "if (i <= n) y[i] = x[i];"), device)
    assert evaluation.outcomes[0].status is CaseStatus.FAULT
    assert evaluation.finding is not None
    assert (evaluation.finding.kind, evaluation.finding.line) == (FindingKind.ILLEGAL_ADDRESS, 4)
    assert evaluation.finding.message.startswith("wrong result on cuda:0; sim says: kernel '")
    # What differs is still told.
    assert not evaluation.outcomes[0].comparisons[0].matches


def test_a_wrong_result_without_a_fault_stays_one(device: Device, tmp_path: Path) -> None:
    evaluation = judge(declare(tmp_path, "adds_one"), device)
    assert (evaluation.outcomes[0].status, evaluation.finding) == (CaseStatus.WRONG, None)


def test_a_right_result_is_never_a_fault_whatever_sim_would_say(device: Device, tmp_path: Path) -> None:
    assert judge(declare(tmp_path, "copies", "if (i <= n) y[i] = x[i];"), device).accepted


@pytest.mark.parametrize(
    ("entry", "body", "kind"),
    [
        ("writes_past_end", "if (i <= n) y[i] = 1;", FindingKind.ILLEGAL_ADDRESS),
        ("writes_before", f"{COPY} if (i == 0) y[-1] = 1;", FindingKind.ILLEGAL_ADDRESS),
        ("adds_past_end", f"{COPY} if (i == n) y[i] += 1;", FindingKind.ILLEGAL_ADDRESS),
        ("reads_past_end", "if (i <= n) y[0] = x[i];", FindingKind.ILLEGAL_ADDRESS),
        ("writes_input", f"{COPY} if (i == 0) ((float*)x)[0] = 42;", FindingKind.WRITE_TO_INPUT),
        ("faults_716", "*(float*)((char*)y + 1) = 0;", FindingKind.MISALIGNED),
        ("faults_719", "if (i == 3) __trap();", FindingKind.TRAP),
    ],
)
def test_a_fault_is_named_and_gets_its_line_from_sim(
    entry: str, body: str, kind: FindingKind, device: Device, tmp_path: Path
) -> None:
    evaluation = judge(declare(tmp_path, entry, body), device)
    assert evaluation.finding is not None, evaluation.reason
    assert (evaluation.finding.kind, evaluation.finding.line) == (kind, 4)
    assert "; sim says: kernel '" in evaluation.finding.message
    assert judge(declare(tmp_path, "copies"), device).accepted


def test_an_endless_kernel_is_ended_and_its_loop_found(device: Device, tmp_path: Path) -> None:
    loop = "for (volatile int j = 0; j >= 0;) {}"
    evaluation = judge(declare(tmp_path, "never_ends", loop), device, timeout_s=0.5)
    assert evaluation.finding is not None
    assert (evaluation.finding.kind, evaluation.finding.line) == (FindingKind.TIMEOUT, 4)


def test_a_fault_that_sim_does_not_see_stays_as_it_is(device: Device, tmp_path: Path) -> None:
    evaluation = judge(declare(tmp_path, "faults_719"), device)
    assert evaluation.finding is not None
    assert (evaluation.finding.kind, evaluation.finding.is_placed) == (FindingKind.TRAP, False)
    assert "sim says" not in evaluation.finding.message


def called(entry: str, compiled: Compiled) -> Compiled:
    """Give the module's kernel another entry, as two candidates of one kernel have the same."""
    (mangled,) = (compiled.module.lowered or {}).values()
    return replace(
        compiled, module=replace(compiled.module, entries=(Entry(entry),), lowered={entry: mangled})
    )


def test_arms_are_timed_in_turn_and_their_ratio_is_estimated(device: Device, tmp_path: Path) -> None:
    kernels = [declare(tmp_path, f"copies_takes_{ns}_ns") for ns in (64_000, 66_000)]
    compiled = [compile_candidate(one, one.start(), device, Budget()) for one in kernels]
    launch = LaunchConfiguration((8, 1, 1), (64, 1, 1))
    prepared = prepare(kernels[0], CASES[1], device)
    arms = [(called(prepared.instance.entry, one), launch) for one in compiled if isinstance(one, Compiled)]
    found = interleave(prepared, arms, device, Budget(), blocks=4, launches=3)
    assert isinstance(found, Interleaved)
    paired = estimate(found.block_samples_ns(0), found.block_samples_ns(1))
    assert paired.blocks == 4
    assert paired.ratio == pytest.approx(66 / 64, rel=1e-3)
    assert paired.lower > 1.02


def test_a_replay_runs_without_python(gpu: MadeUpGpu, device: Device, tmp_path: Path) -> None:
    kernel = declare(tmp_path, "copies")
    folder, inputs = tmp_path / "replay", tmp_path / "inputs"
    path = write_replay(kernel, kernel.start(), CASES[0], "n128", device, folder, Budget(60), inputs)
    assert path is not None
    tools = ["--nvrtc", device.toolchain.nvrtc, "--driver", str(gpu.driver)]
    command = [str(device.harness.binary), "run", str(path), *tools]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["steps"][-1]["kind"]) == ("ok", "measured")
    x, y = (np.fromfile(file, np.float32) for file in (inputs / "n128/x.bin", folder / "n128.replay-y.bin"))
    np.testing.assert_array_equal(x, y)
