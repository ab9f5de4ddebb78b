"""An earlier version of a kernel that the current one is gated against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.recorded import Machine, Recorded


@dataclass(frozen=True)
class Incumbent:
    """A version by the name it is gated under: "baseline", "anchor" or a git revision.

    `candidate` is None where it cannot be rebuilt, and `why_not` says why; `note` says what of a rebuilt one
    is not as it was. `recorded` holds what was seen of it by case id, on `machine`; empty for a version
    nobody has recorded.
    """

    name: str
    candidate: Candidate | None
    why_not: str = ""
    recorded: Mapping[str, Recorded] = field(default_factory=dict)
    machine: Machine | None = None
    note: str = ""
