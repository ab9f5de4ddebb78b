"""What `cudaopt doctor --peaks` shows of a GPU, and of a device that is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from measured_latencies import H200, MEASURED_PEAKS

from pytest_cudaopt import peak_rows
from pytest_cudaopt.doctor import State
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.peak_rows import examine_peaks
from pytest_cudaopt.peaks import known_peaks, theoretical_peaks

GPU: Any = SimpleNamespace(limits=H200, description="cuda:0 (NVIDIA H200)")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(peak_rows, "measure_peaks", lambda device: MEASURED_PEAKS)


def test_measured_peaks_are_shown_beside_the_theoretical_ones_and_kept() -> None:
    first, *rows = examine_peaks(GPU)

    assert first.detail.startswith("NVIDIA H200, kept in /")
    assert [(row.what, row.detail) for row in rows] == [
        ("copy bandwidth", "4.24 TB/s, 88.1 % of 4.81 TB/s in theory, read and written bytes"),
        ("FP32 FMA rate", "60.0 TFLOP/s, 89.7 % of 66.9 TFLOP/s in theory"),
        ("launch floor", "3.36 us cold, 850 ns batch"),
        ("event tick", "32.0 ns"),
    ]
    assert known_peaks(GPU) == MEASURED_PEAKS


def test_what_is_unknown_is_said_to_be() -> None:
    partial = replace(MEASURED_PEAKS, launch_batch_ns=None, tick_ns=None)
    theory = theoretical_peaks(replace(H200, architecture="sm_999"))
    assert theory is not None
    details = [row.detail for row in peak_rows.peak_rows(partial, theory)]

    assert details[1:] == [
        "60.0 TFLOP/s; the theoretical peak is unknown",
        "3.36 us cold, not measured batch",
        "unknown",
    ]


def test_a_modelled_device_has_no_measured_peaks() -> None:
    modelled: Any = SimpleNamespace(limits=replace(H200, gpu=None), description="sim (modelled h200)")
    (row,) = examine_peaks(modelled)

    assert row.state is State.ABSENT
    assert row.detail == "sim (modelled h200) is modelled: a modelled device has no measured peaks"


def test_peaks_that_cannot_be_measured_are_missing_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(device: object) -> None:
        raise EnvironmentFault("measuring peaks", expected="memory", got="none", next_step="Free some")

    monkeypatch.setattr(peak_rows, "measure_peaks", refuse)
    (row,) = examine_peaks(GPU)

    assert (row.state, row.advice) == (State.MISSING, "Free some")
    assert row.detail == "measuring peaks: expected memory, got none"
    assert known_peaks(GPU) is None


def test_peaks_that_cannot_be_kept_are_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    first, *rows = examine_peaks(GPU)

    assert first.detail == "NVIDIA H200, not kept"
    assert "XDG_CACHE_HOME" in first.advice
    assert len(rows) == 4
