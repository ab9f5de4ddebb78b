"""The machine whose numbers a device's are: what they depend on besides the source."""

from __future__ import annotations

from pytest_cudaopt import gpu_state
from pytest_cudaopt.device import Device
from pytest_cudaopt.recorded import Machine


def machine_of(device: Device) -> Machine:
    """Return what `device` is, without its number: equal for two of the same kind."""
    gpu = device.limits.gpu if device.is_gpu else None
    return Machine(
        device=device.limits.name,
        architecture=device.limits.architecture,
        toolkit=_dotted(device.toolchain.version),
        # Releases of one CUDA version differ; without NVML that version is all there is to know.
        driver=None if gpu is None else gpu_state.driver_release() or _dotted(gpu.driver),
        model=None if device.is_gpu else device.harness.version.model,
    )


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
