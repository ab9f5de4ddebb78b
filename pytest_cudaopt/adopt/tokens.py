"""CUDA text as tokens that know their line, their bracket's partner and the braces around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# `>` stands alone, since `>>>` also closes three template argument lists.
_TOKEN = re.compile(
    r"""
    (?P<skip>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|\s+|\\\r?\n)
  | (?P<directive>\#(?://[^\n]*|/\*.*?\*/|\\\r?\n|[^\n])*)
  | (?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?(?:\)(?P=fence)"|\Z))
  | (?P<string>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<sign><<<|<<=|\.\.\.|::|->|\+\+|--|[-+*/%&|^=!<]=|&&|\|\||<<|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_OPENS = frozenset(_CLOSES.values())
STATEMENT_ENDS = frozenset({";", "{", "}"})
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*(.*)", re.DOTALL)
_INCLUDED = re.compile(r"^(?:<([^>]+)>|\"([^\"]+)\")")
_DEFINED_NUMBER = re.compile(r"^(\w+)\s+\(?(\d+)[uUlL]*\)?\s*(?://.*|/\*.*)?$")
NOWHERE = -1


@dataclass(frozen=True)
class Token:
    """One token; `kind` is word, number, string or sign. `line` counts from 1."""

    text: str
    kind: str
    line: int

    @property
    def is_word(self) -> bool:
        return self.kind == "word"


@dataclass(frozen=True)
class Include:
    """An `#include` line and the header it names."""

    header: str
    line: int


@dataclass(frozen=True)
class Scanned:
    """A file's tokens without comments and directives.

    `partner` maps each bracket's index to the other's; `inside` holds for each token the index of the
    innermost open brace, or NOWHERE. `constants` are macros that stand for an integer.
    """

    tokens: tuple[Token, ...]
    partner: dict[int, int]
    inside: tuple[int, ...]
    includes: tuple[Include, ...]
    constants: dict[str, int]
    macros_with_kernels: tuple[int, ...]

    def texts(self, start: int, end: int) -> list[str]:
        return [token.text for token in self.tokens[start:end]]


def scan(source: str) -> Scanned:
    """Read `source`, however broken: an unclosed string or bracket only shortens what is understood."""
    tokens: list[Token] = []
    brackets = _Brackets()
    includes: list[Include] = []
    constants: dict[str, int] = {}
    macros: list[int] = []
    for kind, text, line in _pieces(source):
        if kind != "directive":
            brackets.take(len(tokens), text if kind == "sign" else "")
            tokens.append(Token(text, kind, line))
            continue
        name, rest = _directive(text)
        brackets.branch(name)
        if name == "include" and (found := _INCLUDED.match(rest)):
            includes.append(Include(found[1] or found[2], line))
        elif name == "define" and (number := _DEFINED_NUMBER.match(rest.strip())):
            constants[number[1]] = int(number[2])
        elif name == "define" and "__global__" in rest:
            macros.append(line)
    return Scanned(
        tuple(tokens), brackets.partner, tuple(brackets.inside), tuple(includes), constants, tuple(macros)
    )


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at the commas outside all brackets, angle brackets included; of nothing, return nothing."""
    parts: list[list[Token]] = [[]]
    depth = angles = 0
    for token in tokens:
        depth += (token.text in _OPENS) - (token.text in _CLOSES)
        # In parentheses they compare.
        angles += ((token.text == "<") - (token.text == ">")) * (depth == 0)
        if token.text == "," and depth == angles == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def closing_angle(tokens: Sequence[Token], opening: int) -> int | None:
    """Return where the template list that opens at `opening` ends; None if it does not in this statement."""
    depth = angles = 0
    for at in range(opening, len(tokens)):
        if tokens[at].text in STATEMENT_ENDS:
            return None
        depth += (tokens[at].text in _OPENS) - (tokens[at].text in _CLOSES)
        angles += ((tokens[at].text == "<") - (tokens[at].text == ">")) * (depth == 0)
        if angles == 0:
            return at
    return None


def spelled(tokens: Sequence[Token]) -> str:
    """Return tokens as text a person would write: `unsigned int`, `const float*`, `a[n + 1]`."""
    text, depth = "", 0
    for token in tokens:
        # In parentheses angles compare.
        is_angle = depth == 0 and (token.text in "<>" or text[-1:] == "<")
        is_tight = token.text in "*&)],;[(" or text[-1:] in ("(", "[", "!", "~")
        is_glued = not text or is_angle or is_tight or "::" in (token.text, text[-2:])
        depth += (token.text == "(") - (token.text == ")")
        text += token.text if is_glued else f" {token.text}"
    return text


class _Brackets:
    """Pairs brackets. Both branches of an `#if` start from the brackets that were open before it."""

    def __init__(self) -> None:
        self.partner: dict[int, int] = {}
        self.inside: list[int] = []
        self._open: list[tuple[int, str]] = []
        self._saved: list[list[tuple[int, str]]] = []

    def take(self, index: int, text: str) -> None:
        # One that was never opened closes nothing; one that was forgotten is closed by an outer one.
        if text in _CLOSES and any(opened == _CLOSES[text] for _, opened in self._open):
            while self._open[-1][1] != _CLOSES[text]:
                self._open.pop()
            start = self._open.pop()[0]
            self.partner[start], self.partner[index] = index, start
        self.inside.append(next((at for at, opened in reversed(self._open) if opened == "{"), NOWHERE))
        if text in ("(", "[", "{"):
            self._open.append((index, text))

    def branch(self, directive: str) -> None:
        if directive in ("if", "ifdef", "ifndef"):
            self._saved.append(list(self._open))
        elif directive in ("else", "elif") and self._saved:
            self._open = list(self._saved[-1])
        elif directive == "endif" and self._saved:
            self._saved.pop()


def _pieces(source: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup or "sign", match.group()
        if match.group("raw") is not None:
            kind = "string"
        if kind != "skip":
            yield kind, text, line
        line += text.count("\n")


def _directive(text: str) -> tuple[str, str]:
    match = _DIRECTIVE.match(text)
    return (match[1], match[2]) if match else ("", "")
