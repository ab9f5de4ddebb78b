"""A finding as lines: the access, who did it, where in the source, and the other party, like a compiler."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_cudaopt.excerpts import CompiledSource
from pytest_cudaopt.finding import Finding, OtherParty

# Two places that are no further apart are shown in one piece.
_NEAR_LINES = 8


def finding_lines(finding: Finding, source: CompiledSource) -> list[str]:
    """Say what the message, which stands above, has not said already."""
    lines: list[str] = []
    if finding.buffer is not None and f"{finding.buffer}[" not in finding.message and finding.access:
        lines.append(f"  {'access':<9} {_access_text(finding)}")
    if finding.block is not None and finding.thread is not None and "thread (" not in finding.message:
        lines.append(f"  {'by':<9} {_thread(finding)}")
    if finding.times > 1:
        lines.append(f"  {'seen':<9} {finding.times} times")
    if finding.instruction is not None:
        lines.append(f"  {'executing':<9} {finding.instruction}")
    return [*lines, *_places(finding, source)]


def _places(finding: Finding, source: CompiledSource) -> list[str]:
    other = finding.other
    if finding.file is None or finding.line is None:
        return [] if other is None else _other_lines(other, source, with_excerpt=True)
    lines = [f"  {'at':<9} {source.place(finding.file, finding.line)}"]
    if other is None:
        return [*lines, *source.excerpt(finding.file, finding.line), *_inlined(finding, source)]
    is_near = (
        other.line is not None
        and other.file == finding.file
        and abs(other.line - finding.line) <= _NEAR_LINES
    )
    if not is_near:
        lines += [*source.excerpt(finding.file, finding.line), *_inlined(finding, source)]
        return [*lines, *_other_lines(other, source, with_excerpt=True)]
    lines += [*_inlined(finding, source), *_other_lines(other, source, with_excerpt=False)]
    return [*lines, *source.excerpt(finding.file, finding.line, also=other.line)]


def _other_lines(other: OtherParty, source: CompiledSource, *, with_excerpt: bool) -> list[str]:
    """Say what the other party did, and where."""
    by = f" by {_thread(other)}" if other.block is not None and other.thread is not None else ""
    at = f" at {source.place(other.file, other.line)}" if other.file and other.line is not None else ""
    lines = [f"  {'other':<9} {other.access}{by}{at}"]
    if with_excerpt:
        lines += source.excerpt(other.file, other.line)
    return [*lines, *_inlined(other, source)]


def _inlined(party: Finding | OtherParty, source: CompiledSource) -> Iterable[str]:
    return (f"  {'inlined':<9} at {source.place(point.file, point.line)}" for point in party.inlined_from)


def _thread(party: Finding | OtherParty) -> str:
    assert party.block is not None  # noqa: S101 - the caller looked
    assert party.thread is not None  # noqa: S101
    return f"block {_extent(party.block)}, thread {_extent(party.thread)}"


def _access_text(finding: Finding) -> str:
    element = "" if finding.element is None else f"[{finding.element}]"
    of = "" if finding.elements is None else f", which has {finding.elements} elements"
    size = "" if finding.bytes is None else f" ({finding.bytes} bytes)"
    return f"{finding.access or 'access'} of {finding.buffer}{element}{of}{size}"


def _extent(index: tuple[int, int, int]) -> str:
    return f"({index[0]}, {index[1]}, {index[2]})"
