"""A harness that says it is a GPU's and lets `sim` execute: whole judgements as on a GPU, without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_cudaopt.answers import Answer, GpuFacts, StepAnswer
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Captured, Latency, LatencyKind, Sampling, SamplingMode
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.protocol import Launch, Load, Measure, Read, Request

SELECTOR = "cuda:0"
FACTS = GpuFacts("GPU-pretended", (13, 0), 1 << 37, 1 << 36, 60 << 20, 1980.0, 3201.0, 6016, True)
LATENCY = Latency(
    LatencyKind.MEASURED,
    2.0,
    SamplingMode.COLD,
    cold=Sampling(2.0, (1.0, 2.0, 3.0)),
    sm_clock_mhz=(1980.0,),
    captured=Captured(SamplingMode.COLD, 1),
    notes=("a note of the harness",),
)


@dataclass
class PretendedHarness:
    """Executes on `sim` what is asked of a GPU, and remembers every request.

    Faults lose their place, as on a GPU. With `remembers`, a timed launch repeats what it wrote for the
    case's own inputs.
    """

    sim: Harness
    remembers: bool = False
    asked: list[Request] = field(default_factory=list)
    change: Callable[[Answer], Answer] = lambda answer: answer

    @property
    def binary(self) -> Any:
        return self.sim.binary

    @property
    def pid(self) -> int | None:
        return self.sim.pid

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        if request.device != SELECTOR:
            return self.sim.ask(request)
        timed = [step for step in request.steps if isinstance(step, Measure)]
        answer = self.sim.ask(self._timed(request, timed[0]) if timed else replace(request, device="sim"))
        if answer.fault is not None:
            return self.change(replace(answer, fault=_as_a_gpu_sees(answer.fault)))
        if timed:
            answer = replace(answer, steps=(StepAnswer("load"), StepAnswer("measure", latency=LATENCY)))
        return self.change(answer)

    def close(self) -> None:
        """Leave `sim` to its owner."""

    def _timed(self, request: Request, measure: Measure) -> Request:
        """Return one launch on the held-out contents, its outputs captured."""
        contents = {} if self.remembers else measure.held_out or {}
        buffers = tuple(
            replace(buffer, initial_file=contents.get(buffer.name, buffer.initial_file))
            for buffer in request.buffers
        )
        launch = Launch(
            measure.module,
            measure.entry,
            measure.grid,
            measure.block,
            measure.arguments,
            measure.shared_bytes,
        )
        reads = (Read(one.buffer, one.file) for one in measure.capture)
        steps = (Load(measure.module), launch, *reads)
        return replace(request, device="sim", buffers=buffers, steps=steps)

    def steps_of(self, kind: type[Any]) -> list[Any]:
        """Return the steps of one kind that were asked of the GPU."""
        gpu = (request for request in self.asked if request.device == SELECTOR)
        return [step for request in gpu for step in request.steps if isinstance(step, kind)]


def _as_a_gpu_sees(fault: Finding) -> Finding:
    is_input = fault.kind is FindingKind.WRITE_TO_INPUT
    return Finding(FindingKind.ILLEGAL_ADDRESS if is_input else fault.kind, "it went wrong")


def pretend(sim: Device, **behaviour: Any) -> tuple[Device, PretendedHarness]:
    """Return a GPU that is none, and its harness."""
    harness: Any = PretendedHarness(sim.harness, **behaviour)
    limits = replace(sim.limits, name="a pretended GPU", gpu=FACTS)
    gpu = replace(
        sim, selector=SELECTOR, description="a pretended GPU", limits=limits, harness=harness, _lock=-1
    )
    return gpu, harness
