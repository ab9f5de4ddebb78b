"""One case as a request: module, buffers, the launch, and what checks it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pytest_cudaopt.buffers import FINITE_POISON, poison_of
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.formals import Formal, StructLayout, constants, formals
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.parameters import Parameter, Role
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import (
    Access,
    Argument,
    Buffer,
    BufferArgument,
    BufferMember,
    Launch,
    MemberArgument,
    NullArgument,
    NullMember,
    Read,
    ReadGuards,
    Request,
    Reset,
    ScalarArgument,
    ScalarMember,
    Step,
    StructArgument,
    SymbolWrite,
)

# A neighbour's element, or a vector load of 16 bytes past the end, lands inside.
GUARD_BYTES = 256
_ACCESS = {
    Role.IN: Access.READ,
    Role.OUT: Access.READ_WRITE,
    Role.INOUT: Access.READ_WRITE,
    Role.SCRATCH: Access.READ_WRITE,
}


def base_request(
    prepared: PreparedCase,
    compiled: Compiled,
    purpose: str,
    device: Device,
    budget: Budget,
    guard_bytes: int = GUARD_BYTES,
) -> Request:
    """Return a request with the module and every buffer of the case, and no steps yet."""
    request = device.new_request(f"{prepared.kernel.name}/{purpose}/{prepared.case}")
    sim = request.sim
    if budget.block_instructions is not None:
        sim = replace(sim, block_instructions=budget.block_instructions)
    return replace(
        request,
        sim=sim,
        timeout_s=budget.launching_timeout_s,
        modules=(compiled.module,),
        buffers=_buffers(prepared, guard_bytes),
    )


def launch_step(prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration) -> Launch:
    """Return the step that launches the case."""
    return Launch(
        module=compiled.module.name,
        entry=compiled.entry_of(prepared.instance),
        grid=launch.grid,
        block=launch.block,
        arguments=tuple(_argument(formal, prepared) for formal in formals(prepared.instance.parameters)),
        shared_bytes=launch.shared_bytes,
        cluster=launch.cluster,
        cooperative=launch.cooperative,
        symbols=tuple(
            SymbolWrite(p.symbol, p.name) for p in constants(prepared.instance.parameters) if p.symbol
        ),
    )


def check_steps(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    files: Mapping[str, str],
    again: Mapping[str, str],
) -> tuple[Step, ...]:
    """Return what checks a loaded module: the launch, its guards, its outputs into `files`.

    On a GPU, which sees a guard, or an element left unwritten, only by what was there before, a second launch
    follows on another poison, those of its outputs that differ into `again`.
    """
    launched: tuple[Step, ...] = (
        launch_step(prepared, compiled, launch),
        *(ReadGuards(name) for name in guarded(prepared)),
    )
    once = (*launched, *(Read(name, file) for name, file in files.items()))
    if not device.is_gpu:
        return once
    reads = (Read(name, file, if_changed=True) for name, file in again.items())
    return (*once, Reset(FINITE_POISON), *launched, *reads)


def guarded(prepared: PreparedCase) -> list[str]:
    """Return the arrays whose guards are read: a write near an input is left to the device."""
    shared = dict(prepared.case.alias)
    return [p.name for p in prepared.present if p.is_array and p.role is not Role.IN and p.name not in shared]


def _buffers(prepared: PreparedCase, guard_bytes: int) -> tuple[Buffer, ...]:
    buffers = [_buffer(p, prepared, guard_bytes) for p in prepared.present if p.is_array]
    aliases = dict(prepared.case.alias)
    if not aliases:
        return tuple(buffers)
    # Memory that is shared belongs to the input, which may then be written.
    shared = [
        replace(one, access=Access.READ_WRITE) if one.name in aliases.values() else one
        for one in buffers
        if one.name not in aliases
    ]
    over = [
        replace(one, alias=aliases[one.name], guard_bytes=0, initial_file=None, poison=None)
        for one in buffers
        if one.name in aliases
    ]
    return (*shared, *over)


def _buffer(parameter: Parameter, prepared: PreparedCase, guard_bytes: int) -> Buffer:
    layout = prepared.arguments.layouts.get(parameter.name)
    elements = layout.elements if layout else math.prod(prepared.arguments.shapes[parameter.name])
    file = prepared.files.get(parameter.name)
    contents = None if file is None else str(file)
    is_tiled = parameter.name in prepared.arguments.tiles
    return Buffer(
        name=parameter.name,
        bytes=elements * parameter.dtype.itemsize,
        access=_ACCESS[parameter.role],
        element_bytes=parameter.dtype.itemsize,
        offset_bytes=dict(prepared.case.misaligned).get(parameter.name, 0) * parameter.dtype.itemsize,
        guard_bytes=guard_bytes,
        initial_file=None if is_tiled else contents,
        tile_file=contents if is_tiled else None,
        poison=poison_of(parameter.dtype),
    )


def _argument(formal: Formal, prepared: PreparedCase) -> Argument:
    if isinstance(formal, StructLayout):
        members = (_member(_argument(m.parameter, prepared), m.offset) for m in formal.members)
        return StructArgument(tuple(members), formal.bytes)
    if not formal.is_array:
        return ScalarArgument.of(formal.dtype, prepared.arguments.scalars[formal.name])
    return NullArgument(True) if formal.name in prepared.case.absent else BufferArgument(formal.name)


def _member(argument: Argument, offset: int) -> MemberArgument:
    match argument:
        case BufferArgument(buffer):
            return BufferMember(buffer, offset)
        case ScalarArgument(scalar, value):
            return ScalarMember(scalar, value, offset)
    return NullMember(True, offset)
