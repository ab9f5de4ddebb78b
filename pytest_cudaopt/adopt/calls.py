"""Which function a pointer is handed to, as far as a body's text shows."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_cudaopt.adopt.tokens import STATEMENT_ENDS, Token

_CASTS = frozenset({"reinterpret_cast", "static_cast", "const_cast"})
_NO_CALLS = frozenset({"if", "while", "for", "switch", "return", "sizeof", "assert"})


def handed_to(body: Sequence[Token], at: int) -> str:
    """Return the function whose arguments mention the token, or nothing."""
    depth = 0
    for before in range(at - 1, -1, -1):
        text = body[before].text
        if text in STATEMENT_ENDS:
            return ""
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "["):
            depth -= 1
            name = _callee(body, before) if depth < 0 else ""
            if depth < 0 and (text == "[" or name in _NO_CALLS):
                return ""
            if name and name not in _CASTS:
                return name
            depth = max(depth, 0)
    return ""


def _callee(body: Sequence[Token], opening: int) -> str:
    at, depth = opening - 1, 0
    while at > 0 and (depth or body[at].text == ">"):
        depth += (body[at].text == ">") - (body[at].text == "<")
        at -= 1
    return body[at].text if at >= 0 and body[at].is_word else ""
