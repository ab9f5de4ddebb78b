"""What `--cudaopt-require` makes of a measured case that was held against nothing, or gave no sure verdict.

`gpu` is not here: a device of another kind is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pytest_cudaopt.gated import GateVerdict
from pytest_cudaopt.report import Failure, FailureClass

if TYPE_CHECKING:
    from pytest_cudaopt.gated import Gated


def unmet(
    required: Collection[str],
    case_id: str,
    gated: Sequence[Gated],
    why_none: str = "nothing is recorded of it",
) -> Failure | None:
    """Return what fails a case that was measured and held against `gated`; None if nothing does.

    `baseline` wants at least one earlier version, be it recorded or of a revision; `verdict` wants each
    verdict to be a sure one. A case that is slower fails anyway, which is not said here. `why_none` says why
    there is no earlier version; empty for a case that has just been recorded, which is enough.
    """
    if "baseline" in required and not gated and why_none:
        return Failure(
            FailureClass.NO_BASELINE,
            f"--cudaopt-require=baseline: {case_id} is held against nothing: {why_none}",
            ("  next      Record it with --cudaopt-baseline update, and commit the files it writes",),
        )
    unsure = [one for one in gated if one.verdict is GateVerdict.UNSURE]
    if "verdict" in required and unsure:
        first = unsure[0]
        return Failure(
            FailureClass.UNSURE,
            f"--cudaopt-require=verdict: {case_id} against {first.against}: {first.reason}",
            (
                *(f"  also      against {one.against}: {one.reason}" for one in unsure[1:]),
                "  next      Run it again on a quieter machine, or leave the requirement out",
            ),
        )
    return None
