"""Reading NVML through a made-up one, and what is doubted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_cudaopt import gpu_state
from pytest_cudaopt.gpu_state import ClockReason, GpuState, doubts, other_processes, throttled_by

CALM = GpuState(sm_clock_mhz=1980, max_sm_clock_mhz=1980, temperature_c=40, power_w=120.0)


class NvmlError(Exception):
    """What the bindings raise."""


class MadeUpNvml(SimpleNamespace):
    """One GPU at work; `lacks` names functions that this NVML, or this user, has not."""

    NvmlError = NvmlError

    def __init__(self, lacks: tuple[str, ...] = (), error: type[Exception] = NvmlError) -> None:
        answers = {
            "device_get_power_usage": 345_600,
            "device_get_current_clocks_event_reasons": 0x4 | 0x40 | 0x8000,
            "device_get_compute_running_processes_v3": [SimpleNamespace(pid=os.getpid())],
            "device_get_mig_mode": (0, 0),
            "device_get_clock_info": 1755,
            "device_get_max_clock_info": 1980,
            "device_get_temperature_v": 61,
        }
        super().__init__(**{name: self._function(name, value) for name, value in answers.items()})
        self._lacks, self._error = lacks, error

    def device_get_handle_by_uuid(self, uuid: str) -> int:
        if uuid != "GPU-1":
            raise NvmlError("Not Found")
        return 7

    def device_get_count_v2(self) -> int:
        return 4

    def _function(self, name: str, value: object) -> Any:
        def ask(handle: int, *kind: int) -> object:
            assert handle == 7
            if name in self._lacks:
                raise self._error(name)
            return value

        return ask


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(gpu_state, "_nvml", MadeUpNvml)
    return monkeypatch


def test_a_gpu_at_work_is_read(nvml: pytest.MonkeyPatch) -> None:
    assert gpu_state.read("GPU-1") == GpuState(
        sm_clock_mhz=1755,
        max_sm_clock_mhz=1980,
        temperature_c=61,
        power_w=345.6,
        reasons=ClockReason.POWER_CAP | ClockReason.HARDWARE_THERMAL,
        other_processes=(),
        mig=False,
    )
    assert gpu_state.count() == 4


def test_a_gpu_nvml_does_not_know_is_none(nvml: pytest.MonkeyPatch) -> None:
    assert gpu_state.read("MIG-1") is None


@pytest.mark.parametrize("error", [NvmlError, RuntimeError])
def test_what_is_forbidden_or_missing_is_left_out(nvml: pytest.MonkeyPatch, error: type[Exception]) -> None:
    everything = tuple(name for name in vars(MadeUpNvml()) if name.startswith("device_get_"))
    nvml.setattr(gpu_state, "_nvml", lambda: MadeUpNvml(everything, error))
    assert gpu_state.read("GPU-1") == GpuState()


def test_without_nvml_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_state, "_nvml", lambda: None)
    assert gpu_state.read("GPU-1") is None
    assert gpu_state.count() is None


@pytest.mark.parametrize("error", [NvmlError("no driver"), RuntimeError("no library"), OSError("no file")])
def test_nvml_that_cannot_start_is_no_nvml(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> None:
        raise error

    broken = SimpleNamespace(NvmlError=NvmlError, init_v2=start)
    monkeypatch.setattr(gpu_state.importlib, "import_module", lambda name: broken)
    assert gpu_state._nvml.__wrapped__() is None


def test_bindings_that_are_not_installed_are_no_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(gpu_state.importlib, "import_module", absent)
    assert gpu_state._nvml.__wrapped__() is None


def test_bits_of_later_drivers_are_left_out() -> None:
    assert gpu_state.clock_reasons(0x200 | 0x1 | 0x2) == ClockReason.IDLE | ClockReason.APPLICATION_CLOCKS


@pytest.mark.parametrize(
    ("pids", "harnesses", "others"),
    [
        ([10], {10}, ()),
        ([10, 11, 1], {10, 11}, ()),
        ([10, 30], {10}, (30,)),
        # In a container: numbers of the host, of which as many are ours as we have harnesses.
        ([90001], {10}, ()),
        ([90001, 90002], {10}, (90002,)),
        ([90001, 90002], {10, 11}, ()),
        ([10, 90001], {10}, (90001,)),
        ([], {10}, ()),
    ],
)
def test_others_are_those_neither_ours_nor_our_harnesses(
    pids: list[int], harnesses: set[int], others: tuple[int, ...]
) -> None:
    ours = harnesses | {1, 2}
    assert other_processes(pids, harnesses=harnesses, ours=ours, exists=lambda pid: pid < 100) == others


def test_the_process_itself_and_its_parents_are_ours() -> None:
    assert gpu_state._ancestors(os.getpid()) >= {os.getpid(), os.getppid()} - {1}


@pytest.mark.parametrize(
    ("listed", "others"),
    [
        ([4], ()),
        ([4, 5], ()),
        ([4, 6], (6,)),
        ([4, 5, 6], (6,)),
        # 90001 and 90002 are 4 and 5 in the host's numbers.
        ([90001, 90002], ()),
        ([90001, 90002, 90003], (90003,)),
    ],
)
def test_this_users_harnesses_are_known_by_name(
    listed: list[int], others: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for pid, name in ((4, "cudaopt-harness"), (5, "cudaopt-harness"), (6, "python")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "comm").write_text(f"{name}\n")
    (tmp_path / "7").mkdir()
    (tmp_path / "self").mkdir()
    monkeypatch.setattr(gpu_state, "_PROC", tmp_path)
    assert gpu_state._others(listed, 4) == others


@pytest.mark.parametrize(
    ("changes", "clocks", "said"),
    [
        ({}, [1980.0, 1979.9], ()),
        ({"reasons": ClockReason.IDLE | ClockReason.APPLICATION_CLOCKS | ClockReason.SYNC_BOOST}, [], ()),
        ({"reasons": ClockReason.POWER_CAP}, [], ("the GPU's clocks were held down by its power limit",)),
        (
            {"reasons": ClockReason.HARDWARE_SLOWDOWN | ClockReason.HARDWARE_THERMAL},
            [],
            ("the GPU's clocks were held down by a hardware slowdown and its temperature (hardware)",),
        ),
        ({"other_processes": (17,)}, [], ("another process uses the GPU (pid 17)",)),
        ({"other_processes": (17, 4)}, [], ("other processes use the GPU (pids 4, 17)",)),
        (
            {},
            [1980.0, 1900.0, 1980.0],
            ("the SM clock moved by 4.0 % while measuring (1900 to 1980 MHz)",),
        ),
        ({}, [1200.0, 1200.0], ("the SM clock was 1200 MHz, 61 % of the highest (1980 MHz)",)),
        ({}, [0.0, 1980.0], ()),
    ],
)
def test_what_disturbs_a_measurement_is_said(
    changes: dict[str, Any], clocks: list[float], said: tuple[str, ...]
) -> None:
    disturbed = replace(CALM, **changes)
    assert doubts(disturbed, clocks, 1980.0) == said


def test_clocks_are_doubted_without_nvml_but_not_against_an_unknown_maximum() -> None:
    assert len(doubts(None, [1980.0, 1000.0], 1980.0)) == 1
    assert doubts(None, [500.0], 0.0) == ()
    assert doubts(None, [500.0], None) == ()


def test_a_gpu_is_throttled_by_heat_and_brakes_but_not_by_its_power_limit() -> None:
    hot = ClockReason.SOFTWARE_THERMAL | ClockReason.POWER_BRAKE | ClockReason.POWER_CAP
    assert throttled_by(replace(CALM, reasons=hot)) == (
        "its temperature (software) and a power brake from outside"
    )
    assert throttled_by(replace(CALM, reasons=ClockReason.POWER_CAP | ClockReason.IDLE)) == ""
    assert throttled_by(None) == ""
