"""Expectations that stand in a kernel's source, at the lines they are about.

`// FINDING race tile` at the end of a line: a race is to be found there, on `tile`. `// FINDING
illegal_address x[1000]` names the element that the first thread to go wrong touches where turns go forward;
`race|unfinished_copy` leaves the kind open. `// ALSO race` allows a finding there, and needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt.finding import Finding

_MARK = re.compile(
    r"// (?P<demand>FINDING|ALSO) (?P<kinds>[a-z_|]+)(?: (?P<place>\w+)(?:\[(?P<element>-?\d+)\])?)?$"
)


@dataclass(frozen=True)
class Mark:
    """What may be found at a line, and whether it has to be; `place` is the array or variable."""

    line: int
    kinds: tuple[str, ...]
    needed: bool
    place: str | None = None
    element: int | None = None

    def allows(self, finding: Finding, *, with_element: bool) -> bool:
        """Whether `finding`, one of whose two lines this is, is of the kind and on the place."""
        if finding.kind not in self.kinds or (self.place is not None and finding.buffer != self.place):
            return False
        return not with_element or self.element in (None, finding.element)


def marks_in(source: Path) -> tuple[Mark, ...]:
    """Return the marks of a kernel's source, in the order of its lines."""
    lines = source.read_text().splitlines()
    found = ((number, _MARK.search(line)) for number, line in enumerate(lines, start=1))
    return tuple(_mark(number, match) for number, match in found if match)


def complaint(findings: Iterable[Finding], marks: Iterable[Mark], *, with_element: bool = True) -> str | None:
    """Return what is wrong with `findings`, if they are not what `marks` ask for."""
    by_line = {mark.line: mark for mark in marks}
    missed = {line for line, mark in by_line.items() if mark.needed}
    for finding in findings:
        for line in _lines_of(finding):
            mark = by_line.get(line)
            if mark is None or not mark.allows(finding, with_element=with_element):
                return f"nobody planted a {finding.kind} of '{finding.buffer}' at line {line}"
            missed.discard(line)
    return f"nothing was found at line {', '.join(map(str, sorted(missed)))}" if missed else None


def _lines_of(finding: Finding) -> tuple[int, ...]:
    """Return the lines a finding names, its own and the other party's; 0 for one that names none."""
    return (finding.line or 0, *(() if finding.other is None else (finding.other.line or 0,)))


def _mark(number: int, match: re.Match[str]) -> Mark:
    element = match["element"]
    return Mark(
        number,
        tuple(match["kinds"].split("|")),
        match["demand"] == "FINDING",
        match["place"],
        None if element is None else int(element),
    )
