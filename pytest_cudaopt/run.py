"""Run a compiled candidate at one case, for its outputs: one request, so that a fault has one cause."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError, HarnessError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.parameters import Parameter, Role
from pytest_cudaopt.prepare import PreparedCase
from pytest_cudaopt.protocol import (
    Access,
    Argument,
    Buffer,
    BufferArgument,
    Launch,
    Load,
    Read,
    ReadGuards,
    Request,
    ScalarArgument,
    Step,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Repeated 2 bytes that are a NaN in f16, bf16, f32 and f64, no valid bool, and an unlikely integer.
POISON = "f97f"
# A neighbour's element, or a vector load of 16 bytes past the end, lands inside.
GUARD_BYTES = 256
_ACCESS = {
    Role.IN: Access.READ,
    Role.OUT: Access.READ_WRITE,
    Role.INOUT: Access.READ_WRITE,
    Role.SCRATCH: Access.READ_WRITE,
}


@dataclass(frozen=True)
class RunResult:
    """What a run left: outputs in the stored dtype, or the fault that ended it.

    `counters` are there where the device counts.
    """

    outputs: Mapping[str, NDArray[Any]] | None
    fault: Finding | None = None
    counters: Mapping[str, Any] | None = None


def configure(
    candidate: Candidate, prepared: PreparedCase, compiled: Compiled, device: Device
) -> LaunchConfiguration | Finding:
    """Return the launch of `candidate` at the case, or the finding that says why there is none."""
    sizes = prepared.arguments.sizes
    try:
        launch = candidate.configure(sizes)
    except CudaoptError as error:
        return Finding(FindingKind.INVALID_LAUNCH, str(error))
    rule = "; ".join(candidate.launch.directives())
    values = ", ".join(f"{name}={value}" for name, value in {**sizes, **candidate.chosen}.items())
    if (broken := _broken_limit(launch, compiled, device)) is not None:
        return Finding(FindingKind.INVALID_LAUNCH, f"'{rule}' with {values} gives {launch}: {broken}")
    if launch.is_empty and prepared.output_elements:
        message = f"'{rule}' with {values} launches nothing, but the outputs are not empty"
        return Finding(FindingKind.INVALID_LAUNCH, message)
    return launch


def run(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, device: Device, budget: Budget
) -> RunResult:
    """Launch once on poisoned outputs between guards, and read every output back."""
    outputs = [p for p in prepared.kernel.parameters if p.is_output]
    if launch.is_empty:
        return RunResult({p.name: _empty(p, prepared) for p in outputs})
    request = base_request(prepared, compiled, "check", device, budget)
    files = {p.name: device.scratch / f"{request.nonce}-{p.name}.bin" for p in outputs}
    request = replace(request, steps=_check_steps(prepared, compiled, launch, files))
    try:
        answer = device.ask(request)
        return _result(answer, outputs, files, prepared)
    finally:
        for file in files.values():
            file.unlink(missing_ok=True)


def base_request(
    prepared: PreparedCase, compiled: Compiled, purpose: str, device: Device, budget: Budget
) -> Request:
    """Return a request with the module and every buffer of the case, and no steps yet."""
    request = device.new_request(f"{prepared.kernel.name}/{purpose}/{prepared.case}")
    sim = request.sim
    if budget.block_instructions is not None:
        sim = replace(sim, block_instructions=budget.block_instructions)
    return replace(
        request,
        sim=sim,
        timeout_s=budget.timeout_s,
        modules=(compiled.module,),
        buffers=tuple(_buffer(p, prepared) for p in prepared.kernel.parameters if p.is_array),
    )


def launch_step(prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration) -> Launch:
    """Return the step that launches the case."""
    return Launch(
        module=compiled.module.name,
        entry=compiled.entry,
        grid=launch.grid,
        block=launch.block,
        arguments=tuple(_argument(p, prepared) for p in prepared.kernel.parameters),
        shared_bytes=launch.shared_bytes,
    )


def _check_steps(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, files: Mapping[str, Path]
) -> tuple[Step, ...]:
    return (
        Load(compiled.module.name),
        launch_step(prepared, compiled, launch),
        *(ReadGuards(name) for name in _guarded(prepared)),
        *(Read(name, str(file)) for name, file in files.items()),
    )


def _guarded(prepared: PreparedCase) -> list[str]:
    """Return the arrays whose guards are read: a write near an input is left to the device."""
    return [p.name for p in prepared.kernel.parameters if p.is_array and p.role is not Role.IN]


def _result(
    answer: Answer, outputs: list[Parameter], files: Mapping[str, Path], prepared: PreparedCase
) -> RunResult:
    if answer.fault is not None:
        return RunResult(None, answer.fault)
    checks = [step for step in answer.steps if step.do == "read_guards"]
    for name, check in zip(_guarded(prepared), checks, strict=True):
        if not check.intact:
            message = f"wrote within {GUARD_BYTES} bytes before or after '{name}'"
            return RunResult(None, Finding(FindingKind.ILLEGAL_ADDRESS, message, buffer=name, access="write"))
    launched = answer.step("launch")
    read = {p.name: _read(files[p.name], p, prepared) for p in outputs}
    return RunResult(read, counters=launched.counters)


def _read(file: Path, parameter: Parameter, prepared: PreparedCase) -> NDArray[Any]:
    import numpy as np

    shape = prepared.arguments.shapes[parameter.name]
    try:
        raw = np.fromfile(file, dtype=np.uint8)
        return raw.view(parameter.dtype.numpy).reshape(shape)
    except (OSError, ValueError) as error:
        raise HarnessError(
            f"output '{parameter.name}'", expected=f"a file of shape {shape}", got=str(error)
        ) from error


def _empty(parameter: Parameter, prepared: PreparedCase) -> NDArray[Any]:
    import numpy as np

    return np.empty(prepared.arguments.shapes[parameter.name], dtype=parameter.dtype.numpy)


def _buffer(parameter: Parameter, prepared: PreparedCase) -> Buffer:
    elements = math.prod(prepared.arguments.shapes[parameter.name])
    file = prepared.files.get(parameter.name)
    return Buffer(
        name=parameter.name,
        bytes=elements * parameter.dtype.itemsize,
        access=_ACCESS[parameter.role],
        element_bytes=parameter.dtype.itemsize,
        guard_bytes=GUARD_BYTES,
        initial_file=None if file is None else str(file),
        poison=POISON,
    )


def _argument(parameter: Parameter, prepared: PreparedCase) -> Argument:
    if parameter.is_array:
        return BufferArgument(parameter.name)
    return ScalarArgument.of(parameter.dtype, prepared.arguments.scalars[parameter.name])


def _broken_limit(launch: LaunchConfiguration, compiled: Compiled, device: Device) -> str | None:
    limits = device.limits
    x, y, z = launch.block
    shared = compiled.resources.static_shared_bytes + launch.shared_bytes
    allows = f"{limits.name} allows"
    if x * y * z > limits.max_threads_per_block:
        return f"{x * y * z} threads per block, {allows} {limits.max_threads_per_block}"
    for field, extents, most in (
        ("block", launch.block, limits.max_block),
        ("grid", launch.grid, limits.max_grid),
    ):
        for axis, extent, limit in zip("xyz", extents, most, strict=True):
            if extent > limit:
                return f"{field}.{axis} is {extent}, {allows} {limit}"
    if shared > limits.max_shared_bytes:
        return (
            f"{shared} bytes of shared memory per block "
            f"({compiled.resources.static_shared_bytes} static), {allows} {limits.max_shared_bytes}"
        )
    return None
