"""Times, latencies and rates as a person reads them."""

import pytest
from measured_latencies import batch_latency, cold_latency

from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.latency_text import format_bytes, format_latency, format_rate


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0.5, "0.50 ns"),
        (9.996, "10.0 ns"),
        (850, "850 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (59_300, "59.3 us"),
        (123_456_789, "123 ms"),
        (2.5e9, "2.50 s"),
    ],
)
def test_durations_have_three_digits_and_a_sensible_unit(ns, text):
    assert format_duration(ns) == text


@pytest.mark.parametrize(
    ("per_s", "text"),
    [(1500, "1.50 kB/s"), (999.6e9, "1.00 TB/s"), (3.46e12, "3.46 TB/s"), (1.2e15, "1200 TB/s")],
)
def test_rates_have_three_digits_and_a_sensible_unit(per_s, text):
    assert format_rate(per_s, "B") == text


def test_amounts_are_written_as_rates_are():
    assert format_bytes(8_388_608) == "8.39 MB"


def test_a_rate_of_counted_bytes_says_so():
    done = Achieved(bytes_per_s=3.46e12, copy_peak_share=0.8, bytes_counted=True)
    assert format_latency(cold_latency(4_000.0), done).endswith("3.46 TB/s (counted) = 80 % of copy peak")


def test_latency_never_goes_without_its_kind():
    assert format_latency(Latency(LatencyKind.MODELLED, 12_300.0, bound="dram")) == "12.3 us modelled (dram)"
    assert format_latency(Latency(LatencyKind.MEASURED, 12_300.0)) == "12.3 us measured"


def test_a_measured_one_shows_its_mode_and_spread():
    assert format_latency(cold_latency(61_000.0)) == "61.0 us cold, IQR 1.00 %"


def test_both_modes_stand_side_by_side_with_the_launch_floor():
    text = format_latency(batch_latency(2_500.0, cold_ns=5_000.0))

    assert text == "2.50 us batch (cold 5.00 us), IQR 0.00 %, launch floor 850 ns"


def test_a_rate_without_a_known_peak_has_no_percentage():
    assert format_latency(cold_latency(1e4), Achieved(3.46e12)).endswith(", 3.46 TB/s")


def test_rates_are_shown_with_their_share_of_the_measured_peaks():
    text = format_latency(cold_latency(1e4), Achieved(3.46e12, 20e12, 0.816, 0.331))

    assert text.endswith(", 3.46 TB/s = 81.6 % of copy peak, 20.0 TFLOP/s = 33.1 % of FP32 peak")
