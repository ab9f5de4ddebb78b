"""Percentages refer to measured peaks and declared work, and to nothing else."""

import pytest
from measured_latencies import MEASURED_PEAKS, batch_latency, cold_latency

from pytest_cudaopt.achieved import Achieved, achieved
from pytest_cudaopt.amounts import Amount
from pytest_cudaopt.evaluation import Latency, LatencyKind

WORK = Amount(flops=2_000_000, bytes=12_000_000)


def test_rates_and_shares_of_the_measured_peaks():
    done = achieved(WORK, cold_latency(4_000.0), MEASURED_PEAKS)

    # 12 MB in 4 us, of the 4.24 TB/s a copy reached and not of the 4.82 TB/s on paper.
    assert done.bytes_per_s == pytest.approx(3e12)
    assert done.copy_peak_share == pytest.approx(3 / 4.24)
    assert done.flops_per_s == pytest.approx(5e11)
    assert done.fp32_peak_share == pytest.approx(0.5 / 60)


def test_the_rate_is_that_of_the_mode_the_median_is_of():
    assert achieved(WORK, batch_latency(3_000.0, cold_ns=6_000.0), None).bytes_per_s == pytest.approx(4e12)


def test_without_measured_peaks_there_are_rates_but_no_shares():
    assert achieved(WORK, cold_latency(4_000.0), None) == Achieved(
        bytes_per_s=pytest.approx(3e12), flops_per_s=pytest.approx(5e11)
    )


@pytest.mark.parametrize(
    ("work", "latency"),
    [(Amount(), cold_latency(4_000.0)), (WORK, Latency(LatencyKind.MODELLED, 4_000.0))],
)
def test_without_declared_work_or_a_measured_time_there_is_nothing_to_say(work, latency):
    assert achieved(work, latency, MEASURED_PEAKS) is None


def test_counted_bytes_have_a_rate_that_says_so():
    done = achieved(Amount(bytes=12_000_000, bytes_counted=True), cold_latency(4_000.0), MEASURED_PEAKS)
    assert done.bytes_counted
    assert done.bytes_per_s == pytest.approx(3e12)


def test_bytes_that_nobody_could_count_leave_the_rate_of_operations():
    done = achieved(Amount(flops=2_000_000, bytes_counted=True), cold_latency(4_000.0), None)
    assert done == Achieved(flops_per_s=pytest.approx(5e11))
