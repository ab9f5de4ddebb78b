"""A baseline: the accepted versions of a kernel on one device, and what was recorded of them at which case.

Cases are judged and recorded one by one, by workers that know nothing of each other. So a case may be
recorded of another version than its neighbour, and each version stays as long as a case stands on it.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt import directives
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.closure import Place, close, close_over
from pytest_cudaopt.declared_facts import CaseFacts, facts_of, signature_of
from pytest_cudaopt.errors import CudaoptError, SourceError
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.recorded import Machine, Recorded

if TYPE_CHECKING:
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.closure import Closure
    from pytest_cudaopt.declared import Kernel

# What an incumbent is gated under: what was recorded last, and what is better than that.
BASELINE, ANCHOR = "baseline", "anchor"
# Whoever includes a library of templates has megabytes of headers, which nobody reviews.
_MOST_HEADER_CHARACTERS = 1 << 18


@dataclass(frozen=True)
class Header:
    """A header as it was, by its digest; its `lines` unless there were too many headers to keep."""

    sha256: str
    lines: tuple[str, ...] | None = None

    @property
    def text(self) -> str | None:
        return None if self.lines is None else "\n".join(self.lines)


@dataclass(frozen=True)
class CaseRecord:
    """What was recorded of a version at a case, on which machine, and when (`2026-11-30`)."""

    case: CaseFacts
    seen: Recorded
    machine: Machine
    on: str


@dataclass(frozen=True)
class Version:
    """A candidate as texts, so that it can be rebuilt when its files have changed; its records by case id.

    `include` are the include folders, relative to the source's folder; `launch` the rule's directives.
    """

    file: str
    source: str
    launch: tuple[str, ...]
    signature: str
    tunables: Mapping[str, int] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    headers: Mapping[str, Header] = field(default_factory=dict)
    cases: Mapping[str, CaseRecord] = field(default_factory=dict)

    @property
    def identity(self) -> Version:
        """What it is without its records: equal if there is no difference to compile or launch."""
        hashes = {name: Header(one.sha256) for name, one in self.headers.items()}
        return replace(self, file="", include=(), stub=(), headers=hashes, cases={})


@dataclass(frozen=True)
class Held:
    """Whether the starting kernel has a property, and how that was found."""

    holds: bool
    why: str = ""


@dataclass(frozen=True)
class Baseline:
    """The accepted versions of a kernel, what was recorded last first; `module` is the test module's stem.

    `properties` are what the kernel can do beyond its cases, where that was probed.
    """

    module: str
    kernel: str
    device: str
    versions: tuple[Version, ...]
    properties: Mapping[str, Held] = field(default_factory=dict)

    def recorded_at(self, case_id: str) -> tuple[Version, ...]:
        """Return the versions a case stands on: what was recorded last, then what is better than that."""
        return tuple(version for version in self.versions if case_id in version.cases)

    @property
    def case_ids(self) -> tuple[str, ...]:
        return tuple(sorted({case_id for version in self.versions for case_id in version.cases}))


def version_of(kernel: Kernel, candidate: Candidate) -> Version:
    """Return `candidate` as what is kept of it, without records."""
    closure = candidate.closure
    texts = candidate.headers
    keeps = sum(map(len, texts.values())) <= _MOST_HEADER_CHARACTERS
    return Version(
        file=candidate.file,
        source=candidate.source,
        launch=tuple(candidate.launch.directives()),
        signature=signature_of(kernel),
        tunables=dict(candidate.tunables),
        defines=dict(candidate.defines),
        options=candidate.options,
        include=() if closure is None else tuple(map(closure.place.shown, closure.place.include)),
        stub=() if closure is None else closure.place.stub,
        headers={name: header_of(text, keeps=keeps) for name, text in texts.items()},
    )


def header_of(text: str, *, keeps: bool = True) -> Header:
    """Return a header by its digest, with its text if it is to be kept."""
    return Header(digest(text), tuple(text.split("\n")) if keeps else None)


def candidate_of(version: Version, folder: Path) -> Candidate:
    """Return the candidate again, standing in `folder` as its source did.

    Reads headers only where their texts were not kept. Raises SourceError if they have changed since, and
    LaunchError or SourceError for a launch rule that this release cannot read.
    """
    return Candidate(
        file=version.file,
        source=version.source,
        launch=launch_rule(version),
        tunables=tuple(version.tunables.items()),
        defines=tuple(version.defines.items()),
        options=version.options,
        closure=_closure(version, folder),
    )


def launch_rule(version: Version) -> LaunchRule:
    """Return the launch rule that is kept as text; raise as `candidate_of` does."""
    rule = directives.read("".join(f"// {line}\n" for line in version.launch), version.file).rule
    if rule is None:
        raise SourceError(f"launch rule of {version.file}", expected="an @launch line", got="none")
    return rule


def incumbents(baseline: Baseline | None, kernel: Kernel, case_id: str, case: Case) -> tuple[Incumbent, ...]:
    """Return the versions that the current one is gated against at a case: at most baseline and anchor.

    None where nothing is recorded of this case, or of one with other sizes or inputs under its name.
    """
    standing = standing_at(baseline, case_id, facts_of(kernel, case))
    return tuple(_incumbent(name, version, kernel, case_id) for name, version in standing.items())


def standing_at(baseline: Baseline | None, case_id: str, facts: CaseFacts) -> dict[str, Version]:
    """Return the versions that this very case stands on, by the name they are gated under."""
    known = () if baseline is None else baseline.recorded_at(case_id)
    same = [version for version in known if version.cases[case_id].case == facts]
    return dict(zip((BASELINE, ANCHOR), same, strict=False))


def why_no_incumbent(baseline: Baseline | None, case_id: str) -> str:
    """Say why a case has nothing to be gated against, where `incumbents` returned none."""
    known = () if baseline is None else baseline.recorded_at(case_id)
    return "its sizes or inputs have changed since it was recorded" if known else "nothing is recorded of it"


def digest(text: str) -> str:
    """Return the SHA-256 of a text, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def three_digits(value: float) -> float:
    """Round to three significant digits: more are noise, and change with every run."""
    if value == 0:
        return 0.0
    return round(value, 2 - math.floor(math.log10(abs(value))))


def _incumbent(name: str, version: Version, kernel: Kernel, case_id: str) -> Incumbent:
    record = version.cases[case_id]
    candidate, why_not = None, ""
    if version.signature != (now := signature_of(kernel)):
        why_not = f"its signature was {version.signature}, and is {now}"
    else:
        try:
            candidate = candidate_of(version, kernel.source.parent)
        except CudaoptError as error:
            why_not = str(error)
    return Incumbent(name, candidate, why_not, {case_id: record.seen}, record.machine)


def _closure(version: Version, folder: Path) -> Closure:
    place = Place(folder, tuple(_beside(folder, name) for name in version.include), version.stub)
    texts = {name: one.text for name, one in version.headers.items()}
    kept = {name: text for name, text in texts.items() if text is not None}
    if len(kept) == len(texts):
        return close_over(version.source, place, kept)
    now = close(version.source, place)
    hashes = {name: digest(text) for name, text in now.headers.texts.items()}
    then = {name: one.sha256 for name, one in version.headers.items()}
    if hashes != then:
        changed = sorted(name for name in {*hashes, *then} if hashes.get(name) != then.get(name))
        raise SourceError(
            f"headers of {version.file}",
            expected="those it was recorded with, which were too many to keep",
            got=f"others: {', '.join(changed[:5])}",
            next_step="Gate against a revision instead, --cudaopt-against REF",
        )
    return now


def _beside(folder: Path, name: str) -> Path:
    return Path(os.path.normpath(folder / name))
