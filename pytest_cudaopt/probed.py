"""What launching a case in other ways showed: how it was not as at first."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt.evaluation import Comparison
from pytest_cudaopt.finding import Finding


@dataclass(frozen=True)
class Probed:
    """What a launch did otherwise than the first; nothing if it did not.

    `note` says which launch, `comparisons` what it wrote, `fault` what ended it; `untried` why there was no
    launch.
    """

    note: str = ""
    comparisons: tuple[Comparison, ...] = ()
    fault: Finding | None = None
    launches: int = 0
    untried: str = ""

    @property
    def holds(self) -> bool:
        return self.fault is None and not self.note
