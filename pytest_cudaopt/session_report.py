"""A whole session as reports show it: kernels, their cases, what failed, what was left out.

Made from the rows that travel in pytest's reports; who lays it out is `markdown_report` and `html_report`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pytest_cudaopt.table import (
    NOT_RUN,
    Mood,
    Row,
    device_lines,
    latency_texts,
    mood_of,
    mood_of_verdict,
    table_title,
)

_NAMED = 8


@dataclass(frozen=True)
class FailedItem:
    """A kernel item that failed: its node id, one line, the whole text, and the line it points at."""

    item: str
    summary: str
    text: str
    file: str
    line: int


@dataclass(frozen=True)
class CasePart:
    """What is shown of one case: `found` is its latency or what a stage says, `notes` are sentences."""

    case: str
    status: str
    mood: Mood
    found: tuple[str, ...]
    verdict: str
    notes: tuple[str, ...]

    @property
    def verdict_mood(self) -> Mood:
        return mood_of_verdict(self.verdict)


@dataclass(frozen=True)
class KernelPart:
    """What is shown of one kernel; `device` is empty where the title names it."""

    kernel: str
    device: str
    cases: tuple[CasePart, ...]


@dataclass(frozen=True)
class SessionReport:
    """What the kernel items of a session found. `made` says when, and by what."""

    rows: tuple[Row, ...]
    failed: tuple[FailedItem, ...] = ()
    budget_s: float | None = None
    made: str = ""

    @property
    def title(self) -> str:
        return table_title(self.rows)

    @property
    def device_notes(self) -> tuple[tuple[str, Mood], ...]:
        """How the device was chosen, and what is wrong with the choice."""
        return tuple(piece for line in device_lines(self.rows) for piece in line)

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many items ended how: those that passed first, then the most frequent."""
        found = Counter(row.status for row in self.rows)
        return tuple(sorted(found.items(), key=lambda one: (one[0] != "passed", -one[1], one[0])))

    @property
    def summary(self) -> str:
        counted = ", ".join(f"{count} {status}" for status, count in self.counts)
        return f"{len(self.rows)} items: {counted}" if counted else "no kernel items were run"

    @property
    def cut(self) -> str | None:
        """What the budget left out, in one line; None if nothing."""
        left = [row.item.rpartition("::")[2] for row in self.rows if row.status == NOT_RUN]
        if not left or self.budget_s is None:
            return None
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        count = f"{len(left)} {'item' if len(left) == 1 else 'items'}"
        named = ", ".join(left[:_NAMED])
        return f"budget of {self.budget_s:g} s spent: {count} not run: {named}{more}"

    @property
    def kernels(self) -> tuple[KernelPart, ...]:
        several = len({row.device for row in self.rows if row.device}) > 1
        return tuple(
            KernelPart(kernel, own[0].device if several else "", tuple(_cases(own)))
            for kernel, group in groupby(self.rows, key=lambda row: row.kernel)
            if (own := list(group))
        )

    @property
    def has_verdicts(self) -> bool:
        return any(row.verdict for row in self.rows)


def _cases(rows: Sequence[Row]) -> Iterator[CasePart]:
    for _, group in groupby(rows, key=lambda row: row.position):
        own = list(group)
        # As the table of the terminal does: the worse of check and latency is the one to see.
        shown = next((row for row in own if row.status != "passed"), own[0])
        found = next((texts for row in own if (texts := latency_texts(row))), [])
        yield CasePart(
            shown.case,
            shown.status,
            mood_of(shown.status),
            tuple(found),
            next((row.verdict for row in own if row.verdict), ""),
            _notes(own),
        )


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    gates = [row.gate for row in rows if row.gate]
    baselines = [row.baseline_note for row in rows if row.baseline_note]
    waived = [text for row in rows for text in row.waived]
    doubts = [f"warning: {text}" for row in rows for text in row.doubts]
    return tuple(dict.fromkeys([*gates, *baselines, *waived, *doubts]))


def shortened(report: SessionReport) -> SessionReport:
    """Return the report without the cases at which all is well."""
    worth = {(row.kernel, row.position) for row in report.rows if row.status != "passed" or row.verdict}
    return replace(report, rows=tuple(row for row in report.rows if (row.kernel, row.position) in worth))
