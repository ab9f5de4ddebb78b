"""Which pointers a file itself lets be null."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.launches import find_launches
from pytest_cudaopt.adopt.tokens import Scanned, split_at_commas

_NULL = frozenset({"nullptr", "NULL"})
_EQUALITY = frozenset({"==", "!="})
_LOGIC = frozenset({"&&", "||", "?"})


def may_be_null(scanned: Scanned, kernel: KernelDeclaration, name: str) -> bool:
    """True if the body asks whether the pointer `name` is null, or if a launch passes a null pointer."""
    if kernel.body is None or not name:
        return False
    texts = scanned.texts(*kernel.body)
    asked = any(_is_asked(texts, at) for at, text in enumerate(texts) if text == name and at > 1)
    return asked or _is_passed(scanned, kernel, name)


def _is_asked(texts: Sequence[str], at: int) -> bool:
    before, after = texts[at - 1], texts[at + 1] if at + 1 < len(texts) else ""
    if before in (".", "->", "::"):
        return False
    if after in _EQUALITY and texts[at + 2] in _NULL:
        return True
    if before in _EQUALITY and texts[at - 2] in _NULL:
        return True
    is_condition = before in ("(", "!", "&&", "||", "=", ",", "return")
    if is_condition and after in _LOGIC:
        return True
    return after == ")" and (before in ("!", "&&", "||") or texts[at - 2 : at] == ["if", "("])


def _is_passed(scanned: Scanned, kernel: KernelDeclaration, name: str) -> bool:
    position = next((at for at, one in enumerate(kernel.parameters) if one.name == name), None)
    for _, _, arguments in find_launches(scanned, kernel.name):
        parts = split_at_commas(arguments)
        texts = (
            [token.text for token in parts[position]]
            if position is not None and position < len(parts)
            else []
        )
        if (len(texts) == 1 or "?" in texts) and set(texts) & _NULL:
            return True
    return False
