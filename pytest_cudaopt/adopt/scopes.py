"""What stands around a token of CUDA text: its statement, and the scopes it is in."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_cudaopt.adopt.tokens import NOWHERE, STATEMENT_ENDS, Scanned


def statement_start(scanned: Scanned, index: int) -> int:
    """Return where the statement or declaration that holds a token begins."""
    start = index
    while start > 0 and scanned.tokens[start - 1].text not in STATEMENT_ENDS:
        start -= 1
    # `extern "C" {` ends in a brace of its own; access specifiers end in a colon.
    return start


def scopes_of(scanned: Scanned, index: int) -> tuple[tuple[str, ...], bool]:
    """Return the namespaces around a token, and whether a class is among what surrounds it.

    An anonymous namespace and `extern "C"` give no name.
    """
    names: list[str] = []
    in_class = False
    brace = scanned.inside[index]
    while brace != NOWHERE:
        head = scanned.texts(statement_start(scanned, brace), brace)
        if "namespace" in head:
            names[:0] = [text for text in head[head.index("namespace") + 1 :] if text not in ("::", "inline")]
        elif not is_linkage(head):
            in_class = True
        brace = scanned.inside[brace]
    return tuple(names), in_class


def is_linkage(head: Sequence[str]) -> bool:
    """True for what stands before the brace of `extern "C" {`."""
    return len(head) == 2 and head[0] == "extern"
