"""What the checks of `sim` said of a kernel at one case."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt.finding import Finding
from pytest_cudaopt.rounding_error import ErrorSplit, RoundingLoss
from pytest_cudaopt.waivers import Waived


@dataclass(frozen=True)
class Sanitized:
    """The findings of one case, the most severe first; those that are waived stand apart.

    `orders` are those in which blocks and warps had their turns. `notes` are sentences about what is no
    mistake. `skipped` says why the case could not be executed; then there is nothing else. `errors` split
    that of each float output, where that was asked for, and `loss` is the instruction that lost most digits.
    """

    orders: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    waived: tuple[Waived, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: str = ""
    errors: tuple[ErrorSplit, ...] = ()
    loss: RoundingLoss | None = None

    @property
    def is_done(self) -> bool:
        """Whether the checks have seen the case, from the first order to the last."""
        return bool(self.orders) and not self.skipped
