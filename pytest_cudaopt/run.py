"""Run a compiled candidate at one case, for its outputs: one request, so that a fault has one cause.

A GPU sees less than `sim`: it launches a second time on another poison, and `sim` can be asked for the place
of a fault, or whether there is one behind a wrong result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_request import GUARD_BYTES, base_request, check_steps, guarded, launch_step
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.contents import remove
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError, HarnessError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.localise import fault_behind, localise
from pytest_cudaopt.outputs import (
    AGAIN,
    Outputs,
    empty_outputs,
    output_files,
    read_changed,
    read_outputs,
)
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Compile, Load, Request
from pytest_cudaopt.stray import stray_write


@dataclass(frozen=True)
class RunResult:
    """What a run left: outputs in the stored dtype, or the fault that ended it.

    `counters` are there where the device counts; `outputs_again` are those of a GPU's second launch, if a bit
    of them differs. `printed` is what the kernel printed, where the device shows it.
    """

    outputs: Outputs | None
    fault: Finding | None = None
    counters: Mapping[str, Any] | None = None
    outputs_again: Outputs | None = None
    printed: str = ""


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
    static_shared_bytes = compiled.resources_of(prepared.instance).static_shared_bytes
    if (broken := _broken_limit(launch, static_shared_bytes, device)) is not None:
        return Finding(FindingKind.INVALID_LAUNCH, f"'{rule}' with {values} gives {launch}: {broken}")
    if launch.is_empty and prepared.output_elements:
        message = f"'{rule}' with {values} launches nothing, but the outputs are not empty"
        return Finding(FindingKind.INVALID_LAUNCH, message)
    return launch


def run(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, device: Device, budget: Budget
) -> RunResult:
    """Launch on poisoned outputs between guards, on a GPU twice, and read every output back."""
    if launch.is_empty:
        return RunResult(empty_outputs(prepared))
    request = base_request(prepared, compiled, "check", device, budget)
    files = output_files(prepared, device, request)
    again = output_files(prepared, device, request, AGAIN) if device.is_gpu else {}
    steps = check_steps(prepared, compiled, launch, device, _texts(files), _texts(again))
    try:
        answer = device.ask(replace(request, steps=(Load(compiled.module.name), *steps)))
        result = _result(answer, files, again, prepared)
    finally:
        remove((*files.values(), *again.values()))
    return result


def fault_on_sim(
    found: Finding | None,
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    budget: Budget,
) -> Finding | None:
    """Return a GPU's fault with the place that `sim` finds; of None, the fault behind a wrong result if any.

    As it was found where there is no GPU.
    """
    if not device.is_gpu:
        return found
    request = base_request(prepared, compiled, "check", device, budget)
    once = _for_sim(request, prepared, compiled, launch)
    return fault_behind(once, device) if found is None else localise(found, once, device)


def _texts(files: Mapping[str, Path]) -> dict[str, str]:
    return {name: str(file) for name, file in files.items()}


def _for_sim(
    request: Request, prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration
) -> Request:
    """Return one launch of the case that compiles first: what a GPU runs has no line tables."""
    module = compiled.source.name
    steps = (Compile(module), Load(module), launch_step(prepared, compiled, launch))
    return replace(request, modules=(compiled.source,), steps=steps)


def _result(
    answer: Answer, files: Mapping[str, Path], again: Mapping[str, Path], prepared: PreparedCase
) -> RunResult:
    if answer.fault is not None:
        return RunResult(None, fault=answer.fault, printed=answer.printed)
    checks = [step for step in answer.steps if step.do == "read_guards"]
    launches = [step for step in answer.steps if step.do == "launch"]
    for name, check in zip(guarded(prepared) * len(launches), checks, strict=True):
        if not check.intact:
            message = f"wrote within {GUARD_BYTES} bytes before or after '{name}'"
            fault = Finding(FindingKind.ILLEGAL_ADDRESS, message, buffer=name, access="write")
            return RunResult(None, fault=fault)
    if not launches:
        raise HarnessError(f"answer '{answer.id}'", expected="a 'launch' step", got="none")
    outputs = read_outputs(files, prepared)
    changed = _changed(answer, again)
    if (stray := stray_write(prepared, files, again, changed)) is not None:
        return RunResult(None, fault=stray)
    other = read_changed(again, prepared, outputs, changed)
    return RunResult(outputs, counters=launches[0].counters, outputs_again=other, printed=launches[0].printed)


def _changed(answer: Answer, again: Mapping[str, Path]) -> list[str]:
    """Return the outputs that a second launch left other than the first."""
    reads = [step for step in answer.steps if step.do == "read" and step.changed is not None]
    return [name for name, read in zip(again, reads, strict=True) if read.changed]


def _broken_limit(launch: LaunchConfiguration, static_shared_bytes: int, device: Device) -> str | None:
    limits = device.limits
    x, y, z = launch.block
    shared = static_shared_bytes + launch.shared_bytes
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
            f"({static_shared_bytes} static), {allows} {limits.max_shared_bytes}"
        )
    return None
