"""Opening devices, which one `auto` is, turns on a GPU, and faults that are the machine's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_cudaopt import device as device_module
from pytest_cudaopt import driver, gpu_state, scratch
from pytest_cudaopt.answers import Answer, AnswerStatus
from pytest_cudaopt.device import Device, open_device, open_required
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gpu_lock import GpuLock
from pytest_cudaopt.protocol import AskLimits, Compile, Fill, Load, Measure, Step
from pytest_cudaopt.settings import resolve

# A harness on a machine with made-up GPUs; it notes its process and each device it is asked for.
MACHINE = """
import json, os, sys
fd = int(sys.argv[sys.argv.index("--result-fd") + 1])
gpus, complaint = GPUS, COMPLAINT
def say(value):
    os.write(fd, json.dumps(value).encode() + b"\\n")
say({"protocol": 1, "harness": "0.1.0", "isa": "x86-64"})
for line in sys.stdin:
    request = json.loads(line)
    device = request["device"]
    with open(LOG, "a") as log:
        log.write(f"{os.getpid()} {device}\\n")
    answer = {"protocol": 1, "id": request["id"], "nonce": request["nonce"], "status": "ok", "device": device}
    limits = {"name": device, "architecture": "sm_90", "multiprocessors": 132, "warp_size": 32,
              "max_threads_per_block": 1024, "max_shared_bytes": 232448, "max_grid": [1, 1, 1],
              "max_block": [1, 1, 1]}
    if device != "sim":
        limits["gpu"] = {"uuid": "GPU-" + device[5:], "driver": [13, 0], "memory_bytes": 1, "free_bytes": 1,
                         "l2_bytes": 1, "sm_clock_mhz": 1980.0, "memory_clock_mhz": 3201.0,
                         "memory_bus_bits": 6016, "guard_pages": True}
    if device != "sim" and int(device[5:]) >= gpus:
        answer.update(status="fault", steps=[], fault={"kind": "no_device", "message": complaint})
    else:
        answer["steps"] = [{"do": "limits", "limits": limits}]
    say(answer)
"""


class Machine:
    """A machine with some GPUs, and what its harness was asked for."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._folder = folder
        self.environ = {
            **os.environ,
            "CUDAOPT_HARNESS": str(folder / "harness"),
            "XDG_CACHE_HOME": str(cache),
        }
        self.environ.pop("PYTEST_XDIST_WORKER", None)
        self.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def has(self, gpus: int, complaint: str = "the driver finds no GPU") -> None:
        text = MACHINE.replace("GPUS", str(gpus)).replace("COMPLAINT", repr(complaint))
        program = self._folder / "harness"
        program.write_text(f"#!{sys.executable}\n{text.replace('LOG', repr(str(self._folder / 'log')))}")
        program.chmod(0o755)

    def open(self, selector: str = "auto", **environ: str) -> Device:
        return open_device(selector, environ={**self.environ, **environ})

    @property
    def asked(self) -> list[str]:
        return [line.split()[1] for line in (self._folder / "log").read_text().splitlines()]

    @property
    def processes(self) -> int:
        return len({line.split()[0] for line in (self._folder / "log").read_text().splitlines()})


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "driver_version", lambda environ: None)


@pytest.fixture
def machine(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a driver for CUDA 13.0 and one GPU."""
    monkeypatch.setattr(driver, "driver_version", lambda environ: (13, 0))
    monkeypatch.setattr(gpu_state, "count", lambda: None)
    made = Machine(tmp_path, shared_cache)
    made.has(1)
    return made


def test_the_simulator_opens_and_says_what_it_models(sim: Device) -> None:
    assert sim.selector == "sim"
    assert "h200" in sim.description
    assert sim.limits.max_threads_per_block == 1024
    assert sim.limits.architecture == "sm_90"
    assert sim.note == ""


def test_auto_without_a_driver_is_the_simulator_and_says_so(no_driver: None) -> None:
    with open_device("auto") as device:
        assert device.selector == "sim"
        assert device.note == "auto: sim, no CUDA driver (libcuda.so.1)"


@pytest.mark.parametrize("selector", ["", "gpu", "cuda", "cuda:", "cuda:x", "sim:0", "SIM"])
def test_an_unknown_device_lists_the_known_ones(selector: str) -> None:
    with pytest.raises(EnvironmentFault, match=r"expected auto, sim or cuda:N \(such as cuda:0\), got"):
        open_device(selector)


def test_a_gpu_without_a_driver_is_refused_and_sim_is_offered(no_driver: None) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        open_device("cuda:0")
    assert "device 'cuda:0': expected an NVIDIA GPU and its driver, got no CUDA driver" in str(caught.value)
    assert "Use --cudaopt-device sim" in str(caught.value)


def test_a_driver_that_is_named_and_none_is_shown() -> None:
    with pytest.raises(EnvironmentFault, match=r"got CUDAOPT_DRIVER=/absent.so, which is none that works"):
        open_device("cuda:0", environ={**os.environ, "CUDAOPT_DRIVER": "/absent.so"})


def test_auto_is_the_first_gpu_where_there_is_one(machine: Machine) -> None:
    with machine.open() as device:
        assert device.selector == "cuda:0"
        assert device.note == "auto: cuda:0"
        assert device.limits.gpu is not None
    assert machine.asked == ["cuda:0"]


def test_a_gpu_that_cannot_be_opened_is_told_and_costs_no_second_process(machine: Machine) -> None:
    machine.has(0, "the GPU's memory has an uncorrectable error. Use another.")
    with machine.open() as device:
        assert device.selector == "sim"
        assert device.note == (
            "auto: sim, cuda:0 cannot be opened: the GPU's memory has an uncorrectable error"
        )
    assert machine.asked == ["cuda:0", "sim"]
    assert machine.processes == 1


def test_a_gpu_that_was_asked_for_is_never_replaced(machine: Machine) -> None:
    machine.has(2, "cuda:3: 2 GPUs are visible. Use a number below 2.")
    with pytest.raises(EnvironmentFault) as caught:
        machine.open("cuda:3")
    assert str(caught.value) == (
        "device 'cuda:3': expected a device that can be opened, "
        "got cuda:3: 2 GPUs are visible. Use a number below 2"
    )
    assert machine.asked == ["cuda:3"]


def test_a_driver_that_is_too_old_is_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "driver_version", lambda environ: (11, 8))
    with machine.open() as device:
        assert device.selector == "sim"
        assert (
            "auto: sim, there is a CUDA driver, but: CUDA driver: expected one for CUDA 12.0" in device.note
        )
    with pytest.raises(EnvironmentFault, match=r"CUDA driver: expected .* got one for CUDA 11.8"):
        machine.open("cuda:0")
    assert machine.asked == ["sim"]


@pytest.mark.parametrize(
    ("worker", "visible", "count", "asked"),
    [
        ("gw0", "0,1", None, ["cuda:0"]),
        ("gw3", "0,1", None, ["cuda:1"]),
        ("gw2", None, 2, ["cuda:0"]),
        ("gw1", None, None, ["cuda:0"]),
        # Listed, but not there.
        ("gw2", "0,1,7", None, ["cuda:2", "cuda:0"]),
        ("gw1", "", 8, ["cuda:0"]),
        ("master", "0,1", None, ["cuda:0"]),
    ],
)
def test_workers_spread_over_the_visible_gpus(
    machine: Machine,
    worker: str,
    visible: str | None,
    count: int | None,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine.has(2)
    monkeypatch.setattr(gpu_state, "count", lambda: count)
    listed = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    with machine.open(PYTEST_XDIST_WORKER=worker, **listed) as device:
        assert device.selector == asked[-1]
    assert machine.asked == asked


def test_a_worker_keeps_to_the_gpu_that_was_asked_for(machine: Machine) -> None:
    machine.has(2)
    with machine.open("cuda:0", PYTEST_XDIST_WORKER="gw1", CUDA_VISIBLE_DEVICES="0,1") as device:
        assert device.selector == "cuda:0"


def test_a_required_gpu_that_is_missing_says_why(no_driver: None) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        open_required(resolve({"require": "gpu"}, {}, {}))
    assert "--cudaopt-require=gpu: expected kernels to run on a GPU" in str(caught.value)
    assert "(auto: sim, no CUDA driver (libcuda.so.1))" in str(caught.value)


def test_a_required_gpu_that_is_there_is_opened(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module.os, "environ", machine.environ)
    monkeypatch.setattr(device_module, "open_device", lambda selector, threads: machine.open(selector))
    with open_required(resolve({"require": "gpu"}, {}, {})) as device:
        assert device.selector == "cuda:0"


MEASURE = Measure("m", "k", (1, 1, 1), (1, 1, 1), ())


@pytest.mark.parametrize(
    ("steps", "turns"),
    [
        ((Compile("m"),), []),
        ((AskLimits(),), []),
        ((Compile("m"), Load("m"), Fill("x", "00")), ["shared"]),
        ((Load("m"), MEASURE), ["alone"]),
    ],
)
def test_a_request_that_times_has_the_gpu_alone(
    machine: Machine, steps: tuple[Step, ...], turns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    @contextmanager
    def held(lock: GpuLock, *, alone: bool) -> Iterator[None]:
        assert lock.uuid == "GPU-0"
        taken.append("alone" if alone else "shared")
        yield

    monkeypatch.setattr(GpuLock, "held", held)
    with machine.open("cuda:0") as device:
        device.ask(replace(device.new_request("x"), steps=steps))
        device.ask(replace(device.new_request("x"), steps=steps, device="sim"))
    assert taken == turns


def test_a_simulator_waits_for_nobody(sim: Device) -> None:
    assert sim.gpu_lock is None
    assert sim.gpu_state() is None


def test_the_state_of_a_gpu_is_asked_with_our_harness(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(gpu_state, "read", lambda *arguments: asked.append(arguments))
    with machine.open("cuda:0") as device:
        device.gpu_state()
        assert asked == [("GPU-0", device.harness.pid)]


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(HarnessError, match="h2000"):
        open_device("sim", model="h2000")


def test_requests_carry_fresh_nonces_and_the_scratch_folder(sim: Device) -> None:
    first, second = sim.new_request("a"), sim.new_request("a")
    assert first.nonce != second.nonce
    assert first.directory == str(sim.scratch)
    assert first.device == "sim"


def test_closing_removes_the_scratch_folder() -> None:
    with open_device("sim") as device:
        (device.scratch / "array.bin").write_bytes(b"1")
        assert device.scratch.is_dir()
    assert not device.scratch.exists()
    device.close()


def test_a_device_that_cannot_be_opened_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def make() -> tuple[Path, int]:
        made.append(scratch.make_scratch())
        return made[-1]

    monkeypatch.setattr(device_module, "make_scratch", make)
    with pytest.raises(HarnessError):
        open_device("sim", model="h2000")
    assert len(made) == 1
    assert not made[0][0].exists()


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (FindingKind.NO_NVRTC, "NVRTC: got no library. Install it: pip install"),
        (FindingKind.IO_ERROR, "scratch files: got no library. Free some space"),
        (FindingKind.NO_DEVICE, "device 'sim': expected a device that can be opened, got no library"),
    ],
)
def test_a_fault_of_the_machine_raises(sim: Device, kind: FindingKind, complaint: str) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        _answering(sim, kind).ask(sim.new_request("x"))
    assert complaint in str(caught.value)


def test_a_fault_of_the_kernel_is_an_answer(sim: Device) -> None:
    answer = _answering(sim, FindingKind.TRAP).ask(replace(sim.new_request("x"), steps=(AskLimits(),)))
    assert answer.fault is not None


def _answering(sim: Device, kind: FindingKind) -> Device:
    answer = Answer("x", "n", AnswerStatus.FAULT, "sim", fault=Finding(kind, "no library"))
    return replace(sim, harness=SimpleNamespace(ask=lambda request: answer), _lock=-1)
