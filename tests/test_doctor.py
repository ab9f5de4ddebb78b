"""The doctor: finds what is there, names what is missing and what to do about it."""

import contextlib
import os
from types import SimpleNamespace

import pytest

from pytest_cudaopt import doctor, driver
from pytest_cudaopt.doctor import Row, State
from pytest_cudaopt.gpu_state import GpuState
from pytest_cudaopt.toolchain import Toolchain


def test_an_old_python_is_missing():
    assert doctor.python_row((3, 10)).state is State.MISSING
    assert doctor.python_row((3, 11)).state is State.FOUND


SIM = SimpleNamespace(
    note="auto: sim, cuda:0 cannot be opened: the driver finds no GPU",
    limits=SimpleNamespace(gpu=None),
)
H200 = SimpleNamespace(
    note="auto: cuda:0",
    description="NVIDIA H200",
    limits=SimpleNamespace(
        architecture="sm_90",
        gpu=SimpleNamespace(uuid="GPU-1", driver=(13, 0), memory_bytes=141 << 30),
    ),
)


def test_no_gpu_is_fine_and_says_why_and_where_kernels_run():
    row = doctor.gpu_row(SIM)

    assert row.state is State.ABSENT
    assert row.detail == "cuda:0 cannot be opened: the driver finds no GPU: kernels run on sim"


def test_a_gpu_is_named_with_its_architecture_memory_and_driver():
    row = doctor.gpu_row(H200)

    assert row.state is State.FOUND
    assert row.detail == "NVIDIA H200, sm_90, 141.0 GiB, driver for CUDA 13.0, GPU-1"


@pytest.mark.parametrize(
    ("state", "found", "detail", "advice"),
    [
        (None, State.ABSENT, "does not know this GPU", "Install the driver's NVML"),
        (GpuState(), State.FOUND, "answers", ""),
        (
            GpuState(sm_clock_mhz=345, max_sm_clock_mhz=1980, temperature_c=33, power_w=75.4, mig=True),
            State.FOUND,
            "SM clock 345 of 1980 MHz, temperature 33 C, power 75 W, MIG on",
            "",
        ),
        (
            GpuState(temperature_c=33, other_processes=(17,)),
            State.FOUND,
            "temperature 33 C",
            "another process uses the GPU (pid 17)",
        ),
    ],
)
def test_nvml_tells_the_state_and_what_would_disturb_a_measurement(state, found, detail, advice):
    row = doctor.nvml_row(state)

    assert row.state is found
    assert row.detail.startswith(detail)
    assert row.advice.startswith(advice)
    assert bool(row.advice) is bool(advice)


def test_without_a_driver_the_doctor_says_which_device_auto_is(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "driver_version", lambda environ: None)
    rows = {row.what: row for row in doctor.examine(tmp_path, os.environ)}

    assert doctor.is_healthy(list(rows.values()))
    assert rows["auto"].detail == "sim, no CUDA driver (libcuda.so.1)"
    assert rows["GPU"].state is State.ABSENT
    assert "NVML" not in rows


def test_a_gpu_is_shown_with_the_nvrtc_for_its_driver(tmp_path, monkeypatch):
    opened = SimpleNamespace(
        **vars(H200),
        toolchain=Toolchain("/n/libnvrtc.so.12", (12, 9), (), (12, 8), ""),
        gpu_state=lambda: None,
    )
    monkeypatch.setattr(doctor, "open_device", lambda selector, environ: contextlib.nullcontext(opened))
    rows = {row.what: row for row in doctor.examine(tmp_path, os.environ)}

    assert rows["auto"].detail == "cuda:0"
    assert rows["NVRTC for GPU"].detail == "/n/libnvrtc.so.12, version 12.9"
    assert "its headers are 12.8" in rows["NVRTC for GPU"].advice
    assert rows["NVML"].state is State.ABSENT


@pytest.mark.parametrize(("selector", "what"), [("sim", "GPU"), ("cuda:7", "cuda:7")])
def test_the_device_that_was_asked_for_is_looked_at(selector, what, tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "driver_version", lambda environ: None)
    rows = {row.what: row for row in doctor.examine(tmp_path, os.environ, selector)}

    assert "auto" not in rows
    if selector == "sim":
        assert rows[what].detail == "not asked for: kernels run on sim"
    else:
        assert rows[what].state is State.MISSING
        assert "no CUDA driver" in rows[what].detail


def test_a_writable_folder_is_found_even_before_it_is_made(tmp_path):
    row = doctor.folder_row("results folder", tmp_path / "new" / "deeper", State.MISSING, "")

    assert row.state is State.FOUND
    assert "will be made" in row.detail
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    row = doctor.folder_row("results folder", in_the_way / "results", State.MISSING, "Choose another")

    assert row.state is State.MISSING
    assert row.advice == "Choose another"
    assert str(in_the_way) in row.detail


@pytest.mark.parametrize(
    ("states", "healthy"),
    [
        ([State.FOUND, State.ABSENT], True),
        ([State.FOUND, State.MISSING], False),
    ],
)
def test_only_missing_things_are_unhealthy(states, healthy):
    assert doctor.is_healthy([Row("x", state, "") for state in states]) is healthy


def test_a_missing_harness_is_named_with_the_remedy(tmp_path):
    environ = {"CUDAOPT_HARNESS": "/nowhere/harness", "HOME": str(tmp_path)}
    rows = {row.what: row for row in doctor.examine(tmp_path, environ)}

    assert rows["harness"].state is State.MISSING
    assert "/nowhere/harness" in rows["harness"].detail
    assert "CUDAOPT_HARNESS" in rows["harness"].advice


def test_a_missing_nvrtc_is_named_with_the_remedy(tmp_path):
    environ = {"CUDAOPT_NVRTC": "/nowhere/libnvrtc.so.13", "HOME": str(tmp_path)}
    rows = {row.what: row for row in doctor.examine(tmp_path, environ)}

    assert rows["NVRTC"].state is State.MISSING
    assert "/nowhere/libnvrtc.so.13" in rows["NVRTC"].detail
    assert "CUDAOPT_NVRTC" in rows["NVRTC"].advice
