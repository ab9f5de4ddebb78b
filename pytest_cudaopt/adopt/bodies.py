"""What a kernel's body does with its arrays, as far as its text shows; evidence for a guess, not a proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.calls import handed_to
from pytest_cudaopt.adopt.declarations import KernelDeclaration
from pytest_cudaopt.adopt.scopes import scopes_of
from pytest_cudaopt.adopt.tokens import Scanned, Token
from pytest_cudaopt.adopt.types import read_type

_UPDATES = frozenset({"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", "++", "--"})
_AFTER_STAR = frozenset({"const", "__restrict__", "__restrict", "restrict"})
_BEFORE_DEREFERENCE = frozenset({";", "{", "}", "(", ",", "=", ")", "+", "-", "/", "return", "else"})


@dataclass(frozen=True)
class Accesses:
    """How an array is used; `words` are the names in its indices, `only_first` that none is used but [0].

    `index` is the name that every index is, if one is. `handed_to` is a function that may do
    anything with it.
    """

    reads: bool = False
    writes: bool = False
    words: frozenset[str] = frozenset()
    only_first: bool = False
    read_line: int = 0
    index: str = ""
    handed_to: str = ""
    handed_line: int = 0


@dataclass(frozen=True)
class Constant:
    """A `__constant__` variable by its qualified name; `extents` as written, none for one value."""

    name: str
    symbol: str
    base: str
    extents: tuple[str, ...]
    line: int


def accesses(scanned: Scanned, kernel: KernelDeclaration, name: str) -> Accesses:
    """Return what the body does with the array `name`, through pointers made from it too."""
    if kernel.body is None or not name:
        return Accesses()
    body = scanned.tokens[kernel.body[0] : kernel.body[1] + 1]
    names = {name}
    words: set[str] = set()
    for alias, made_from in _pointers_made(body, name):
        names.add(alias)
        words |= made_from
    reads = writes = False
    read_line = handed_line = 0
    receiver = ""
    indices: list[list[str]] = []
    for at, token in enumerate(body):
        if token.text not in names or _is_member(body, at):
            continue
        use = _use(body, at)
        if use is None:
            function = "" if _is_asked(body, at) else handed_to(body, at)
            if any(word in function.lower() for word in ("load", "ldg", "prefetch")):
                reads, read_line = True, read_line or token.line
            elif "store" in function.lower():
                writes = True
            elif function and not receiver:
                receiver, handed_line = function, token.line
            continue
        does_read, does_write, index = use
        reads, writes = reads or does_read, writes or does_write
        read_line = read_line or (token.line if does_read else 0)
        indices.append([t.text for t in index])
        words |= {t.text for t in index if t.is_word}
    only_first = bool(indices) and len(names) == 1 and all(index in ([], ["0"]) for index in indices)
    one_index = _one_index(indices) if len(names) == 1 and not receiver else ""
    return Accesses(reads, writes, frozenset(words), only_first, read_line, one_index, receiver, handed_line)


def _one_index(indices: Sequence[Sequence[str]]) -> str:
    """Return the word that all the indices are; nothing if they differ."""
    index = indices[0][0] if indices and len(indices[0]) == 1 else ""
    return index if index.isidentifier() and all(list(one) == [index] for one in indices) else ""


def find_constants(scanned: Scanned) -> list[Constant]:
    """Return the `__constant__` variables of the file."""
    found = []
    for at, token in enumerate(scanned.tokens):
        if token.text != "__constant__":
            continue
        end = at
        while end < len(scanned.tokens) and scanned.tokens[end].text not in (";", "=", "{"):
            end += 1
        declared = [t for t in scanned.tokens[at + 1 : end] if t.text not in ("__device__", "static")]
        opening = next((i for i, t in enumerate(declared) if t.text == "["), len(declared))
        if opening < 2:
            continue
        inner = " ".join(t.text for t in declared[opening:])
        extents = tuple(part.strip(" ]") for part in inner.split("[")[1:])
        base = read_type(declared[: opening - 1]).base
        name = declared[opening - 1].text
        symbol = "::".join((*scopes_of(scanned, at)[0], name))
        found.append(Constant(name, symbol, base, extents, token.line))
    return found


def words_of(scanned: Scanned, kernel: KernelDeclaration) -> frozenset[str]:
    """Return every word of the body."""
    if kernel.body is None:
        return frozenset()
    return frozenset(token.text for token in scanned.tokens[kernel.body[0] : kernel.body[1]] if token.is_word)


def _use(body: Sequence[Token], at: int) -> tuple[bool, bool, Sequence[Token]] | None:
    """Return (reads, writes, index) of one mention; None where it only makes another pointer."""
    before = body[at - 1].text if at else ""
    after = body[at + 1].text if at + 1 < len(body) else ""
    index: Sequence[Token] = ()
    end = at + 1
    if after == "[":
        end = _closing(body, at + 1, "[", "]")
        index, end = body[at + 2 : end], end + 1
    is_dereferenced = before == "*" and at > 1 and body[at - 2].text in _BEFORE_DEREFERENCE
    call = _call_around(body, at)
    if call.startswith("atomic"):
        return True, True, index or body[at + 1 : _end_of_argument(body, at)]
    if after != "[" and not is_dereferenced:
        # Handed to a function that may do anything: nothing is shown.
        return None
    operator = body[end].text if end < len(body) else ""
    if operator == "=":
        return False, True, index
    if operator in _UPDATES or before in ("++", "--"):
        return True, True, index
    return before != "&", False, index


def _call_around(body: Sequence[Token], at: int) -> str:
    """Return the function whose first argument mentions the token, or nothing."""
    start = at - 1
    while start > 0 and body[start].text in ("&", "*"):
        start -= 1
    return body[start - 1].text if start > 0 and body[start].text == "(" else ""


def _end_of_argument(body: Sequence[Token], at: int) -> int:
    end, depth = at + 1, 0
    while end < len(body) and (depth or body[end].text not in (",", ")", ";")):
        depth += (body[end].text in "([") - (body[end].text in ")]")
        end += 1
    return end


def _pointers_made(body: Sequence[Token], name: str) -> Iterator[tuple[str, set[str]]]:
    """Yield pointers declared from `name` (`T* row = x + row * cols;`) and the words they were made from."""
    for at, token in enumerate(body):
        if token.text != "=" or at < 2 or not body[at - 1].is_word:
            continue
        star = at - 2
        while star > 0 and body[star].text in _AFTER_STAR:
            star -= 1
        end = next((i for i in range(at, len(body)) if body[i].text in (";", "{")), len(body))
        texts = [t.text for t in body[at + 1 : end]]
        is_pointer = body[star].text == "*" or (body[star].text == "auto" and "[" not in texts)
        if is_pointer and name in texts and body[star - 1].text not in _BEFORE_DEREFERENCE:
            yield body[at - 1].text, {t.text for t in body[at + 1 : end] if t.is_word} - {name}


def _closing(body: Sequence[Token], at: int, opens: str, closes: str) -> int:
    depth = 0
    for end in range(at, len(body)):
        depth += (body[end].text == opens) - (body[end].text == closes)
        if depth == 0:
            return end
    return len(body) - 1


def _is_asked(body: Sequence[Token], at: int) -> bool:
    """True if the pointer is only compared, as in `bias ? bias[i] : 0`."""
    return body[at + 1].text in ("?", "==", "!=", "&&", "||") or body[at - 1].text == "!"


def _is_member(body: Sequence[Token], at: int) -> bool:
    return at > 0 and body[at - 1].text in (".", "->", "::")
