"""A harness whose answers a test alters: findings that a kernel need not have, and answers that lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_cudaopt.answers import Answer
from pytest_cudaopt.device import Device
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.harness import Harness
from pytest_cudaopt.protocol import Launch, Request

Change = Callable[[Answer], Answer]


@dataclass
class AlteredHarness:
    """Asks `inner`, and remembers every request; answers to launches with checks are altered."""

    inner: Harness
    change: Change
    asked: list[Request] = field(default_factory=list)

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        answer = self.inner.ask(request)
        return self.change(answer) if is_watched(request) else answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def is_watched(request: Request) -> bool:
    """Whether a launch of the request is asked to look for something."""
    steps = (step for step in request.steps if isinstance(step, Launch))
    return any(step.checks.accesses or step.checks.touched for step in steps)


def altered(sim: Device, change: Change) -> tuple[Device, AlteredHarness]:
    """Return `sim` with a harness whose answers `change` alters."""
    harness: Any = AlteredHarness(sim.harness, change)
    return replace(sim, harness=harness, _lock=-1), harness


def showing(*findings: Finding, launch: int = 0) -> Change:
    """Return what adds findings to the launch of that number."""

    def change(answer: Answer) -> Answer:
        launches = [number for number, step in enumerate(answer.steps) if step.do == "launch"]
        steps = list(answer.steps)
        if launch < len(launches):
            at = launches[launch]
            steps[at] = replace(steps[at], findings=(*steps[at].findings, *findings))
        return replace(answer, steps=tuple(steps))

    return change
