"""Launch one case again and again: what is right once may lean on the launch before it.

Answers kept from earlier launches, counters nobody resets and results that depend on timing all pass a single
launch on fresh memory.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.contents import remove
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.other_buffers import on_other_buffers
from pytest_cudaopt.outputs import output_files, read_outputs
from pytest_cudaopt.partly_other import partly_other
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.probed import Probed
from pytest_cudaopt.protocol import (
    Digest,
    Launch,
    Load,
    Order,
    Read,
    Reset,
    Step,
    Write,
)

if TYPE_CHECKING:
    from pytest_cudaopt.expectation import Expectation

# Ten for warming up, a hundred measured: somewhere among them a counter may turn.
_TIMED_LAUNCHES = 111
_LEAST_LAUNCHES = 3
# Warp instructions all launches of a probe may take on `sim`: some 0.2 s.
_MOST_INSTRUCTIONS = 20_000_000
# No parameter's name holds a dash.
_ELSEWHERE = "-elsewhere"
_ORDERS = (
    (Order.FORWARD, 0),
    (Order.FORWARD, 0),
    (Order.REVERSE, 0),
    (Order.RANDOM, 1),
    (Order.RANDOM, 2),
)
_LAUNCHES_ON_GPU = 8


def times_on(device: Device, instructions: int | None) -> int:
    """Return how often a probe launches, if one launch executes so many warp instructions."""
    if device.is_gpu or not instructions:
        return _TIMED_LAUNCHES
    return max(_LEAST_LAUNCHES, min(_TIMED_LAUNCHES, _MOST_INSTRUCTIONS // instructions))


def relaunch(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    budget: Budget,
    times: int,
) -> Probed:
    """Launch one module `times`, then on other contents, at other addresses, and as at first."""
    if launch.is_empty:
        return Probed()
    request = base_request(prepared, compiled, "probe", device, budget)
    elsewhere = tuple(
        replace(one, name=one.name + _ELSEWHERE, alias=one.alias and one.alias + _ELSEWHERE)
        for one in request.buffers
    )
    contents = prepared.contents
    writes: tuple[Step, ...]
    first = launch_step(prepared, compiled, launch)
    moved = on_other_buffers(first, {one.name: one.name + _ELSEWHERE for one in request.buffers})
    stages: list[tuple[str, tuple[Step, ...], Launch, Expectation]] = [
        (f"launch {times} of one module", (), first, prepared.expected)
    ]
    if contents.held_out and contents.expected is not None:
        writes = tuple(Write(name, str(file)) for name, file in contents.held_out.items())
        stages.append(("a launch on other contents at the same addresses", writes, first, contents.expected))
    partly = partly_other(prepared)
    if partly is not None:
        writes = tuple(Write(name, str(file)) for name, file in partly.files.items())
        stages.append(("a launch on contents of which a tenth is other", writes, first, partly.expected))
    stages.append(("a launch on the same contents at other addresses", (), moved, prepared.expected))
    stages.append(("a launch after all others", (), first, prepared.expected))
    steps: list[Step] = [Load(compiled.module.name)]
    steps += [step for _ in range(times - 1) for step in (Reset(), first)]
    files: list[dict[str, Path]] = []
    for number, (_, writes, step, _) in enumerate(stages):
        written = output_files(prepared, device, request, f"-{number}")
        files.append(written)
        place = _ELSEWHERE if step is moved else ""
        steps += [Reset(), *writes, step]
        steps += [Read(name + place, str(file)) for name, file in written.items()]
    request = replace(request, buffers=(*request.buffers, *elsewhere), steps=tuple(steps))
    try:
        answer = device.ask(request)
        if answer.fault is not None:
            return Probed("a later launch of the same module ended", fault=answer.fault, launches=times)
        for (what, _, _, expected), written in zip(stages, files, strict=True):
            outputs = read_outputs(written, prepared)
            agreement = compare_outputs(prepared.kernel, expected, outputs)
            if not agreement.holds:
                return Probed(f"right when launched once, wrong at {what}", agreement.comparisons)
    finally:
        remove(file for written in files for file in written.values())
        remove(() if partly is None else partly.files.values())
    return Probed(launches=times + len(stages) - 1)


def repeat(
    prepared: PreparedCase,
    compiled: Compiled,
    launch: LaunchConfiguration,
    device: Device,
    budget: Budget,
) -> Probed:
    """Launch a case on the same memory in several orders, on a GPU several times, and compare all bits."""
    if launch.is_empty:
        return Probed()
    request = base_request(prepared, compiled, "repeat", device, budget)
    step = launch_step(prepared, compiled, launch)
    orders = ((Order.FORWARD, 0),) * _LAUNCHES_ON_GPU if device.is_gpu else _ORDERS
    outputs = [p.name for p in prepared.arguments.outputs]
    steps: list[Step] = [Load(compiled.module.name)]
    for order, seed in orders:
        steps += [Reset(), replace(step, order=order, order_seed=seed), *(Digest(name) for name in outputs)]
    answer = device.ask(replace(request, steps=tuple(steps)))
    if answer.fault is not None:
        return Probed("a later launch of the same module ended", fault=answer.fault)
    digests = [one.sha256 for one in answer.steps if one.do == "digest"]
    if len(digests) != len(outputs) * len(orders):
        expected = f"{len(outputs) * len(orders)} 'digest' steps"
        raise HarnessError(f"answer '{answer.id}'", expected=expected, got=str(len(digests)))
    for number, name in enumerate(outputs):
        if len(set(digests[number :: len(outputs)])) > 1:
            how = "from launch to launch" if device.is_gpu else "with the order of blocks and warps"
            return Probed(f"bits of '{name}' change {how}", launches=len(orders))
    return Probed(launches=len(orders))
