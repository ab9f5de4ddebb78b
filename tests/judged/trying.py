"""Launch a kernel on `sim` at a trigger, and say what is wrong with what it did."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from triggers import Trigger

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.contents import remove
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.outputs import output_files, read_outputs
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Access, Buffer, Load, Read, Reset, Step, Write
from pytest_cudaopt.run import configure
from pytest_cudaopt.values import as_source

# Kernels that hang do so soon.
BUDGET = Budget(block_instructions=5_000_000)
_SEEDS = (11, 12)


def wrong_at(kernel: Kernel, candidate: Candidate, trigger: Trigger, sim: Device) -> str:
    """Return the kind of fault, or "wrong_result"; nothing if the launch is right."""
    drawn = with_values(kernel, trigger)
    first, last = (prepare(drawn, replace(trigger.case, seed=seed), sim) for seed in _SEEDS)
    compiled = compile_candidate(drawn, candidate, sim, BUDGET, (trigger.case,))
    assert isinstance(compiled, Compiled), compiled
    launch = configure(candidate, last, compiled, sim)
    if isinstance(launch, Finding):
        return launch.kind
    if launch.is_empty:
        return ""
    request = base_request(first, compiled, "trigger", sim, BUDGET)
    buffers = tuple(_placed(buffer, trigger) for buffer in request.buffers)
    step = launch_step(last, compiled, launch)
    files = output_files(last, sim, request)
    steps: list[Step] = [Load(compiled.module.name)]
    for _ in range(trigger.before):
        steps += [step, Reset()]
    steps += [*_contents(last), step, *(Read(name, str(file)) for name, file in files.items())]
    with ExitStack() as cleaning:
        cleaning.callback(remove, files.values())
        answer = sim.ask(replace(request, buffers=buffers, steps=tuple(steps)))
        if answer.fault is not None:
            return answer.fault.kind
        outputs = read_outputs(files, last)
    return "" if compare_outputs(drawn, last.expected, outputs).holds else "wrong_result"


def with_values(kernel: Kernel, trigger: Trigger) -> Kernel:
    """Return the kernel as if the trigger's contents had been declared."""
    parameters = (
        replace(p, values=as_source(trigger.values[p.name])) if p.name in trigger.values else p
        for p in kernel.parameters
    )
    return replace(kernel, parameters=tuple(parameters))


def _contents(prepared: PreparedCase) -> list[Step]:
    drawn = (p for p in prepared.present if p.is_array and p.role in (Role.IN, Role.INOUT))
    return [Write(p.name, str(prepared.files[p.name])) for p in drawn if p.name in prepared.files]


def _placed(buffer: Buffer, trigger: Trigger) -> Buffer:
    if buffer.name in trigger.misaligned:
        return replace(buffer, offset_bytes=buffer.element_bytes)
    if buffer.name in trigger.alias.values():
        return replace(buffer, access=Access.READ_WRITE)
    if buffer.name in trigger.alias:
        return replace(buffer, alias=trigger.alias[buffer.name], poison=None, guard_bytes=0)
    return buffer
