"""A device to judge on: its harness process, its limits, and a scratch folder for arrays."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from pytest_cudaopt import harness, toolchain
from pytest_cudaopt.answers import Answer, Limits
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.protocol import AskLimits, Request, SimOptions
from pytest_cudaopt.settings import DEVICE_SELECTOR, Settings
from pytest_cudaopt.toolchain import Toolchain

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only inside a folder made by mkdtemp
# Containers often get 64 MB of it, too little for one large array.
_LEAST_SHARED_MEMORY_BYTES = 1 << 30
_SCRATCH_PREFIX = "cudaopt-"
_LOCK = "lock"


@dataclass(frozen=True, eq=False)
class Device:
    """An opened device.

    `selector` is what requests name (`sim`, `cuda:0`), `description` what the harness calls it; `note`
    says how `auto` was decided.
    """

    selector: str
    description: str
    limits: Limits
    harness: Harness
    toolchain: Toolchain
    scratch: Path
    sim: SimOptions = field(default_factory=SimOptions)
    note: str = ""
    _lock: int = field(default=-1, repr=False)

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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

        Raises EnvironmentFault for a missing NVRTC or device, or files that cannot be written.
        """
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
            raise _unavailable(self.selector, fault)
        return answer

    def close(self) -> None:
        """End the harness and remove the scratch folder."""
        self.harness.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            object.__setattr__(self, "_lock", -1)


def open_device(
    selector: str, *, threads: int = 0, model: str = "h200", environ: Mapping[str, str] = os.environ
) -> Device:
    """Open `auto`, `sim` or `cuda:N`; `threads` of 0 means all cores, `model` names the GPU `sim` models.

    Raises EnvironmentFault for an unknown or absent device, no NVRTC, or no harness.
    """
    if not DEVICE_SELECTOR.match(selector):
        raise EnvironmentFault("device", expected="auto, sim or cuda:N (such as cuda:0)", got=f"'{selector}'")
    chosen = "sim" if selector == "auto" else selector
    note = "auto: sim, since this version does not run on GPUs yet" if selector == "auto" else ""
    tools = toolchain.find_toolchain(environ)
    process = Harness(harness.locate(environ), Path(tools.nvrtc))
    scratch, lock = _make_scratch()
    try:
        sim = SimOptions(threads=threads, model=model)
        description, limits = _ask_limits(process, chosen, sim)
        return Device(chosen, description, limits, process, tools, scratch, sim, note, lock)
    except BaseException:
        process.close()
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(lock)
        raise


def open_required(settings: Settings) -> Device:
    """Open the device `settings` asks for; raise EnvironmentFault if it is not the required kind."""
    device = open_device(settings.device, threads=settings.threads)
    if "gpu" in settings.require and not device.selector.startswith("cuda"):
        description = device.description
        device.close()
        raise EnvironmentFault(
            "--cudaopt-require=gpu",
            expected="kernels to run on a GPU",
            got=f"{description}, chosen by --cudaopt-device={settings.device}",
            next_step="Run where there is a GPU, or leave the requirement out",
        )
    return device


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
    is_absent = fault.kind is FindingKind.NO_DEVICE
    return EnvironmentFault(
        f"device '{selector}'",
        expected="a device that can be opened",
        got=fault.message if is_absent else f"{fault.kind}: {fault.message}",
        next_step="Use --cudaopt-device sim, which needs no GPU" if selector != "sim" else None,
    )


def _make_scratch() -> tuple[Path, int]:
    parent = _scratch_parent()
    _remove_abandoned(parent)
    try:
        while True:
            folder = Path(tempfile.mkdtemp(prefix=_SCRATCH_PREFIX, dir=parent))
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / _LOCK).exists():
                return folder, lock
            # Another process took it for abandoned before it was locked.
            os.close(lock)
    except OSError as error:
        raise EnvironmentFault(
            f"scratch folder in {parent}",
            expected="a folder that can be written",
            got=error.strerror or str(error),
            next_step="Free some space, or point TMPDIR at another folder",
        ) from error


def _scratch_parent() -> Path:
    fallback = Path(tempfile.gettempdir())
    try:
        roomy = shutil.disk_usage(_SHARED_MEMORY).free >= _LEAST_SHARED_MEMORY_BYTES
    except OSError:
        return fallback
    return _SHARED_MEMORY if roomy and os.access(_SHARED_MEMORY, os.W_OK | os.X_OK) else fallback


def _remove_abandoned(parent: Path) -> None:
    """Remove scratch folders of killed processes: nobody holds their lock any more."""
    for folder in parent.glob(f"{_SCRATCH_PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            # Somebody else's, or one that is being made just now.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)
