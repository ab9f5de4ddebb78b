"""Run a compiled candidate at one case on `sim` with its float64 shadow: one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.contents import remove
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError, ReferenceFault
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.outputs import Outputs, empty_outputs, output_files, read_outputs
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Checks, Load, Read, ReadShadow, Request, Step
from pytest_cudaopt.rounding_error import ErrorSplit, RoundingLoss, Shadow, split_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHADOWED_DTYPES = ("f16", "bf16", "f32", "f64")


@dataclass(frozen=True, eq=False)
class ShadowResult:
    """What a run with a shadow left, or the fault that ended it; `shadows` are those of float outputs.

    `loss` is the instruction that lost most digits, if one lost more than its format does anyway.
    """

    outputs: Outputs | None
    shadows: Mapping[str, Shadow]
    findings: tuple[Finding, ...] = ()
    fault: Finding | None = None
    loss: RoundingLoss | None = None


def run_with_shadow(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    budget: Budget,
    checks: Checks | None = None,
) -> ShadowResult:
    """Launch with `checks.rounding` on a `sim` device, and read every output and its shadow back.

    `checks` adds what else to look for. The module must have been compiled with line tables.
    """
    if launch.is_empty:
        return ShadowResult(empty_outputs(prepared), {})
    request = base_request(prepared, compiled, "shadow", device, budget)
    files = output_files(prepared, device, request)
    shadow_files = _shadow_files(prepared, device, request)
    checks = replace(checks or Checks(), rounding=True)
    steps: tuple[Step, ...] = (
        Load(compiled.module.name),
        replace(launch_step(prepared, compiled, launch), checks=checks),
        *(Read(name, str(file)) for name, file in files.items()),
        *(
            ReadShadow(p.name, p.dtype.name, *(str(file) for file in shadow_files[p.name]))
            for p in shadowed_outputs(prepared)
        ),
    )
    written = (*files.values(), *(file for pair in shadow_files.values() for file in pair))
    try:
        answer = device.ask(replace(request, steps=steps))
        if answer.fault is not None:
            return ShadowResult(None, {}, fault=answer.fault)
        launched = answer.step("launch")
        shadows = {
            p.name: _read_shadow(shadow_files[p.name], p, prepared) for p in shadowed_outputs(prepared)
        }
        return ShadowResult(read_outputs(files, prepared), shadows, launched.findings, loss=launched.rounding)
    finally:
        remove(written)


def shadowed_outputs(prepared: PreparedCase) -> tuple[Parameter, ...]:
    """Return the outputs whose dtype has a shadow."""
    return tuple(p for p in prepared.arguments.outputs if p.dtype.name in SHADOWED_DTYPES)


def split_errors(prepared: PreparedCase, result: ShadowResult) -> tuple[ErrorSplit, ...]:
    """Split the error of every float output that the reference says something about."""
    expected = prepared.expected
    splits = []
    for name, shadow in result.shadows.items():
        if result.outputs is None or name not in expected.arrays:
            continue
        unwritten = expected.unwritten.get(name)
        compared = None if unwritten is None else ~unwritten
        splits.append(split_error(name, result.outputs[name], shadow, expected.arrays[name], compared))
    return tuple(splits)


def rounding_of(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, sim: Device, budget: Budget
) -> tuple[tuple[ErrorSplit, ...], RoundingLoss | None]:
    """Split the errors of a launch, and name the instruction that lost most digits; neither if nobody can.

    Only of declared cases, whose reference runs in any case.
    """
    if prepared.case not in prepared.kernel.cases or not shadowed_outputs(prepared):
        return (), None
    try:
        _ = prepared.expected
    except ReferenceFault:
        # For the check to say.
        return (), None
    result = run_with_shadow(prepared, compiled, launch, sim, budget)
    return ((), None) if result.fault is not None else (split_errors(prepared, result), result.loss)


def _shadow_files(prepared: PreparedCase, device: Device, request: Request) -> dict[str, tuple[Path, Path]]:
    stem = device.scratch / request.nonce
    return {
        p.name: (Path(f"{stem}-{p.name}-shadow.bin"), Path(f"{stem}-{p.name}-states.bin"))
        for p in shadowed_outputs(prepared)
    }


def _read_shadow(files: tuple[Path, Path], parameter: Parameter, prepared: PreparedCase) -> Shadow:
    import numpy as np

    values, states = files
    return Shadow(
        _shaped(np.fromfile(values, np.float64), parameter, prepared),
        _shaped(np.fromfile(states, np.uint8), parameter, prepared),
    )


def _shaped(stored: NDArray[Any], parameter: Parameter, prepared: PreparedCase) -> NDArray[Any]:
    shape = prepared.arguments.shapes[parameter.name]
    layout = prepared.arguments.layouts.get(parameter.name)
    try:
        return stored.reshape(shape) if layout is None else layout.gather(stored)
    except ValueError as error:
        raise HarnessError(
            f"shadow of '{parameter.name}'", expected=f"a file of shape {shape}", got=str(error)
        ) from error
