"""Host functions of a CUDA file, which NVRTC cannot compile, and the text without them."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_cudaopt.adopt.scopes import is_linkage
from pytest_cudaopt.adopt.tokens import NOWHERE, Scanned

Lines = tuple[int, int]

# A constexpr function can be used by device code whatever it is marked as.
_DEVICE_MARKS = frozenset({"__global__", "__device__", "constexpr"})
_NO_FUNCTION = frozenset({"namespace", "struct", "class", "union", "enum"})
_BEFORE_BODY = frozenset({")", "const", "noexcept", "override"})
_ENDS = frozenset({";", "{", "}"})


def find_host_code(scanned: Scanned) -> list[Lines]:
    """Return the first and last line of every function at namespace scope that is for the host only."""
    found: list[Lines] = []
    for at, token in enumerate(scanned.tokens):
        if token.text != "{" or at not in scanned.partner or not _is_at_namespace_scope(scanned, at):
            continue
        start = _head_start(scanned, at)
        head = scanned.texts(start, at)
        if not head or not set(head) & _BEFORE_BODY or "(" not in head or "=" in head:
            continue
        # Projects hide the marks in macros such as DEVICE_INLINE.
        if set(head) & (_DEVICE_MARKS | _NO_FUNCTION) or any("DEVICE" in text for text in head):
            continue
        found.append((scanned.tokens[start].line, scanned.tokens[scanned.partner[at]].line))
    return found


def without_lines(source: str, ranges: Iterable[Lines]) -> str:
    """Blank the lines of `ranges`; the others keep their numbers."""
    lines = source.splitlines()
    for first, last in ranges:
        lines[first - 1 : last] = [""] * (min(last, len(lines)) - first + 1)
    return "\n".join(lines) + "\n"


def _head_start(scanned: Scanned, at: int) -> int:
    start = at
    while start > 0 and scanned.tokens[start - 1].text not in _ENDS:
        start -= 1
    return start


def _is_at_namespace_scope(scanned: Scanned, at: int) -> bool:
    brace = scanned.inside[at]
    while brace != NOWHERE:
        head = scanned.texts(_head_start(scanned, brace), brace)
        if "namespace" not in head and not is_linkage(head):
            return False
        brace = scanned.inside[brace]
    return True
