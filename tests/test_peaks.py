"""Peaks: what theory gives, and which measured ones are believed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from measured_latencies import H200, MEASURED_PEAKS

from pytest_cudaopt import peaks
from pytest_cudaopt.answers import Limits
from pytest_cudaopt.peaks import known_peaks, remember_peaks, theoretical_peaks


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "pytest-cudaopt" / "peaks"


def device(limits: Limits = H200) -> Any:
    return SimpleNamespace(limits=limits)


def with_gpu(**changes: Any) -> Limits:
    assert H200.gpu is not None
    return replace(H200, gpu=replace(H200.gpu, **changes))


def test_the_theoretical_peaks_of_an_h200() -> None:
    theory = theoretical_peaks(H200)
    assert theory is not None
    assert theory.dram_bytes_per_s == pytest.approx(4.81e12, rel=1e-3)
    assert theory.fp32_flops_per_s == pytest.approx(66.9e12, rel=1e-3)
    assert theory.l2_bytes_per_s == pytest.approx(16.7e12, rel=2e-3)


def test_a_higher_measured_clock_counts_but_a_lower_one_does_not() -> None:
    faster, slower = theoretical_peaks(H200, 2178.0), theoretical_peaks(H200, 1000.0)
    assert faster is not None
    assert faster.fp32_flops_per_s == pytest.approx(1.1 * 66.9e12, rel=1e-3)
    assert slower == theoretical_peaks(H200)


@pytest.mark.parametrize(
    ("architecture", "lanes"),
    [("sm_70", 64), ("sm_80", 64), ("sm_86", 128), ("sm_90a", 128), ("sm_120", 128), ("sm_999", None)],
)
def test_fp32_lanes_follow_the_compute_capability(architecture: str, lanes: int | None) -> None:
    theory = theoretical_peaks(replace(H200, architecture=architecture))
    assert theory is not None
    expected = None if lanes is None else pytest.approx(132 * lanes * 2 * 1.98e9)
    assert theory.fp32_flops_per_s == expected


def test_what_the_driver_does_not_say_is_unknown() -> None:
    theory = theoretical_peaks(with_gpu(sm_clock_mhz=0.0, memory_clock_mhz=0.0))
    assert theory is not None
    assert (theory.dram_bytes_per_s, theory.l2_bytes_per_s, theory.fp32_flops_per_s) == (None, None, None)


def test_a_modelled_device_has_no_peaks() -> None:
    modelled = device(replace(H200, gpu=None))
    assert theoretical_peaks(modelled.limits) is None
    assert known_peaks(modelled) is None
    assert remember_peaks(modelled, MEASURED_PEAKS) is None


def test_measured_peaks_are_remembered_per_gpu(own_cache: Path) -> None:
    assert known_peaks(device()) is None
    assert remember_peaks(device(), MEASURED_PEAKS) == own_cache / "GPU-1b2c.json"
    assert known_peaks(device()) == MEASURED_PEAKS
    assert known_peaks(device(with_gpu(uuid="GPU-other"))) is None


def test_what_could_not_be_measured_is_remembered_as_unknown() -> None:
    partial = replace(MEASURED_PEAKS, launch_batch_ns=None, tick_ns=None)
    remember_peaks(device(), partial)
    assert known_peaks(device()) == partial


def test_peaks_measured_under_another_driver_are_not_used() -> None:
    remember_peaks(device(), MEASURED_PEAKS)
    assert known_peaks(device(with_gpu(driver=(13, 1)))) is None


def test_peaks_measured_another_way_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_peaks(device(), MEASURED_PEAKS)
    monkeypatch.setattr(peaks, "PEAKS_VERSION", peaks.PEAKS_VERSION + 1)
    assert known_peaks(device()) is None


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"version": 1}'])
def test_a_broken_entry_is_as_good_as_none(own_cache: Path, content: str) -> None:
    remember_peaks(device(), MEASURED_PEAKS)
    (own_cache / "GPU-1b2c.json").write_text(content)
    assert known_peaks(device()) is None


def test_a_peak_of_the_wrong_type_is_not_used(own_cache: Path) -> None:
    remember_peaks(device(), MEASURED_PEAKS)
    stored = json.loads((own_cache / "GPU-1b2c.json").read_text())
    stored["peaks"]["copy_bytes_per_s"] = "4.24e12"
    (own_cache / "GPU-1b2c.json").write_text(json.dumps(stored))
    assert known_peaks(device()) is None


def test_no_name_of_a_gpu_leaves_the_cache_folder(own_cache: Path) -> None:
    path = remember_peaks(device(with_gpu(uuid="../../x")), MEASURED_PEAKS)
    assert path == own_cache / "______x.json"


def test_a_cache_that_cannot_be_written_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert remember_peaks(device(), MEASURED_PEAKS) is None


@pytest.mark.parametrize(("architecture", "is_known"), [("sm_75", True), ("sm_90", True), ("sm_100", False)])
def test_the_l2_port_is_known_of_some_architectures_only(architecture: str, is_known: bool) -> None:
    theory = theoretical_peaks(replace(H200, architecture=architecture))
    assert theory is not None
    assert (theory.l2_bytes_per_s is not None) is is_known
