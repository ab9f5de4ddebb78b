"""What GitHub Actions reads: annotations on standard output, and the summary of a step. Pure text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_cudaopt.markdown_report import markdown_report
from pytest_cudaopt.session_report import FailedItem, SessionReport, shortened
from pytest_cudaopt.table import Mood

# GitHub shows none of a summary that is larger.
SUMMARY_BYTES = 1 << 20


def is_in_actions(environ: Mapping[str, str]) -> bool:
    """Whether a workflow of GitHub Actions runs this."""
    return environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(report: SessionReport, root: Path, workspace: Path) -> Iterator[str]:
    """Return a line per failure that GitHub shows beside the source, then one per thing to look at.

    Failures alike, such as of a missing GPU, share a line: GitHub shows ten of a step. The report's files
    are relative to `root`, GitHub's to the checkout in `workspace`.
    """
    for failed, more in _alike(report.failed):
        title = failed.item + (f" and {more} more" if more else "")
        place = {"file": _relative(root / failed.file, workspace), "line": str(failed.line)}
        yield _command("error", place | {"title": title}, failed.summary)
    for text, mood in report.device_notes:
        if mood is Mood.BAD:
            yield _command("warning", {"title": "CUDA kernels"}, text)
    if report.cut is not None:
        yield _command("warning", {"title": "CUDA kernels"}, report.cut)
    for row in report.rows:
        if row.verdict == "unsure":
            yield _command("warning", {"title": row.item}, f"unsure: {row.gate}" if row.gate else "unsure")
    doubts = dict.fromkeys(doubt for row in report.rows for doubt in row.doubts)
    for doubt in doubts:
        about = [row.item for row in report.rows if doubt in row.doubts]
        yield _command("warning", {"title": ", ".join(about)}, doubt)


def step_summary(report: SessionReport, limit_bytes: int = SUMMARY_BYTES) -> str:
    """Return the Markdown for a step's summary; of a report that is too long, what did not pass."""
    whole = markdown_report(report)
    if len(whole.encode()) <= limit_bytes:
        return whole
    short = markdown_report(shortened(report)) + "\nCases that passed are left out: there are too many.\n"
    if len(short.encode()) <= limit_bytes:
        return short
    return f"# {report.title}\n\n{report.summary}: too many to be shown here\n"


def _alike(failed: tuple[FailedItem, ...]) -> Iterator[tuple[FailedItem, int]]:
    """Return each failure that is not like one before, with how many are like it."""
    groups: dict[tuple[str, str, int], list[FailedItem]] = {}
    for one in failed:
        # What the machine lacks is the same wherever it was missed.
        place = ("", 0) if one.summary.startswith("ENVIRONMENT: ") else (one.file, one.line)
        groups.setdefault((one.summary, *place), []).append(one)
    for group in groups.values():
        yield group[0], len(group) - 1


def _command(level: str, properties: Mapping[str, str], message: str) -> str:
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {told}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _relative(file: Path, workspace: Path) -> str:
    path = os.path.relpath(file, workspace)
    return str(file) if path.startswith("..") else path
