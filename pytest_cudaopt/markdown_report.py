"""A session's report as Markdown, as GitHub shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_cudaopt.session_report import CasePart, FailedItem, KernelPart, SessionReport
from pytest_cudaopt.table import Mood


def markdown_report(report: SessionReport) -> str:
    """Return the whole report: what failed first, then every kernel's cases."""
    lines = [f"# {escaped(report.title)}", "", *_head(report)]
    if report.failed:
        lines += ["## Failed", "", *map(_failed_line, report.failed), ""]
    if report.rows:
        lines += ["## Kernels", "", *_table(report), ""]
    if report.made:
        lines += [escaped(report.made), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return `text` so that Markdown shows it as it is, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>|~&#])", r"\\\1", " ".join(text.split()))


def _head(report: SessionReport) -> Iterator[str]:
    for text, mood in report.device_notes:
        yield from (f"**{escaped(text)}**" if mood is Mood.BAD else escaped(text), "")
    yield from (escaped(report.summary), "")
    if report.cut is not None:
        yield from (f"**{escaped(report.cut)}**", "")


def _failed_line(failed: FailedItem) -> str:
    return f"- {_code(failed.item)} at {_code(f'{failed.file}:{failed.line}')}: {escaped(failed.summary)}"


def _table(report: SessionReport) -> Iterator[str]:
    columns = ["kernel", "case", "status", "found", *(["gate"] if report.has_verdicts else [])]
    yield _row(columns)
    yield _row(["---"] * len(columns))
    for kernel in report.kernels:
        for number, case in enumerate(kernel.cases):
            cells = [_kernel_cell(kernel) if number == 0 else "", *_case_cells(case)]
            yield _row(cells if report.has_verdicts else cells[:-1])


def _kernel_cell(kernel: KernelPart) -> str:
    where = f" on {escaped(kernel.device)}" if kernel.device else ""
    return _code(kernel.kernel) + where


def _case_cells(case: CasePart) -> list[str]:
    status = f"**{escaped(case.status)}**" if case.mood is Mood.BAD else escaped(case.status)
    verdict = f"**{escaped(case.verdict)}**" if case.verdict_mood is Mood.BAD else escaped(case.verdict)
    return [escaped(case.case), status, "<br>".join(map(escaped, (*case.found, *case.notes))), verdict]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    # A table's cells end at a bar even within code.
    return "`" + text.replace("`", "'").replace("|", "\\|") + "`"
