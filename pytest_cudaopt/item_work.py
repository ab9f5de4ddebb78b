"""What a pytest item is to do, and what came of it; knows no pytest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.table import Row, RowStage

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Latency
    from pytest_cudaopt.report import Failure

# Gets a line about work in progress.
Announce = Callable[[str], None]


@dataclass(frozen=True)
class Work:
    """One item's task; `case` is None for one that has no case of its own, such as fuzzing.

    `kernel_id` is the kernel's node id; `position` is the case's place in the declaration; what has no case
    comes after the last one. `run_folder` is the one a run has begun in, if it has.
    """

    kernel: Kernel
    kernel_id: str
    stage: RowStage
    position: int
    case_id: str
    case: Case | None
    run_folder: Path | None = None

    @property
    def row(self) -> Row:
        return Row(self.kernel_id, self.stage, self.position, self.case_id or str(self.stage), "passed")


@dataclass(frozen=True)
class Finished:
    """What came of it: a row for the table, and the failure or the reason it could not be judged.

    `printed` is what the kernel's threads printed, `latency` what `row` has the median of.
    """

    row: Row
    failure: Failure | None = None
    not_judged: str | None = None
    printed: str = ""
    latency: Latency | None = None

    @classmethod
    def failed(cls, row: Row, failure: Failure) -> Finished:
        """Return a failure; its class is the row's status."""
        return cls(replace(row, status=failure.kind.lower()), failure)
