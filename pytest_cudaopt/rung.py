"""What a rung of the ladder came to, and how a trial counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import CaseOutcome, Stage, Tried

if TYPE_CHECKING:
    from pytest_cudaopt.differential import Tested
    from pytest_cudaopt.properties import Property


@dataclass(frozen=True)
class Rung:
    """What a stage came to: the outcome that fails the candidate, if any, and what was tried."""

    failed: CaseOutcome | None
    tried: tuple[Tried, ...]


def counted(stage: Stage, asked: Property, tested: Tested) -> Tried:
    judged = tested.outcome is not None
    return Tried(stage, asked, judged=int(judged), discarded=int(not judged), why=tested.why)
