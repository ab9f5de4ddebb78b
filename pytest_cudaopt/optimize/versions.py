"""The version a tool is asked about: an earlier attempt with other tunables, or a new source."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import proposal_form
from pytest_cudaopt.optimize.attempt_feedback import setting
from pytest_cudaopt.optimize.conversation import FailureKind, ModelFailure
from pytest_cudaopt.optimize.proposal_form import Filled, VersionForm

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.optimize.run import Run

# What follows it in a line that is remembered are the figures.
_LONGEST_NOTE = 60


@dataclass(frozen=True)
class Version:
    """Candidates that differ in their tunables only, one per setting asked for, and what to call them."""

    name: str
    settings: tuple[Candidate, ...]

    @property
    def first(self) -> Candidate:
        """The one with the first value of each tunable."""
        return self.settings[0]

    def label(self, candidate: Candidate) -> str:
        """Return the version's name and the setting, for one line."""
        chosen = setting(candidate.chosen)
        return f"{self.name} with {chosen}" if chosen else self.name


def version_of(form: VersionForm, run: Run) -> Version:
    """Return what the form asks for; raise ModelFailure that says what does not fit."""
    if form.attempt is not None and form.source is None and form.launch is None and not form.overrides:
        candidate = _attempted(form.attempt, run)
        name = f"attempt {form.attempt}"
        _require_known(form, candidate, name)
    else:
        filled = Filled("", "", proposal_form.version_source(form))
        candidate = proposal_form.candidate_of(filled, run.kernel, Path(run.kernel.source.name))
        name = "a new version"
    values = [[(one.name, value) for value in one.values] for one in form.tunables]
    settings = (
        candidate.with_tunables({**candidate.chosen, **dict(one)}) for one in itertools.product(*values)
    )
    note = textwrap.shorten(form.note, _LONGEST_NOTE, placeholder=" ...")
    return Version(f"{name} ({note})" if note else name, tuple(settings) or (candidate,))


def _attempted(number: int, run: Run) -> Candidate:
    if not 0 <= number < len(run.attempts):
        raise ModelFailure(FailureKind.MALFORMED, f"There are attempts 0 to {len(run.attempts) - 1}.")
    found = run.whole(number)
    if found.proposal.candidate is None:
        raise ModelFailure(FailureKind.MALFORMED, f"attempt {number} has no source: {found.verdict.reason}")
    return found.candidate


def _require_known(form: VersionForm, candidate: Candidate, name: str) -> None:
    unknown = [one.name for one in form.tunables if one.name not in candidate.chosen]
    if unknown:
        raise ModelFailure(
            FailureKind.MALFORMED,
            f"{name} has no tunable '{unknown[0]}'; it has {setting(candidate.chosen) or 'none'}",
        )
