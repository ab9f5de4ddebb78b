"""Times on silicon: what comes with them, and kernels that are right only while nobody times them."""

from __future__ import annotations

import statistics

import pytest
from argument_kernels import adds_atomically, halves
from fault_kernels import PATIENT
from silicon_kernels import relu, sum_all
from timed_kernels import chain, compare_steps, doubles

from pytest_cudaopt import case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import (
    CaseStatus,
    Evaluation,
    Latency,
    LatencyKind,
    Plan,
    SamplingMode,
    Stage,
    Status,
)
from pytest_cudaopt.pipeline import evaluate

pytestmark = pytest.mark.gpu


def judge(kernel: Kernel, device: Device, **changes: object) -> Evaluation:
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), kernel.cases, budget=PATIENT, **changes)
    return evaluate(kernel, kernel.start(), plan, device)


def latency(kernel: Kernel, device: Device, **changes: object) -> Latency:
    evaluation = judge(kernel, device, **changes)
    assert evaluation.accepted, evaluation.reason
    (found,) = evaluation.latencies.values()
    return found


def test_a_short_kernel_is_measured_in_both_modes_and_batch_counts(cuda: Device) -> None:
    found = latency(doubles("reads_the_clock"), cuda)
    assert (found.kind, found.mode) == (LatencyKind.MEASURED, SamplingMode.BATCH)
    assert found.cold is not None
    assert found.batch is not None
    assert len(found.cold.samples_ns) == len(found.batch.samples_ns) == 100
    assert found.median_ns == found.batch.median_ns == statistics.median(found.batch.samples_ns)
    assert found.batch.launches > 1
    assert found.batch.floor_ns is not None
    assert found.batch.median_ns < found.cold.median_ns


def test_a_long_kernel_is_measured_cold(cuda: Device) -> None:
    found = latency(relu("correct", case(rows=4096, cols=2048, ldx=2048, measure=True)), cuda)
    assert found.mode is SamplingMode.COLD
    assert found.batch is None
    assert found.cold is not None
    assert found.cold.launches == 1


def test_a_latency_comes_with_what_one_needs_to_trust_it(cuda: Device) -> None:
    found = latency(doubles("reads_the_clock"), cuda)
    assert found.warmup_launches is not None
    assert found.warmup_launches >= 10
    assert found.tick_ns is not None
    assert found.tick_ns > 0
    assert found.contents >= 2
    assert all(clock > 0 for clock in found.sm_clock_mhz)
    assert found.sm_clock_mhz


def test_an_updated_array_is_restored_before_every_timed_launch(cuda: Device) -> None:
    found = latency(halves, cuda)
    assert found.mode is SamplingMode.COLD
    assert found.batch is None
    assert found.batch_refused


def test_as_many_samples_are_taken_as_were_asked_for(cuda: Device) -> None:
    found = latency(doubles("reads_the_clock"), cuda, samples=37)
    assert len(found.samples_ns) == 37


def test_the_order_of_float_atomics_is_no_fault(cuda: Device) -> None:
    for _ in range(3):
        assert judge(adds_atomically, cuda).accepted


def test_a_thousand_steps_take_longer_than_one(cuda: Device) -> None:
    assert latency(chain, cuda).median_ns > latency(doubles("reads_the_clock"), cuda).median_ns


CHEATS = [doubles("remembers"), doubles("tires")]


@pytest.mark.parametrize("kernel", CHEATS, ids=lambda kernel: kernel.source.stem)
def test_a_kernel_that_is_right_until_it_is_timed_is_found_out(kernel: Kernel, cuda: Device) -> None:
    evaluation = judge(kernel, cuda)
    assert evaluation.status is Status.WRONG_RESULT, evaluation.reason
    assert "a timed launch" in evaluation.reason
    assert [outcome.status for outcome in evaluation.outcomes] == [CaseStatus.WRONG]
    assert evaluation.latencies == {}


def test_those_kernels_pass_a_check_that_times_nothing(cuda: Device) -> None:
    plan = Plan((Stage.COMPILE, Stage.CHECK), CHEATS[0].cases, budget=PATIENT)
    assert evaluate(CHEATS[0], CHEATS[0].start(), plan, cuda).accepted


def test_a_counter_that_is_not_reset_shows_at_the_second_launch(cuda: Device) -> None:
    evaluation = judge(sum_all("bug_ticket_not_reset", case(n=4096, measure=True)), cuda)
    assert evaluation.status is Status.WRONG_RESULT, evaluation.reason
    assert "wrong when launched again" in evaluation.reason


def test_a_result_that_depends_on_the_clock_is_wrong(cuda: Device) -> None:
    assert judge(doubles("watches_the_clock"), cuda).status is Status.WRONG_RESULT


def test_equal_arms_side_by_side_take_the_same_time(cuda: Device) -> None:
    assert compare_steps(1000, 1000, cuda).ratio == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("first", "second"), [(1000, 1300), (1300, 1000)])
def test_the_slower_arm_is_told_whichever_comes_first(first: int, second: int, cuda: Device) -> None:
    found = compare_steps(first, second, cuda)
    if first < second:
        assert found.lower > 1.05
    else:
        assert found.upper < 0.95
