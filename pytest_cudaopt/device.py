"""A device to judge on: which one, its harness process, its limits, a scratch folder, turns on a GPU."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType

from pytest_cudaopt import driver, gpu_state, harness, toolchain
from pytest_cudaopt.answers import Answer, Limits
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gpu_lock import GpuLock, lock_of
from pytest_cudaopt.gpu_state import GpuState
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.option_text import DEVICE_SELECTOR
from pytest_cudaopt.protocol import AskLimits, Request, SimOptions
from pytest_cudaopt.scratch import make_scratch, remove_scratch
from pytest_cudaopt.settings import Settings
from pytest_cudaopt.toolchain import Toolchain

_FIRST_GPU = "cuda:0"
# Timed beside another's kernels, their times would be wrong.
_TIMING = frozenset({"measure", "interleave"})
_OFF_THE_GPU = frozenset({"compile", "limits"})
_XDIST_WORKER = re.compile(r"^gw(\d+)$")
_USE_SIM = "Use --cudaopt-device sim, which needs no GPU"


@dataclass(frozen=True, eq=False)
class Device:
    """An opened device.

    `selector` is what requests name (`sim`, `cuda:0`), `description` what the harness calls it. `note` says
    how `auto` was decided; `missed_gpu` that it passed over a GPU, which somebody should look at. `gpu_lock`
    gives turns on a GPU (None on `sim`, or where no file can be locked).
    """

    selector: str
    description: str
    limits: Limits
    harness: Harness
    toolchain: Toolchain
    scratch: Path
    sim: SimOptions = field(default_factory=SimOptions)
    note: str = ""
    missed_gpu: bool = False
    gpu_lock: GpuLock | None = None
    _lock: int = field(default=-1, repr=False)

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_gpu(self) -> bool:
        """Whether kernels run on silicon."""
        return self.selector.startswith("cuda")

    @cached_property
    def on_sim(self) -> Device:
        """`sim` in the same process, with the same scratch folder: what it is asked needs no turn on a GPU.

        Its limits stay those of the device, so that it executes the same launches. Closing is left to the
        device itself.
        """
        return replace(self, selector="sim", description="sim") if self.is_gpu else self

    def new_request(self, id: str) -> Request:
        """Return a request without steps, with a fresh nonce, resolving files in the scratch folder."""
        return Request(
            id=id,
            nonce=secrets.token_hex(8),
            device=self.selector,
            steps=(),
            directory=str(self.scratch),
            sim=self.sim,
        )

    def ask(self, request: Request) -> Answer:
        """Return the harness's answer; a fault of the machine's raises instead.

        Waits for its turn on a GPU. Raises EnvironmentFault for a missing NVRTC or device, or files that
        cannot be written.
        """
        with self._turn(request):
            answer = self.harness.ask(request)
        fault = answer.fault
        if fault is not None and fault.kind is FindingKind.NO_NVRTC:
            raise EnvironmentFault("NVRTC", got=fault.message, next_step=f"Install it: {toolchain.INSTALL}")
        if fault is not None and fault.kind is FindingKind.IO_ERROR:
            raise EnvironmentFault(
                "scratch files",
                got=fault.message,
                next_step="Free some space, or point TMPDIR at another folder",
            )
        if fault is not None and fault.kind is FindingKind.NO_DEVICE:
            raise _unavailable(request.device, fault)
        return answer

    def gpu_state(self) -> GpuState | None:
        """Return what may disturb a measurement now; None on `sim` or without NVML. Takes milliseconds."""
        if self.limits.gpu is None:
            return None
        return gpu_state.read(self.limits.gpu.uuid, self.harness.pid)

    def close(self) -> None:
        """End the harness and remove the scratch folder."""
        self.harness.close()
        remove_scratch(self.scratch, self._lock)
        object.__setattr__(self, "_lock", -1)

    def _turn(self, request: Request) -> AbstractContextManager[None]:
        steps = {step.DO for step in request.steps}
        if self.gpu_lock is None or request.device == "sim" or steps <= _OFF_THE_GPU:
            return nullcontext()
        return self.gpu_lock.held(alone=bool(steps & _TIMING))


def open_device(
    selector: str, *, threads: int = 0, model: str = "h200", environ: Mapping[str, str] = os.environ
) -> Device:
    """Open `auto`, `sim` or `cuda:N`; `threads` of 0 means all cores, `model` names the GPU `sim` models.

    `auto` is a GPU if one can be opened: the first that is visible, or for a worker of pytest-xdist the one
    of its number. Raises EnvironmentFault for an unknown or absent device, no NVRTC, or no harness.
    """
    if not DEVICE_SELECTOR.match(selector):
        raise EnvironmentFault("device", expected="auto, sim or cuda:N (such as cuda:0)", got=f"'{selector}'")
    sim = SimOptions(threads=threads, model=model)
    if selector == "sim":
        return _open(("sim",), toolchain.find_toolchain(environ), sim, environ)
    version = driver.driver_version(environ)
    if selector != "auto":
        if version is None:
            raise _no_driver(selector, environ)
        return _open((selector,), toolchain.find_toolchain(environ, version), sim, environ)
    if version is None:
        absent = f"no CUDA driver ({driver.library(environ)})"
        return _open(("sim",), toolchain.find_toolchain(environ), sim, environ, absent=absent)
    try:
        tools = toolchain.find_toolchain(environ, version)
    except EnvironmentFault as fault:
        # Told in the note: a GPU that stays idle unnoticed would pass for a tested one.
        unusable = f"there is a CUDA driver, but: {fault}"
        return _open(("sim",), toolchain.find_toolchain(environ), sim, environ, unusable=unusable)
    return _open((*_gpus(environ), "sim"), tools, sim, environ)


def open_required(settings: Settings) -> Device:
    """Open the device `settings` asks for; raise EnvironmentFault if it is not the required kind."""
    device = open_device(settings.device, threads=settings.threads)
    if "gpu" in settings.require and not device.is_gpu:
        got = f"{device.description}, chosen by --cudaopt-device={settings.device}"
        device.close()
        raise EnvironmentFault(
            "--cudaopt-require=gpu",
            expected="kernels to run on a GPU",
            got=f"{got} ({device.note})" if device.note else got,
            next_step="Run where there is a GPU, or leave the requirement out",
        )
    return device


def _gpus(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the GPUs `auto` tries, within what CUDA_VISIBLE_DEVICES leaves visible."""
    worker = _XDIST_WORKER.match(environ.get("PYTEST_XDIST_WORKER", ""))
    if worker is None:
        return (_FIRST_GPU,)
    number = driver.visible_count(environ)
    if number is None:
        number = gpu_state.count()
    # Fewer may be visible than are listed or present.
    return tuple(dict.fromkeys((f"cuda:{int(worker[1]) % (number or 1)}", _FIRST_GPU)))


def _open(
    wanted: Sequence[str],
    tools: Toolchain,
    sim: SimOptions,
    environ: Mapping[str, str],
    *,
    absent: str = "",
    unusable: str = "",
) -> Device:
    """Open the first of `wanted` that can be; the last one's fault raises. One process serves all attempts.

    `auto` did not try a GPU where there is none (`absent`), or it cannot be used (`unusable`).
    """
    process = Harness(harness.locate(environ), Path(tools.nvrtc), environ.get(driver.VARIABLE))
    scratch, lock = make_scratch()
    try:
        selector, description, limits, faults = _first_answering(process, wanted, sim)
        is_auto = bool(absent or unusable) or len(wanted) > 1
        reasons = "; ".join(text for text in (absent, unusable, *faults) if text)
        note = f"auto: {selector}{f', {reasons}' if reasons else ''}" if is_auto else ""
        # Hidden ones are left alone on purpose.
        missed = bool(unusable or faults) and driver.visible_count(environ) != 0
        turns = None if limits.gpu is None else lock_of(limits.gpu.uuid, environ)
        return Device(selector, description, limits, process, tools, scratch, sim, note, missed, turns, lock)
    except BaseException:
        process.close()
        remove_scratch(scratch, lock)
        raise


def _first_answering(
    process: Harness, wanted: Sequence[str], sim: SimOptions
) -> tuple[str, str, Limits, list[str]]:
    faults: list[str] = []
    for selector in wanted[:-1]:
        try:
            return selector, *_ask_limits(process, selector, sim), faults
        except EnvironmentFault as fault:
            # Without the harness's next step: there is a device to go on with.
            faults.append(f"{selector} cannot be opened: {(fault.got or '').partition('. ')[0]}")
    return wanted[-1], *_ask_limits(process, wanted[-1], sim), faults


def _ask_limits(process: Harness, selector: str, sim: SimOptions) -> tuple[str, Limits]:
    request = Request("limits", secrets.token_hex(8), selector, (AskLimits(),), timeout_s=60.0, sim=sim)
    answer = process.ask(request)
    if answer.fault is not None:
        raise _unavailable(selector, answer.fault)
    limits = answer.step("limits").limits
    if limits is None:
        raise EnvironmentFault(f"device '{selector}'", expected="its limits", got="no answer")
    return answer.device, limits


def _unavailable(selector: str, fault: Finding) -> EnvironmentFault:
    # The message of an absent device says what to do.
    is_absent = fault.kind is FindingKind.NO_DEVICE
    message = fault.message.rstrip(".")
    return EnvironmentFault(
        f"device '{selector}'",
        expected="a device that can be opened",
        got=message if is_absent else f"{fault.kind}: {message}",
        next_step=None if is_absent or selector == "sim" else _USE_SIM,
    )


def _no_driver(selector: str, environ: Mapping[str, str]) -> EnvironmentFault:
    named = f"{driver.VARIABLE}={driver.library(environ)}, which is none that works"
    return EnvironmentFault(
        f"device '{selector}'",
        expected="an NVIDIA GPU and its driver",
        got=named if environ.get(driver.VARIABLE) else f"no CUDA driver ({driver.library(environ)})",
        next_step=_USE_SIM,
    )
