"""Plans of a whole judgement: what a candidate, or the kernel as it is, has to go through."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import Budget, Plan, Stage
from pytest_cudaopt.incumbent import Incumbent

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.settings import Settings

# What the kernel as it is is called in the verdict on a candidate's latency.
START = "start"
# A candidate is judged once, by whoever must believe it; the kernel as it is on every push.
CANDIDATE_EXAMPLES = 10


def secret_seed() -> int:
    """Return a seed that nobody can know before: draws from it cannot be prepared for."""
    return secrets.randbits(32)


def ladder_stages(fuzz_examples: int, sanitize_elements: int) -> tuple[Stage, ...]:
    """Return all stages in the chain's order, without those that are turned off."""
    fuzzes = (Stage.PROBE, Stage.FUZZ, Stage.CONTRACT) if fuzz_examples else ()
    sanitizes = (Stage.SANITIZE,) if sanitize_elements else ()
    return (
        Stage.COMPILE,
        Stage.LIMITS,
        Stage.SCAN,
        Stage.CHECK,
        *fuzzes,
        *sanitizes,
        Stage.MEASURE,
        Stage.GATE,
    )


def candidate_plan(kernel: Kernel, start: Candidate, settings: Settings, seed: int) -> Plan:
    """Return the plan of everything there is, drawn from `seed` before the candidate is seen.

    Its latency is held against that of `start`, side by side on a GPU.
    """
    return Plan(
        ladder_stages(settings.fuzz_examples, settings.sanitize_elements),
        kernel.cases,
        budget=Budget(settings.timeout_s),
        warmup=settings.warmup,
        samples=settings.samples,
        relative_error=settings.relative_error,
        sanitize_elements=settings.sanitize_elements,
        rounding=True,
        fuzz_examples=CANDIDATE_EXAMPLES * settings.fuzz_examples,
        fuzz_seed=seed,
        witness=start,
        incumbents=(Incumbent(START, start),),
        thresholds=kernel.gate,
    )
