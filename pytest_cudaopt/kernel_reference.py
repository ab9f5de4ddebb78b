"""Run a kernel as the reference of another one, on the same device and arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt.buffers import FINITE_POISON, poison_of
from pytest_cudaopt.case_request import base_request, guarded, launch_step
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.contents import remove
from pytest_cudaopt.errors import CudaoptError, ReferenceFault, ReferenceUnsupported
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.expectation import Expectation, read_only
from pytest_cudaopt.finding import NOT_JUDGED, Finding
from pytest_cudaopt.outputs import Outputs, empty_outputs, output_files, pattern_at, read_outputs
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.protocol import Load, Read, ReadGuards, Step
from pytest_cudaopt.run import configure
from pytest_cudaopt.stray import stray_write
from pytest_cudaopt.unwritten import settle

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.prepared_case import PreparedCase


def run_reference(prepared: PreparedCase, device: Device) -> Expectation:
    """Return what the kernel's reference, a kernel, writes: each output in its stored dtype.

    Elements it leaves unwritten are found by launching on two poisons. Raises ReferenceFault, which names it,
    for whatever is wrong with it.
    """
    kernel, arguments = prepared.kernel, prepared.arguments
    reference = kernel.reference_kernel
    if reference is None:
        raise TypeError(f"the reference of kernel '{kernel.name}' is no kernel")
    with_reference = replace(prepared, kernel=reference)
    compiled, launch = _compiled(kernel, with_reference, device)
    if launch.is_empty:
        return read_only(arguments, empty_outputs(with_reference), {})
    first = _launch(kernel, with_reference, compiled, launch, device, {})
    poisons = {p.name: poison_of(p.dtype) for p in arguments.outputs if p.role is Role.OUT}
    holding = {
        name: pattern_at(first[name], poison)
        for name, poison in poisons.items()
        if pattern_at(first[name], poison).any()
    }
    if not holding:
        return read_only(arguments, *settle(kernel, arguments, first, {}))
    second = _launch(kernel, with_reference, compiled, launch, device, dict.fromkeys(poisons, FINITE_POISON))
    masks = {name: mask & pattern_at(second[name], FINITE_POISON) for name, mask in holding.items()}
    return read_only(arguments, *settle(kernel, arguments, first, masks))


def _compiled(kernel: Kernel, prepared: PreparedCase, device: Device) -> tuple[Compiled, LaunchConfiguration]:
    try:
        candidate = prepared.kernel.start()
    except CudaoptError as error:
        raise _fault(kernel, error.expected, error.got, error.next_step) from error
    compiled = compile_candidate(prepared.kernel, candidate, device, Budget(), (prepared.case,))
    if isinstance(compiled, CompileFailure):
        errors = [str(d) for d in compiled.diagnostics if d.severity == "error"]
        raise _fault(kernel, "to compile, with the declared signature", _lines(compiled.finding, errors))
    launch = configure(candidate, prepared, compiled, device)
    if isinstance(launch, Finding):
        raise _fault(kernel, "a legal launch", launch.message)
    return compiled, launch


def _launch(
    kernel: Kernel,
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    poisons: Mapping[str, str],
) -> Outputs:
    """Launch once between guards and return the outputs; `poisons` replace what they usually hold before."""
    request = base_request(prepared, compiled, "reference", device, Budget())
    files = output_files(prepared, device, request)
    buffers = tuple(replace(b, poison=poisons.get(b.name, b.poison)) for b in request.buffers)
    guards = guarded(prepared)
    steps: tuple[Step, ...] = (
        Load(compiled.module.name),
        launch_step(prepared, compiled, launch),
        *(ReadGuards(name) for name in guards),
        *(Read(name, str(file)) for name, file in files.items()),
    )
    try:
        answer = device.ask(replace(request, buffers=buffers, steps=steps))
        if answer.fault is not None:
            fault = _fault(kernel, "no fault", _lines(answer.fault, []))
            if answer.fault.kind in NOT_JUDGED:
                raise ReferenceUnsupported(fault.what, got=fault.got, at=fault.at)
            raise fault
        checks = [step for step in answer.steps if step.do == "read_guards"]
        for name, check in zip(guards, checks, strict=True):
            if not check.intact:
                raise _fault(kernel, "no fault", f"a write near '{name}', outside of it")
        outputs = read_outputs(files, prepared)
        # Gaps hold the usual pattern only at the first launch.
        if not poisons and (stray := stray_write(prepared, files)) is not None:
            raise _fault(kernel, "no fault", stray.message)
        return outputs
    finally:
        remove(files.values())


def _lines(finding: Finding, errors: list[str]) -> str:
    if errors:
        return "\n".join(errors)
    place = f" at {finding.file}:{finding.line}" if finding.file and finding.line else ""
    return f"{finding.kind}: {finding.message}{place}"


def _fault(
    kernel: Kernel, expected: str | None, got: str | None, next_step: str | None = None
) -> ReferenceFault:
    return ReferenceFault(
        f"reference '{kernel.reference}' of kernel '{kernel.name}'",
        expected=expected,
        got=got,
        next_step=next_step,
        at=kernel.location,
    )
