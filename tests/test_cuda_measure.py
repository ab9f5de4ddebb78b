"""Measuring on a GPU, on a driver whose clock is virtual: every time is known beforehand."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median

import pytest
from made_up_gpu import L2_BYTES, MadeUpGpu, latency, launch, measure, request, timed
from made_up_gpu import MEASURED_N as N

pytest_plugins = ["made_up_gpu_fixtures"]

TICK_NS = 32.0
SHORT, LONG = "copies_takes_960_ns", "copies_takes_64000_ns"


@pytest.mark.parametrize(("entry", "expected_ns"), [(LONG, 64000.0), ("copies_takes_20000_ns", 20000.0)])
def test_a_long_kernel_is_measured_cold_and_its_time_is_exact(
    gpu: MadeUpGpu, entry: str, expected_ns: float
) -> None:
    found = latency(gpu, entry)
    assert (found["mode"], "batch" in found) == ("cold", False)
    assert found["median_ns"] == found["cold"]["median_ns"] == pytest.approx(expected_ns, rel=1e-5)
    assert len(found["cold"]["samples_ns"]) == 12
    assert found["tick_ns"] == pytest.approx(TICK_NS, rel=1e-3)


@pytest.mark.parametrize("time_ns", [960, 3200])
def test_a_short_kernel_is_measured_cold_and_in_batches_whose_median_counts(
    gpu: MadeUpGpu, time_ns: int
) -> None:
    found = latency(gpu, f"copies_takes_{time_ns}_ns")
    assert found["mode"] == "batch"
    assert found["median_ns"] == found["batch"]["median_ns"] == pytest.approx(time_ns, rel=1e-5)
    assert found["cold"]["median_ns"] == pytest.approx(time_ns, rel=1e-5)
    assert len(found["batch"]["samples_ns"]) == len(found["cold"]["samples_ns"]) == 12


def test_the_default_is_100_samples_after_10_launches_and_25_ms(gpu: MadeUpGpu) -> None:
    asked = request(gpu, LONG, launch(LONG, N, do="measure"), n=N)
    found = gpu.ask(asked)["steps"][1]["latency"]
    assert len(found["cold"]["samples_ns"]) == 100
    assert found["warmup_launches"] >= 10


@pytest.mark.parametrize(("mode", "other", "entry"), [("cold", "batch", SHORT), ("batch", "cold", LONG)])
def test_a_mode_that_is_asked_for_is_the_only_one(gpu: MadeUpGpu, mode: str, other: str, entry: str) -> None:
    found = latency(gpu, entry, mode=mode)
    assert (found["mode"], mode in found, other in found) == (mode, True, False)


def test_a_batch_outlasts_a_thousand_ticks_and_rotates_over_five_times_the_l2(gpu: MadeUpGpu) -> None:
    n = 262144
    batch = latency(gpu, SHORT, n=n, samples=3)["batch"]
    launches, copies = batch["launches"], batch["copies"]
    assert launches * 960 >= 200_000
    assert launches % copies == 0
    assert copies * 2 * 4 * n >= 5 * L2_BYTES
    replays = [span[1:] for span in timed(gpu) if span[0] == f"graph of {launches}"]
    inputs = {line.split()[5] for replay in replays for line in replay}
    assert len(inputs) == copies
    assert len(replays) == 3
    assert batch["floor_ns"] == pytest.approx(2001, rel=0.02)


def test_cold_samples_hold_one_launch_after_a_flush_of_twice_the_l2(gpu: MadeUpGpu) -> None:
    latency(gpu, LONG)
    assert len(timed(gpu)) == 12
    assert all(len(span) == 1 for span in timed(gpu))
    flushes = gpu.launches("cudaopt_read")
    assert {int(line.split()[6]) * 16 for line in flushes} == {2 * L2_BYTES}
    assert len(flushes) >= 12


def test_lines_that_a_cold_launch_asked_to_keep_are_demoted_after_it(gpu: MadeUpGpu) -> None:
    latency(gpu, LONG)
    launches = [line.split() for line in gpu.launches()]
    timed_launches = [(one, after) for one, after in pairwise(launches) if "copies" in one[1]]
    assert len(timed_launches) >= 12
    for launched, after in timed_launches:
        assert after[1] == "cudaopt_demote"
        start, lines = int(after[5]), int(after[6])
        buffers = [int(launched[5]), int(launched[6])]
        assert start <= min(buffers)
        assert start + 128 * lines >= max(buffers) + 4 * N


def test_the_warm_up_has_at_least_the_launches_asked_for(gpu: MadeUpGpu) -> None:
    found = latency(gpu, LONG, warmup=7)
    assert found["warmup_launches"] >= 7
    assert len(gpu.launches("copies")) >= 7 + 12


def test_too_little_memory_for_the_copies_is_said(gpu: MadeUpGpu) -> None:
    gpu.change(memory_bytes=64 << 20, l2_bytes=16 << 20)
    found = latency(gpu, "does_nothing_takes_960_ns", n=65536, samples=3)
    assert found.get("batch_refused") or found["notes"]


def relative_error(samples: list[float]) -> float:
    ordered = sorted(samples)
    quarter = len(ordered) // 4
    spread = 0.7413 * (ordered[-quarter - 1] - ordered[quarter])
    return 1.2533 * spread / math.sqrt(len(ordered)) / median(ordered)


def test_noise_prolongs_a_measurement_until_the_relative_error_is_small(gpu: MadeUpGpu) -> None:
    gpu.change(noise_ticks=200)
    samples = latency(gpu, LONG, relative_error=0.002)["cold"]["samples_ns"]
    assert 12 < len(samples) < 10_000
    assert relative_error(samples) < 0.003
    assert len(latency(gpu, LONG)["cold"]["samples_ns"]) == 12


def test_a_steady_kernel_ends_at_its_samples_and_a_noisy_one_at_max_samples(gpu: MadeUpGpu) -> None:
    assert len(latency(gpu, LONG, relative_error=0.002)["cold"]["samples_ns"]) == 12
    gpu.change(noise_ticks=2000)
    limited = latency(gpu, LONG, relative_error=1e-6, max_samples=40)
    assert len(limited["cold"]["samples_ns"]) == 40


def test_the_median_of_noisy_samples_is_the_median(gpu: MadeUpGpu) -> None:
    gpu.change(noise_ticks=50)
    cold = latency(gpu, LONG, samples=31)["cold"]
    assert len(set(cold["samples_ns"])) > 5
    assert cold["median_ns"] == pytest.approx(median(cold["samples_ns"]))


def test_a_clock_that_drops_shows_in_the_clock_of_its_block(gpu: MadeUpGpu) -> None:
    steady = latency(gpu, LONG, samples=100)["sm_clock_mhz"]
    assert steady == pytest.approx([1980.0] * len(steady), rel=0.01)
    gpu.change(throttle_after=50)
    dropped = latency(gpu, LONG, samples=100)["sm_clock_mhz"]
    assert dropped[0] == pytest.approx(1980, rel=0.01)
    assert dropped[-1] == pytest.approx(1200, rel=0.01)


def test_work_is_queued_behind_a_kernel_that_waits_for_the_host(gpu: MadeUpGpu) -> None:
    assert not any("submit" in note for note in latency(gpu, LONG, samples=200)["notes"])
    assert len(gpu.launches("cudaopt_wait")) >= 200 // 20


def test_a_launch_that_waits_for_the_gpu_is_noted_and_does_not_hang(gpu: MadeUpGpu) -> None:
    notes = latency(gpu, "copies_waits_for_gpu_takes_64000_ns")["notes"]
    assert any("submit" in note for note in notes)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [("faults_700", "illegal_address"), ("faults_716", "misaligned"), ("faults_719", "trap")],
)
def test_a_fault_while_measuring_is_named(gpu: MadeUpGpu, entry: str, kind: str) -> None:
    answer = gpu.ask(request(gpu, entry, measure(entry), n=N))
    assert (answer["fault"]["kind"], answer["fault"]["step"], answer["ending"]) == (kind, 1, True)
    assert entry in answer["fault"]["message"]


def test_measuring_gives_its_memory_back(gpu: MadeUpGpu) -> None:
    limits = request(gpu, SHORT, {"do": "limits"}, buffers=[])
    with gpu.serve() as served:
        before = served.ask(limits)["steps"][1]["limits"]["gpu"]["free_bytes"]
        frees = set()
        for _ in range(2):
            assert served.ask(request(gpu, SHORT, measure(SHORT), n=N))["status"] == "ok"
            frees.add(served.ask(limits)["steps"][1]["limits"]["gpu"]["free_bytes"])
    assert frees == {before}
