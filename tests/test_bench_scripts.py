"""What the benchmarks that need a GPU make of their numbers; the numbers here are made up."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent / "bench"))

import fault_storm
import repeatability
import verdict_time

from pytest_cudaopt.evaluation import Latency, LatencyKind, Sampling, SamplingMode

SHORT = repeatability.Workload("1 us", 1024, 0.001, least_gain=10.0)


def spread_by(share: float) -> list[float]:
    """Return medians around 1 us whose standard deviation over the mean is `share`."""
    return [1 - share, 1.0, 1 + share]


def medians(ours: float, plain: float, do_bench: float) -> repeatability.Medians:
    made = repeatability.Medians(SHORT, tick_us=0.0)
    for method, share in (
        (repeatability.OURS, ours),
        (repeatability.COLD, 0.01),
        (repeatability.PLAIN, plain),
        (repeatability.DO_BENCH, do_bench),
    ):
        for value in spread_by(share):
            made.add(method, value)
    return made


def test_medians_as_steady_as_promised_break_nothing() -> None:
    assert medians(0.0005, 0.05, 0.002).failures() == []


@pytest.mark.parametrize(
    ("ours", "plain", "do_bench", "complaint"),
    [
        (0.002, 0.05, 0.003, "1 us: ours spreads by 0.200%, expected at most 0.100%"),
        (0.0009, 0.005, 0.002, "1 us: ours spreads by 0.090%, expected 0.500% / 10"),
        (0.0009, 0.05, 0.0005, "1 us: ours spreads by 0.090%, do_bench by 0.050%"),
    ],
)
def test_a_broken_promise_of_steadiness_is_told(
    ours: float, plain: float, do_bench: float, complaint: str
) -> None:
    assert medians(ours, plain, do_bench).failures() == [complaint]


def test_the_table_has_a_line_for_every_method() -> None:
    lines = medians(0.0005, 0.05, 0.002).lines()
    assert [line[8:22].strip() for line in lines[1:]] == ["ours", "ours, cold", "plain events", "do_bench"]


def test_the_kernels_own_time_counts_warm_up_and_every_launch_of_a_batch() -> None:
    latency = Latency(
        LatencyKind.MEASURED,
        1000.0,
        SamplingMode.BATCH,
        cold=Sampling(3000.0, (3000.0,) * 100),
        batch=Sampling(1000.0, (1000.0,) * 100, launches=50),
        warmup_launches=900,
    )
    assert verdict_time.kernel_seconds(latency) == pytest.approx(1000 * 3e-6 + 5000 * 1e-6)


@pytest.mark.parametrize(
    ("warm_s", "fresh_s", "restart_ms", "code"),
    [(0.1, 1.0, 500.0, 0), (0.2, 2.0, 500.0, 1), (0.1, 0.4, 500.0, 1), (0.1, 1.0, 1100.0, 1)],
)
def test_a_broken_promise_of_speed_is_told(
    warm_s: float, fresh_s: float, restart_ms: float, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    warm = verdict_time.Verdict(warm_s + 0.01, 0.01, {"compile": 0.03})
    fresh = verdict_time.Verdict(fresh_s + 0.01, 0.01, {})
    assert verdict_time.report([warm], [fresh], [restart_ms]) == code
    assert ("BROKEN" in capsys.readouterr().out) == bool(code)


def test_a_storm_has_every_kind_about_equally_often_in_the_order_of_its_seed() -> None:
    gpu = SimpleNamespace(selector="cuda:0")
    first, again, other = (fault_storm.order(200, seed, gpu) for seed in (1, 1, 2))
    counts = {kind: first.count(kind) for kind in first}
    assert len(first) == 200
    assert set(counts) == {*fault_storm.FAULTS, None}
    assert max(counts.values()) - min(counts.values()) <= 1
    assert first == again != other


def test_memory_that_does_not_come_back_is_told() -> None:
    storm = fault_storm.Storm(device=SimpleNamespace(), python_bytes=[0, 100 * fault_storm.MEBIBYTE])
    assert fault_storm.leaks(storm, 0, 0) == []
    storm.python_bytes += [0] * 50 + [100 * fault_storm.MEBIBYTE]
    assert fault_storm.leaks(storm, 20 * fault_storm.MEBIBYTE, 20 * fault_storm.MEBIBYTE) == [
        "GPU memory while the harness runs: grew by 20 MiB",
        "GPU memory with the harness closed: grew by 20 MiB",
        "memory of this process: grew by 100 MiB",
    ]
