"""Waivers: findings that somebody has looked at and accepts, with a reason; shown, never silent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.finding import BEYOND_LIMITS, SEEN_BY_CHECKS, Finding, FindingKind, SourcePoint

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate

_AT = re.compile(r"^(?P<file>[^:]*[^:\s])(?::(?P<line>[1-9]\d*))?$")


@dataclass(frozen=True)
class Waiver:
    """What is accepted: findings of a kind in a file, or with `line` only those of that line."""

    kind: FindingKind
    file: str
    line: int | None
    reason: str

    @property
    def at(self) -> str:
        """The place as it was written."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f'waive("{self.kind}", at="{self.at}")'


@dataclass(frozen=True)
class Waived:
    """A finding that is accepted, and by which waiver."""

    finding: Finding
    waiver: Waiver

    def __str__(self) -> str:
        """One line for a person."""
        finding = self.finding
        times = "" if finding.times == 1 else f", seen {finding.times} times"
        return f"{finding.kind} at {self.waiver.at} is waived: {self.waiver.reason}{times}"


def waive(kind: str, *, at: str, reason: str) -> Waiver:
    """Accept findings of `kind` at a line, `at="hist.cu:31"`, or anywhere in a file, `at="hist.cu"`.

    A race is at both of its lines. In another version of the file the waiver holds where the same text
    stands. What ends a launch cannot be waived: nothing is left to judge.
    """
    kinds = [str(one) for one in (*SEEN_BY_CHECKS, *BEYOND_LIMITS)]
    if kind not in kinds:
        raise DeclarationError(
            f"waive({kind!r})",
            expected=f"a kind of finding: {', '.join(kinds)}",
            got=repr(kind),
            next_step=did_you_mean(kind, kinds) if isinstance(kind, str) else None,
        )
    place = _AT.match(at) if isinstance(at, str) else None
    if place is None:
        raise DeclarationError(
            f'waive("{kind}", at=)', expected='FILE:LINE or FILE, such as "hist.cu:31"', got=repr(at)
        )
    if not isinstance(reason, str) or not reason.strip():
        raise DeclarationError(
            f'waive("{kind}", reason=)', expected="why the finding is no mistake", got=repr(reason)
        )
    line = place["line"]
    return Waiver(FindingKind(kind), place["file"], None if line is None else int(line), reason.strip())


def sort_out(
    findings: Iterable[Finding], waivers: Sequence[Waiver], candidate: Candidate, source: Path, text: str
) -> tuple[tuple[Finding, ...], tuple[Waived, ...]]:
    """Return the findings that stand, and those that are waived.

    `candidate` may be another version of the kernel's own file `source`, which holds `text`.
    """
    standing, waived = [], []
    for finding in findings:
        waiver = next((one for one in waivers if _covers(one, finding, candidate, source, text)), None)
        if waiver is None:
            standing.append(finding)
        else:
            waived.append(Waived(finding, waiver))
    return tuple(standing), tuple(waived)


def _covers(waiver: Waiver, finding: Finding, candidate: Candidate, source: Path, text: str) -> bool:
    if finding.kind is not waiver.kind:
        return False
    if waiver.line is None and finding.file == candidate.file and _is_named(waiver, source):
        return True
    return any(_is_at(waiver, point, candidate, source, text) for point in finding.places)


def _is_at(waiver: Waiver, point: SourcePoint, candidate: Candidate, source: Path, text: str) -> bool:
    if point.file != candidate.file:
        return waiver.line in (None, point.line) and _is_named(waiver, source.parent / point.file)
    if not _is_named(waiver, source):
        return False
    if waiver.line is None:
        return True
    own = _line(text, waiver.line)
    if own and own == _line(candidate.source, waiver.line):
        return point.line == waiver.line
    # Another version: what was looked at is the code, wherever it stands there.
    return bool(own) and own == _line(candidate.source, point.line)


def _is_named(waiver: Waiver, path: Path) -> bool:
    """Whether the waiver's file, which may be written with some of its folders, is `path`."""
    written = PurePath(os.path.normpath(waiver.file)).parts
    return PurePath(os.path.normpath(path)).parts[-len(written) :] == written


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number - 1].strip() if 1 <= number <= len(lines) else ""
