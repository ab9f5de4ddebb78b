"""The machine whose numbers a device's are."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from pretend_gpu import pretend

from pytest_cudaopt import gpu_state
from pytest_cudaopt.device import Device
from pytest_cudaopt.machine import machine_of


def test_sim_is_the_gpu_it_models_its_compiler_and_its_model(sim: Device) -> None:
    machine = machine_of(sim)
    assert (machine.device, machine.architecture, machine.driver) == ("sim (modelled h200)", "sm_90", None)
    assert re.fullmatch(r"\d+\.\d+", machine.toolkit)
    assert machine.model == sim.harness.version.model
    assert re.fullmatch("[0-9a-f]{12}", machine.model or "")


def test_sim_beside_a_gpu_has_no_driver(sim: Device) -> None:
    gpu, _ = pretend(sim)
    machine = machine_of(replace(gpu, harness=sim.harness, _lock=-1).on_sim)
    assert (machine.driver, machine.model) == (None, sim.harness.version.model)


def test_another_compiler_is_another_machine(sim: Device) -> None:
    other = replace(sim, toolchain=replace(sim.toolchain, version=(11, 8)))
    assert machine_of(other) != machine_of(sim)


def test_a_gpu_has_a_driver_and_no_model_and_its_number_does_not_matter(sim: Device) -> None:
    gpu, _ = pretend(sim)
    machine = machine_of(gpu)
    assert machine.model is None
    assert machine.driver is not None
    assert "cuda:" not in machine.device
    assert machine_of(replace(gpu, selector="cuda:1", description="cuda:1 (another)")) == machine


@pytest.mark.parametrize(("release", "driver"), [("580.159.04", "580.159.04"), (None, r"\d+\.\d+")])
def test_a_driver_is_known_by_its_release_and_without_nvml_by_its_cuda_version(
    sim: Device, monkeypatch: pytest.MonkeyPatch, release: str | None, driver: str
) -> None:
    gpu, _ = pretend(sim)
    monkeypatch.setattr(gpu_state, "driver_release", lambda: release)
    assert re.fullmatch(driver, machine_of(gpu).driver or "")
