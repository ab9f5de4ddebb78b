"""The least time a case can take, and how near a latency is to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import SOURCE
from measured_latencies import batch_latency

from pytest_cudaopt import In, Out, case, f16, f32, i32, kernel, work
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Evaluation, Latency, LatencyKind, Status
from pytest_cudaopt.optimize.floor import (
    MODELLED_DRAM_BYTES_PER_NS,
    MODELLED_FP32_FLOPS_PER_NS,
    Floor,
    floor_by_case,
    mean_share,
    why_unknown,
)
from pytest_cudaopt.peaks import Peaks

# 1 byte and 10 operations in a nanosecond.
PEAKS = Peaks(1e9, 1e10, launch_cold_ns=2000.0, launch_batch_ns=500.0, tick_ns=None)


def declared(folder: Path, **more: Any) -> Kernel:
    (folder / "twice.cu").write_text(SOURCE)

    @kernel(str(folder / "twice.cu"), cases=[case(n=1000, measure=True)], **more)
    def twice(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        """Double every element."""
        y[...] = 2 * x

    return twice


def judged(latency: Latency | None) -> Evaluation:
    outcome = CaseOutcome(case(n=1000, measure=True), "n1000", CaseStatus.PASSED, latency=latency)
    return Evaluation("twice", "", "", Status.ACCEPTED, outcomes=(outcome,))


@pytest.mark.parametrize(
    ("amounts", "floor_ns", "because"),
    [
        ({"bytes": "8*n"}, 8000.0, "bytes at the measured copy peak"),
        ({"flops": "100*n"}, 10_000.0, "operations at the measured FP32 peak"),
        ({"bytes": "8*n", "flops": "100*n"}, 10_000.0, "operations at the measured FP32 peak"),
        ({"bytes": "8*n", "flops": "n"}, 8000.0, "bytes at the measured copy peak"),
        ({"flops": "n"}, 500.0, "launch"),
    ],
)
def test_the_largest_bound_is_the_floor(
    tmp_path: Path, amounts: dict[str, str], floor_ns: float, because: str
) -> None:
    kernel = declared(tmp_path, work=work(**amounts))
    floors = floor_by_case(kernel, judged(batch_latency(20_000.0, cold_ns=30_000.0)), PEAKS)
    assert floors == {"n1000": Floor(floor_ns, floor_ns / 20_000.0, because)}


def test_there_is_no_floor_without_work_peaks_or_a_measurement(tmp_path: Path) -> None:
    measured, with_work = (
        judged(batch_latency(20_000.0, cold_ns=30_000.0)),
        declared(tmp_path, work=work(bytes="8*n")),
    )
    assert floor_by_case(with_work, measured, PEAKS) != {}
    assert floor_by_case(with_work, measured, None) == {}
    assert floor_by_case(declared(tmp_path), measured, PEAKS) == {}
    assert floor_by_case(with_work, judged(None), PEAKS) == {}
    assert floor_by_case(with_work, judged(Latency(LatencyKind.MODELLED, 20_000.0)), PEAKS) == {}


@pytest.mark.parametrize(
    ("amounts", "floor_ns", "because"),
    [
        ({"bytes": "4260*n"}, 4350.0, "launch 3.35 us + declared bytes at the modelled DRAM rate"),
        ({"bytes": "4260*n", "flops": "n"}, 4350.0, "launch 3.35 us + declared bytes"),
        ({"bytes": "n", "flops": "66908*n"}, 4350.0, "launch 3.35 us + declared operations at FP32 rate"),
    ],
)
def test_the_floor_of_a_modelled_latency_is_the_launch_and_what_work_takes(
    tmp_path: Path, amounts: dict[str, str], floor_ns: float, because: str
) -> None:
    kernel = declared(tmp_path, work=work(**amounts))
    latency = Latency(LatencyKind.MODELLED, 8700.0, terms_ns=(("dram", 5000.0), ("launch", 3350.0)))
    floor = floor_by_case(kernel, judged(latency), None)["n1000"]
    assert floor.floor_ns == pytest.approx(floor_ns, rel=1e-4)
    assert floor.share == pytest.approx(0.5, rel=1e-4)
    assert floor.because.startswith(because)


def test_the_modelled_rates_are_those_of_the_models_own_table() -> None:
    table = (Path(__file__).parent.parent / "harness_cpp/src/model/device_table.cpp").read_text()

    def constant(name: str) -> float:
        found = re.search(rf"table\.{name} = ([\d.]+);", table)
        assert found is not None
        return float(found[1])

    assert constant("dram_bytes_per_ns") == MODELLED_DRAM_BYTES_PER_NS
    per_clock = constant("multiprocessors") * constant("fp32_rate") * 32 * 2
    assert pytest.approx(per_clock * constant("clock_ghz")) == MODELLED_FP32_FLOPS_PER_NS


def test_operations_on_halves_have_no_floor_since_tensor_cores_do_them(tmp_path: Path) -> None:
    (tmp_path / "half.cu").write_text(SOURCE.replace("float", "__half"))

    @kernel(str(tmp_path / "half.cu"), cases=[case(n=1000, measure=True)], work=work(flops="n"))
    def twice(x=In(f16, "n"), y=Out(f16, "n"), n=i32):
        y[...] = 2 * x

    latency = Latency(LatencyKind.MODELLED, 8700.0, terms_ns=(("launch", 3350.0),))
    assert floor_by_case(twice, judged(latency), None) == {}
    assert "tensor cores" in why_unknown(twice, judged(latency), None)


@pytest.mark.parametrize(
    ("more", "latency", "reason"),
    [
        ({}, None, "no case has a latency"),
        ({}, batch_latency(20_000.0, cold_ns=30_000.0), "the kernel declares no work="),
        ({"work": work(bytes="touched")}, batch_latency(20_000.0, cold_ns=30_000.0), "were not counted"),
        ({"work": work(bytes="8*n")}, batch_latency(20_000.0, cold_ns=30_000.0), "were not measured yet"),
    ],
)
def test_a_floor_that_is_unknown_has_one_reason(
    tmp_path: Path, more: dict[str, Any], latency: Latency | None, reason: str
) -> None:
    kernel = declared(tmp_path, **more)
    assert floor_by_case(kernel, judged(latency), None) == {}
    assert reason in why_unknown(kernel, judged(latency), None)


@pytest.mark.parametrize(("shares", "expected"), [((), None), ((0.5,), 0.5), ((0.25, 1.0), 0.5)])
def test_shares_are_averaged_geometrically(shares: tuple[float, ...], expected: float | None) -> None:
    floors = {str(number): Floor(1.0, share, "") for number, share in enumerate(shares)}
    assert mean_share(floors) == (None if expected is None else pytest.approx(expected))
