"""Writing the winner back to the user's source file, on request."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.durable import write_atomically
from pytest_cudaopt.evaluation import LatencyKind

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate


class AcceptOutcome(StrEnum):
    """What happened to the source file."""

    WRITTEN = "written"
    NOT_ASKED = "not_asked"
    NOTHING_BETTER = "nothing_better"
    ONLY_MODELLED = "only_modelled"
    SOURCE_CHANGED = "source_changed"
    NOT_WRITABLE = "not_writable"


@dataclass(frozen=True)
class Acceptance:
    """The outcome and one sentence for a person."""

    outcome: AcceptOutcome
    message: str


@dataclass(frozen=True)
class AcceptPolicy:
    """Whether to write a winner back, and whether that goes for one ranked by the model alone too."""

    accept: bool = False
    accept_modelled: bool = False


def accept(
    source: Path,
    loaded: str,
    winner: Candidate | None,
    kind: LatencyKind | None,
    policy: AcceptPolicy,
) -> Acceptance:
    """Replace `source` by `winner` if asked to, and if the file still holds what the run `loaded`.

    The file keeps its mode; a symbolic link keeps pointing at it. `winner` is None if the start is best.
    """
    if winner is None:
        return Acceptance(AcceptOutcome.NOTHING_BETTER, f"{source.name} stays as it is")
    only_modelled = kind is not LatencyKind.MEASURED
    if not policy.accept:
        flags = "--optimize-accept --optimize-accept-modelled" if only_modelled else "--optimize-accept"
        return Acceptance(AcceptOutcome.NOT_ASKED, f"{source.name} stays as it is; {flags} would replace it")
    if only_modelled and not policy.accept_modelled:
        return Acceptance(
            AcceptOutcome.ONLY_MODELLED,
            f"{source.name} stays as it is: the winner was ranked by the model alone; "
            "measure it on a GPU, or add --optimize-accept-modelled",
        )
    file = source.resolve()
    try:
        if file.read_text(encoding="utf-8-sig", errors="replace") != loaded:
            return Acceptance(
                AcceptOutcome.SOURCE_CHANGED,
                f"{source.name} was not replaced: it changed while the run went on",
            )
        write_atomically(file, winner.standalone_source(), mode=stat.S_IMODE(file.stat().st_mode))
    except OSError as error:
        return Acceptance(
            AcceptOutcome.NOT_WRITABLE, f"{source.name} was not replaced: {error.strerror or error}"
        )
    return Acceptance(AcceptOutcome.WRITTEN, f"{source.name} now holds the winner")
