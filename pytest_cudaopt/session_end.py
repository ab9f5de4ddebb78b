"""What a session says at its end of its kernels: on the terminal, in a report's file, to GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from _pytest._code.code import ReprFileLocation

from pytest_cudaopt import __version__, github
from pytest_cudaopt.html_report import html_report
from pytest_cudaopt.markdown_report import markdown_report
from pytest_cudaopt.report import FailureClass, shown_path
from pytest_cudaopt.session import KernelSession
from pytest_cudaopt.session_report import FailedItem, SessionReport
from pytest_cudaopt.table import Line, Mood, device_lines, rows_from, table_lines, table_title

_MARKUP = {
    Mood.TITLE: {"bold": True},
    Mood.GOOD: {"green": True},
    Mood.BAD: {"red": True},
    Mood.WARNING: {"yellow": True},
}


def write(
    reports: Sequence[pytest.TestReport],
    broken: Sequence[pytest.CollectReport],
    session: KernelSession,
    reporter: pytest.TerminalReporter,
    environ: Mapping[str, str],
) -> None:
    """Write everything that was asked for; `reports` are those of kernel items, `broken` of modules.

    Reports and not this process's items: under pytest-xdist only reports get here.
    """
    rows = rows_from(report.user_properties for report in reports)
    made = f"pytest-cudaopt {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    failed = (*_undeclared(broken, session.root), *_failed(reports, session.root))
    whole = SessionReport(tuple(rows), failed, session.settings.budget_s, made)
    verbosity = reporter.config.get_verbosity()
    if rows and verbosity > -2:
        reporter.write_sep("=", table_title(rows))
        _write_lines(reporter, [*device_lines(rows), *table_lines(rows, verbose=verbosity > 0)])
    if whole.cut is not None:
        _write_lines(reporter, [((whole.cut, Mood.WARNING),)])
    if session.report_file is not None:
        _write_lines(reporter, [_write_report(whole, session.report_file)])
    if (rows or failed) and github.is_in_actions(environ):
        _tell_github(whole, session.root, reporter, environ)


def _failed(reports: Sequence[pytest.TestReport], root: Path) -> Iterator[FailedItem]:
    for report in reports:
        if not report.failed:
            continue
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is None:
            # Not ours, such as a failure that was expected, strictly, and did not come.
            path, line, _ = report.location
            text = report.longreprtext
            yield FailedItem(report.nodeid, text.partition("\n")[0], text, path, (line or 0) + 1)
        else:
            yield _failed_item(report, crash, root)


def _undeclared(broken: Sequence[pytest.CollectReport], root: Path) -> Iterator[FailedItem]:
    """Return the modules whose declarations are at fault, not those that Python could not import."""
    for report in broken:
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None and crash.message.partition(":")[0] in list(FailureClass):
            yield _failed_item(report, crash, root)


def _failed_item(
    report: pytest.TestReport | pytest.CollectReport, crash: ReprFileLocation, root: Path
) -> FailedItem:
    file = shown_path(Path(crash.path), root)
    summary = crash.message.partition("\n")[0]
    return FailedItem(report.nodeid, summary, report.longreprtext, file, crash.lineno)


def _write_report(report: SessionReport, file: Path) -> Line:
    text = html_report(report) if file.suffix.lower() == ".html" else markdown_report(report)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        return ((f"WARNING: no report was written: {error}", Mood.BAD),)
    return ((f"report: {file}", Mood.PLAIN),)


def _tell_github(
    report: SessionReport, root: Path, reporter: pytest.TerminalReporter, environ: Mapping[str, str]
) -> None:
    workspace = Path(environ.get("GITHUB_WORKSPACE") or root)
    # It reads only what begins a line.
    reporter.ensure_newline()
    for line in github.annotation_lines(report, root, workspace):
        reporter.write_line(line)
    summary = environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(github.step_summary(report))
        except OSError as error:
            _write_lines(reporter, [((f"WARNING: no step summary was written: {error}", Mood.BAD),)])


def _write_lines(reporter: pytest.TerminalReporter, lines: Sequence[Line]) -> None:
    for line in lines:
        for text, mood in line:
            reporter.write(text, **_MARKUP.get(mood, {}))
        reporter.write_line("")
