"""What `cudaopt check MODULE::KERNEL --strength` does: judge the kernel, then its mutants."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Evaluation, Status
from pytest_cudaopt.mutate.mutants import MOST, mutants
from pytest_cudaopt.report import Failure, FailureClass, describe_evaluation
from pytest_cudaopt.settings import Settings
from pytest_cudaopt.strength import Answer, Progress, Strength, strength
from pytest_cudaopt.strength_judges import Judges

_CLASS = {
    Status.WRONG_RESULT: FailureClass.WRONG,
    Status.FAULT: FailureClass.FAULT,
    Status.LOST_PROPERTY: FailureClass.LOST_PROPERTY,
}


@dataclass(frozen=True)
class Limits:
    """How many mutants to judge at most, and for how long to begin another."""

    mutants: int = MOST
    seconds: float = 600.0


@dataclass(frozen=True)
class Measured:
    """How strong a suite is, or why that cannot be said: the kernel itself does not pass."""

    strength: Strength | None
    start: Evaluation
    refused: Answer | None = None


def measure_strength(
    kernel: Kernel, settings: Settings, device: Device, limits: Limits, progress: Progress
) -> Measured:
    """Judge `kernel`, then its mutants. Raises as `evaluate` and `fuzz` do."""
    judges = Judges(
        kernel,
        device,
        Budget(settings.timeout_s),
        settings.fuzz_examples,
        settings.fuzz_seed,
        settings.sanitize_elements,
    )
    start = judges.start()
    if not start.accepted:
        return Measured(None, start)
    judges = judges.bounded_by(start)
    candidate = kernel.start()
    if (found := judges.ladder(candidate)) is not None and found.is_kill:
        return Measured(None, start, found)
    every = mutants(candidate, kernel, limits.mutants)
    done = strength(
        kernel,
        every,
        judges.declared,
        judges.ladder,
        judges.code_of,
        seconds=limits.seconds,
        progress=progress,
    )
    return Measured(done, start)


def why_not(kernel: Kernel, measured: Measured, base: Path) -> Failure:
    """Say what is wrong with the kernel itself; its mutants would fail the same way."""
    if measured.refused is None:
        return describe_evaluation(kernel, kernel.start(), measured.start, base)
    answer = measured.refused
    at = () if answer.case is None else (f"  {'case':<9} {answer.case}",)
    return Failure(
        _CLASS.get(answer.status, FailureClass.FINDING),
        f"kernel '{kernel.name}' itself, beyond its declared cases: {answer.stage}: {answer.reason}",
        (*at, f"  {'next':<9} Mend it, or say with domain=, where= or choices= which sizes it is for"),
    )
