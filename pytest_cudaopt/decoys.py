"""Plant the answers to other inputs before and behind outputs: who looks for the answer takes one of those.

On `sim` the guards around each output show that a launch looks there at all. On a GPU nothing shows reads of
memory that is mapped, and a kernel that computes where it finds nothing would be right in every other launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.buffers import poison_of, stored_arrays
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.contents import remove, write_arrays
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.other_buffers import on_other_buffers
from pytest_cudaopt.outputs import output_files, read_outputs
from pytest_cudaopt.partly_other import partly_other
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.probed import Probed
from pytest_cudaopt.protocol import Access, Buffer, Load, Read

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.expectation import Expectation
    from pytest_cudaopt.parameters import Parameter

# A zone holds a whole answer, as far as it is no larger than this, and some of several if answers are small.
_MOST_ZONE_BYTES, _LEAST_ZONE_BYTES = 1 << 20, 1 << 12
_ALIGNMENT = 256
# No parameter's name holds a dash.
_BETWEEN, _ZONES = "-between", "-zones"


@dataclass(frozen=True)
class _Planted:
    """Outputs that lie between answers, as they are called in `buffers`."""

    buffers: tuple[Buffer, ...]
    names: Mapping[str, str]
    files: tuple[Path, ...]


def among_decoys(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, device: Device, budget: Budget
) -> Probed:
    """Launch with each answer to other inputs before and behind every output, and compare.

    `untried` of what it returns says why there was none.
    """
    if launch.is_empty:
        return Probed()
    launches = 0
    for answer in _other_answers(prepared):
        planted = _plant(prepared, answer, f"{prepared.stem}-planted")
        try:
            probed = _launch(prepared, compiled, launch, device, budget, planted)
        finally:
            remove(planted.files)
        if not probed.holds:
            return probed
        launches += 1
    return Probed(launches=launches, untried="" if launches else "no other inputs have another answer")


def _other_answers(prepared: PreparedCase) -> Iterator[Expectation]:
    """Yield what the reference says of wholly other inputs, and of some that are mostly the same."""
    if prepared.contents.expected is not None:
        yield prepared.contents.expected
    partly = partly_other(prepared)
    if partly is not None:
        remove(partly.files.values())
        yield partly.expected


def _launch(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    budget: Budget,
    planted: _Planted,
) -> Probed:
    request = base_request(prepared, compiled, "decoys", device, budget)
    step = on_other_buffers(launch_step(prepared, compiled, launch), planted.names)
    files = output_files(prepared, device, request)
    reads = (Read(planted.names.get(name, name), str(file)) for name, file in files.items())
    request = replace(
        request,
        buffers=(*request.buffers, *planted.buffers),
        steps=(Load(compiled.module.name), step, *reads),
    )
    try:
        answer = device.ask(request)
        if answer.fault is not None:
            return Probed("a launch among answers to other inputs ended", fault=answer.fault)
        agreement = compare_outputs(prepared.kernel, prepared.expected, read_outputs(files, prepared))
    finally:
        remove(files.values())
    if agreement.holds:
        return Probed(launches=1)
    return Probed("wrong where answers to other inputs lie around its outputs", agreement.comparisons)


def _plant(prepared: PreparedCase, answer: Expectation, stem: str) -> _Planted:
    """Write what lies around each output, and the output's own contents between."""
    arguments = prepared.arguments
    shared = dict(prepared.case.alias)
    planted = {
        output.name: _stored(answer.arrays[output.name], output)
        for output in arguments.outputs
        if output.name in answer.arrays and output.name not in shared
    }
    zones: dict[str, NDArray[np.uint8]] = {}
    buffers: list[Buffer] = []
    for name, stored in stored_arrays(arguments, planted).items():
        decoy = np.ascontiguousarray(stored).reshape(-1).view(np.uint8)
        if not decoy.size:
            continue
        zone = _zone_bytes(decoy.size)
        zones[name] = np.concatenate(
            [_before(decoy, zone), _contents(prepared, name, decoy.size), np.resize(decoy, zone)]
        )
        whole = Buffer(name + _ZONES, zones[name].size, Access.READ_WRITE, stored.dtype.itemsize)
        between = replace(whole, name=name + _BETWEEN, bytes=decoy.size, offset_bytes=zone, alias=whole.name)
        buffers += [whole, between]
    files = write_arrays(zones, prepared.folder, stem)
    return _Planted(
        tuple(_with_file(one, files) for one in buffers),
        {name: name + _BETWEEN for name in zones},
        tuple(files.values()),
    )


def _stored(expected: NDArray[Any], output: Parameter) -> NDArray[Any]:
    # What an oracle says may be beyond what the output can hold.
    with np.errstate(all="ignore"):
        return expected.astype(output.dtype.numpy)


def _contents(prepared: PreparedCase, name: str, size: int) -> NDArray[np.uint8]:
    """Return what the output holds before a launch."""
    if name in prepared.files:
        return np.fromfile(prepared.files[name], dtype=np.uint8)
    output = next(one for one in prepared.arguments.outputs if one.name == name)
    return np.resize(np.frombuffer(bytes.fromhex(poison_of(output.dtype)), np.uint8), size)


def _zone_bytes(size: int) -> int:
    most = min(max(size, _LEAST_ZONE_BYTES), _MOST_ZONE_BYTES)
    return -(-most // _ALIGNMENT) * _ALIGNMENT


def _before(decoy: NDArray[np.uint8], zone: int) -> NDArray[np.uint8]:
    """Return the zone whose last answer ends where the output begins."""
    return np.resize(decoy[::-1], zone)[::-1]


def _with_file(buffer: Buffer, files: Mapping[str, Path]) -> Buffer:
    if buffer.alias is not None:
        return buffer
    return replace(buffer, initial_file=str(files[buffer.name.removesuffix(_ZONES)]))
