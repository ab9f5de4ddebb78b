"""CUDA text as tokens that know where they stand, without comments and preprocessor lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\s+|\\\r?\n)
  | (?P<directive>\#(?://[^\n]*|/\*.*?\*/|\\\r?\n|[^\n])*)
  | (?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z))
  | (?P<string>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<sign><<<|>>>|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|>>|[-+*/%&|^=!<>]=|&&|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_OPENS = frozenset(_CLOSES.values())
_CONDITION = re.compile(r"#\s*(\w+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
# What may stand between the angle brackets of a template's arguments.
_IN_ANGLES = frozenset({"::", "*", "&", ",", "<"})
_MOST_IN_ANGLES = 12


@dataclass(frozen=True)
class Token:
    """One token at `source[start:end]`; `kind` is word, number, string or sign."""

    text: str
    kind: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.kind == "word"

    @property
    def is_operand_end(self) -> bool:
        """True if a `+` or `-` behind it takes two operands."""
        return (self.kind in ("word", "number") and self.text != "return") or self.text in (")", "]")


@dataclass(frozen=True)
class Code:
    """A source's tokens; `partner` maps each bracket's index to the other's.

    `directive_words` are the words of its preprocessor lines: a macro may call a function.
    """

    source: str
    tokens: tuple[Token, ...]
    partner: dict[int, int]
    directive_words: frozenset[str]

    def text(self, start: int, end: int) -> str:
        """Return the source of the tokens from `start` up to, without, `end`."""
        return self.source[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""

    def at(self, index: int) -> str:
        """Return a token's text; empty beyond both ends."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def close(self, index: int) -> int:
        """Return the partner of the bracket at `index`, or the last token if it has none."""
        return self.partner.get(index, len(self.tokens) - 1)

    def find(self, texts: frozenset[str], start: int, end: int) -> int | None:
        """Return the first token that is one of `texts`, outside brackets that open in between."""
        return next((at for at in self.level(start, end) if self.tokens[at].text in texts), None)

    def level(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices from `start` up to `end`, but not those within brackets that open there."""
        at = start
        while at < end:
            yield at
            if self.tokens[at].text in _OPENS:
                at = max(at, self.close(at) - 1)
            at += 1

    def split(self, separator: str, start: int, end: int) -> list[tuple[int, int]]:
        """Split a range at the separators outside brackets that open in it."""
        cuts = [at for at in self.level(start, end) if self.tokens[at].text == separator]
        return list(zip([start, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True))

    def is_angle(self, index: int) -> bool:
        """True if the `<` or `>` there is a bracket of template arguments."""
        if self.at(index) == "<":
            return self._closing_angle(index) is not None
        opens = range(max(0, index - _MOST_IN_ANGLES), index)
        return any(self.at(at) == "<" and self._closing_angle(at) == index for at in opens)

    def _closing_angle(self, index: int) -> int | None:
        if index == 0 or not self.tokens[index - 1].is_word:
            return None
        for at in range(index + 1, min(index + _MOST_IN_ANGLES, len(self.tokens) - 1)):
            token = self.tokens[at]
            if token.text == ">":
                return at if self.at(at + 1) in ("(", "::", "{", ">") else None
            if not (token.is_word or token.kind == "number" or token.text in _IN_ANGLES):
                return None
        return None


def read(source: str) -> Code:
    """Read `source`, however broken: brackets without a partner only shorten what is understood."""
    tokens: list[Token] = []
    words: set[str] = set()
    brackets = _Brackets()
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup or "sign", match.group()
        if kind == "directive":
            words.update(_WORD.findall(text))
            brackets.branch(text)
        elif kind != "skip":
            kind = "string" if match["raw"] is not None else kind
            brackets.take(len(tokens), text if kind == "sign" else "")
            tokens.append(Token(text, kind, match.start(), match.end()))
    return Code(source, tuple(tokens), brackets.partner, frozenset(words))


class _Brackets:
    """Pairs brackets. Both branches of an `#if` start from the brackets that were open before it."""

    def __init__(self) -> None:
        self.partner: dict[int, int] = {}
        self._open: list[tuple[int, str]] = []
        self._saved: list[list[tuple[int, str]]] = []

    def take(self, index: int, text: str) -> None:
        if text in _OPENS:
            self._open.append((index, text))
        elif text in _CLOSES and any(opened == _CLOSES[text] for _, opened in self._open):
            # One that was forgotten is closed by an outer one.
            while self._open[-1][1] != _CLOSES[text]:
                self._open.pop()
            start = self._open.pop()[0]
            self.partner[start], self.partner[index] = index, start

    def branch(self, directive: str) -> None:
        match = _CONDITION.match(directive)
        name = match[1] if match else ""
        if name in ("if", "ifdef", "ifndef"):
            self._saved.append(list(self._open))
        elif name in ("else", "elif") and self._saved:
            self._open = list(self._saved[-1])
        elif name == "endif" and self._saved:
            self._saved.pop()
