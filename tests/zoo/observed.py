"""Launch a declared kernel on `sim` under checks and an order of turns, and hold it against its reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pytest_cudaopt.agreement import Agreement, compare_outputs
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.contents import remove
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.outputs import Outputs, output_files, read_outputs
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Checks, Load, Order, Read, Step
from pytest_cudaopt.run import configure

MENDED = ("MENDED", "1")
_BUDGET = Budget()


@dataclass(frozen=True)
class Turns:
    """An order in which blocks and warps have their turns."""

    order: Order
    seed: int = 0

    @property
    def forward(self) -> bool:
        return self.order is Order.FORWARD

    def __str__(self) -> str:
        return f"{self.order}{self.seed or ''}"


SCHEDULES = (Turns(Order.FORWARD), Turns(Order.REVERSE), Turns(Order.RANDOM, 1), Turns(Order.RANDOM, 2))


@dataclass(frozen=True)
class Observed:
    """What was found, the fault that ended the launch last, and the outputs if none did."""

    findings: tuple[Finding, ...]
    outputs: Outputs | None
    prepared: PreparedCase

    @property
    def agreement(self) -> Agreement:
        """How the outputs compare; there must be some."""
        assert self.outputs is not None
        return compare_outputs(self.prepared.kernel, self.prepared.expected, self.outputs)


def mended(kernel: Kernel) -> Candidate:
    """Return the clean twin of a planted bug."""
    start = kernel.start()
    return replace(start, defines=(*start.defines, MENDED))


def observe(
    kernel: Kernel,
    candidate: Candidate,
    case: Case,
    turns: Turns,
    device: Device,
    again: tuple[Step, ...] | None = None,
) -> Observed:
    """Launch `candidate`, with everything looked for that has to do with accesses.

    With `again`, these steps and a second launch follow.
    """
    prepared = prepare(kernel, case, device)
    compiled = compile_candidate(kernel, candidate, device, _BUDGET, (case,))
    assert isinstance(compiled, Compiled), compiled
    launch = configure(candidate, prepared, compiled, device)
    assert isinstance(launch, LaunchConfiguration), launch
    step = replace(
        launch_step(prepared, compiled, launch),
        checks=Checks(accesses=True),
        order=turns.order,
        order_seed=turns.seed,
    )
    return _run(prepared, compiled, (step,) if again is None else (step, *again, step), device)


def _run(prepared: PreparedCase, compiled: Compiled, launches: tuple[Step, ...], device: Device) -> Observed:
    request = base_request(prepared, compiled, "zoo", device, _BUDGET)
    files = output_files(prepared, device, request)
    reads = (Read(name, str(file)) for name, file in files.items())
    with ExitStack() as cleaning:
        cleaning.callback(remove, files.values())
        answer = device.ask(replace(request, steps=(Load(compiled.module.name), *launches, *reads)))
        outputs = None if answer.fault else read_outputs(files, prepared)
    found = [finding for one in answer.steps for finding in one.findings]
    return Observed((*found, *([answer.fault] if answer.fault else [])), outputs, prepared)


def shown(findings: Iterable[Finding]) -> str:
    """Return one line per finding, for a failing test."""
    return "\n".join(_lines(findings))


def _lines(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        other = f" / line {finding.other.line}" if finding.other else ""
        yield f"{finding.kind} line {finding.line}{other}: {finding.message}"
