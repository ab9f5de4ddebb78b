"""Peak kernels do what their names say, and the requests around them count right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from measured_latencies import H200, batch_latency, cold_latency

from pytest_cudaopt import In, Out, Scalar, case, f32, i32, kernel, peak_measurement
from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.peak_measurement import copy_program, empty_program, fma_flops, fma_program, measure_peaks
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import Measure, Request

SOURCES = Path(peak_measurement.__file__).parent / "peak_kernels"


@pytest.mark.parametrize("items", [1, 2, 4])
def test_copy_copies(items: int, sim: Device) -> None:
    source = (SOURCES / "copy.cu").read_text().replace("float4", "int")
    sizes = [case(n=1), case(n=1000)]
    rule = f"grid=(cdiv(n, 64 * {items})) block=(64)"

    @kernel(str(SOURCES / "copy.cu"), entry=f"copy<{items}>", cases=sizes, launch=rule)
    def copy(x=In(i32, "n"), y=Out(i32, "n"), n=i32):
        y[...] = x

    candidate = copy.candidate(source, SOURCES / "copy.cu")
    judged = evaluate(copy, candidate, Plan((Stage.COMPILE, Stage.CHECK), copy.cases), sim)
    assert judged.accepted, judged.reason


def test_fma_does_as_many_multiply_adds_as_are_counted(sim: Device) -> None:
    @kernel(
        str(SOURCES / "fma.cu"),
        entry="fma_rate",
        cases=[case(rounds=2)],
        launch="grid=(2) block=(32)",
        defines={"CHAINS": 2, "STEPS": 3},
    )
    def fma(out=Out(f32, 64), factor=Scalar(f32, 0.5), term=Scalar(f32, 1.0), rounds=i32):
        sums = np.arange(32)[:, None] + np.arange(2.0)
        for _ in range(2 * 3):
            sums = sums * 0.5 + 1.0
        out[...] = np.tile(sums.sum(axis=1), 2)

    judged = evaluate(fma, fma.start(), Plan((Stage.COMPILE, Stage.CHECK), fma.cases), sim)
    assert judged.accepted, judged.reason
    # Two operations for each of 128 chains and steps, 512 rounds, 64 blocks of 256 threads.
    assert fma_flops(1) == 2 * 128 * 512 * 64 * 256


def test_every_copy_covers_all_bytes() -> None:
    program = copy_program(1 << 20)
    assert {one.entry for one in program.launches} == set(program.entries)
    for one in program.launches:
        items = int(one.entry.removeprefix("copy<").removesuffix(">"))
        covered = one.grid[0] * one.block[0] * items * 16
        assert 1 << 20 <= covered < (1 << 20) + one.block[0] * items * 16


class MadeUpGpu:
    """Answers every launch to time with the next of `times`, or every request with `fault`."""

    def __init__(self, *times: float, fault: Finding | None = None, limits: Any = H200) -> None:
        self.limits, self.description = limits, "cuda:0 (made up)"
        self.times, self.fault = list(times), fault
        self.asked: list[Request] = []

    def new_request(self, id: str) -> Request:
        return Request(id, "nonce", "cuda:0", ())

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        if self.fault is not None:
            return Answer(request.id, request.nonce, AnswerStatus.FAULT, "cuda:0", (), self.fault)
        timed = [step for step in request.steps if isinstance(step, Measure)]
        steps = tuple(StepAnswer("measure", latency=self._latency(request.id)) for _ in timed)
        return Answer(request.id, request.nonce, AnswerStatus.OK, "cuda:0", steps)

    def _latency(self, id: str) -> Any:
        median_ns = self.times.pop(0)
        if id == "peaks/empty":
            return batch_latency(median_ns, cold_ns=3_000.0, tick_ns=32.0)
        return cold_latency(median_ns)


def test_the_best_copy_and_what_it_moved_make_the_peak() -> None:
    gpu: Any = MadeUpGpu(600e3, 550e3, 500e3, 520e3, 530e3, 540e3, 4e6, 850.0)
    peaks = measure_peaks(gpu)

    # 1 GiB read and 1 GiB written in 500 us.
    assert peaks.copy_bytes_per_s == pytest.approx(2 * (1 << 30) / 500e-6)
    assert peaks.fp32_flops_per_s == pytest.approx(fma_flops(132) / 4e-3)
    assert (peaks.launch_cold_ns, peaks.launch_batch_ns, peaks.tick_ns) == (3_000.0, 850.0, 32.0)
    assert [request.id for request in gpu.asked] == ["peaks/copy", "peaks/fma", "peaks/empty"]
    for request in gpu.asked:
        assert [step.DO for step in request.steps[:2]] == ["compile", "load"]
        assert request.modules[0].architecture == "sm_90"


def test_less_free_memory_means_a_smaller_copy_and_too_little_none() -> None:
    assert H200.gpu is not None
    some = replace(H200, gpu=replace(H200.gpu, free_bytes=4 << 30))
    gpu: Any = MadeUpGpu(*[500e3] * 7, 850.0, limits=some)
    assert measure_peaks(gpu).copy_bytes_per_s == pytest.approx((1 << 30) / 500e-6)
    little: Any = MadeUpGpu(limits=replace(H200, gpu=replace(H200.gpu, free_bytes=100 << 20)))
    with pytest.raises(EnvironmentFault, match="expected 2013 MB of free GPU memory, got 105 MB"):
        measure_peaks(little)


def test_a_fault_says_which_peak_could_not_be_measured() -> None:
    gpu: Any = MadeUpGpu(fault=Finding(FindingKind.TIMEOUT, "no answer"))
    with pytest.raises(EnvironmentFault, match=r"measuring peaks \(copy\): .*timeout: no answer"):
        measure_peaks(gpu)


def test_a_modelled_device_is_refused() -> None:
    modelled: Any = SimpleNamespace(limits=replace(H200, gpu=None), description="sim (modelled h200)")
    with pytest.raises(EnvironmentFault, match="which is modelled"):
        measure_peaks(modelled)


@pytest.mark.parametrize("program", [copy_program(1 << 16), fma_program(1), empty_program()])
def test_the_harness_takes_the_requests(program: Any, sim: Device) -> None:
    latencies = peak_measurement._measure(program, sim)
    assert len(latencies) == len(program.launches)
