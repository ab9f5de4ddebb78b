"""Writing the winner back to the user's source file, on request."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import regions
from pytest_cudaopt.closure import close
from pytest_cudaopt.durable import write_atomically
from pytest_cudaopt.errors import SourceError
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
    region_names: Sequence[str] = (),
) -> Acceptance:
    """Replace `source` by `winner` if asked to, and if the file still holds what the run `loaded`.

    The headers that `winner` includes must be what they were, too.
    Of a file with regions only the inside of the one of `region_names` is compared and replaced. The file
    keeps its mode; a symbolic link keeps pointing at it. `winner` is None if the start is best.
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
        changed = source.name if _differs(file, loaded, region_names) else _changed_header(winner)
        if changed is not None:
            what = "it" if changed == source.name else f"its header {changed}"
            return Acceptance(
                AcceptOutcome.SOURCE_CHANGED,
                f"{source.name} was not replaced: {what} changed while the run went on",
            )
        content = _content(file, winner, region_names)
        write_atomically(file, content, mode=stat.S_IMODE(file.stat().st_mode))
    except OSError as error:
        return Acceptance(
            AcceptOutcome.NOT_WRITABLE, f"{source.name} was not replaced: {error.strerror or error}"
        )
    return Acceptance(AcceptOutcome.WRITTEN, f"{source.name} now holds the winner")


def _differs(file: Path, loaded: str, names: Sequence[str]) -> bool:
    current = file.read_text(encoding="utf-8-sig", errors="replace")
    try:
        region = regions.inside(current, names) if names else None
    except SourceError:
        return True
    if region is None:
        return current != loaded
    return region != regions.inside(loaded, names)


def _changed_header(winner: Candidate) -> str | None:
    """Return the first header that is not what `winner` was judged with, or that it now reaches or not."""
    if winner.closure is None:
        return None
    judged, now = winner.headers, close(winner.source, winner.closure.place).headers.texts
    return next((name for name in sorted({*judged, *now}) if judged.get(name) != now.get(name)), None)


def _content(file: Path, winner: Candidate, names: Sequence[str]) -> bytes | str:
    """Return what to write: `winner`, or the file as it is with `winner` inside its region."""
    # Neither line ends nor anything else outside the region may change.
    current = file.read_bytes().decode("utf-8", errors="surrogateescape")
    new = winner.standalone_source()
    if not names or regions.inside(current, names) is None:
        return new
    inside = regions.inside(new, names)
    own = new if inside is None else inside
    return regions.replace_inside(current, lambda _: own, names).encode("utf-8", errors="surrogateescape")
