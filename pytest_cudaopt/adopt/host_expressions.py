"""C++ integer expressions of host code in the package's own grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_cudaopt.adopt.tokens import Scanned, Token, split_at_commas
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import parse

_CEILING_DIVISIONS = frozenset({"cdiv", "ceildiv", "divup", "ceil_div", "div_up", "ceil_divide", "divceil"})
_CASTS = frozenset(
    {"int", "unsigned", "long", "short", "char", "size_t", "const", "dim3", "auto", "uint"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (32, 64)}
)
_SIZEOF = {
    "float": 4,
    "double": 8,
    "int": 4,
    "half": 2,
    "__half": 2,
    "char": 1,
    "__nv_bfloat16": 2,
    "short": 2,
}
_MOST_STEPS = 40


class HostExpressions:
    """Turns host expressions before token `at` into the package's grammar, following variables back."""

    def __init__(self, scanned: Scanned, at: int, names: Mapping[str, str]) -> None:
        self._tokens = scanned.tokens
        self._constants = scanned.constants
        self._at = at
        self._names = names
        self._steps = 0

    def extents(self, tokens: Sequence[Token]) -> tuple[str, ...] | None:
        """Read a dim3 or one number; trailing extents of 1 are left out."""
        texts = [token.text for token in tokens]
        inner = tokens[2:-1] if texts[:1] == ["dim3"] and texts[-1:] in ([")"], ["}"]) else None
        if len(texts) == 1 and texts[0] not in self._names:
            inner = self._dim3(texts[0]) or inner
        parts = [self.one(part) for part in split_at_commas(tokens if inner is None else inner)]
        if not parts or len(parts) > 3 or None in parts:
            return None
        known = [part for part in parts if part is not None]
        while len(known) > 1 and known[-1] == "1":
            known.pop()
        return tuple(known)

    def one(self, tokens: Sequence[Token]) -> str | None:
        """Return one expression in the package's grammar; None if it cannot be told."""
        self._steps += 1
        translated = self._translated(list(tokens)) if self._steps < _MOST_STEPS else None
        if translated is None:
            return None
        try:
            value = parse(translated)
        except CudaoptError:
            return None
        return str(value.constant) if value.constant is not None else _without_outer_parentheses(translated)

    def _translated(self, tokens: list[Token]) -> str | None:
        words: list[str] = []
        at = 0
        while at < len(tokens):
            text = tokens[at].text
            following = tokens[at + 1].text if at + 1 < len(tokens) else ""
            if text == "sizeof" and following == "(" and at + 3 < len(tokens):
                if tokens[at + 2].text not in _SIZEOF or tokens[at + 3].text != ")":
                    return None
                words.append(str(_SIZEOF[tokens[at + 2].text]))
                at += 4
                continue
            if (
                text in ("static_cast", "std", "::")
                or text in _CASTS
                or (text in "<>" and _casts(words, tokens, at))
            ):
                at += 1
                continue
            translated = self._word(tokens[at], following)
            if translated is None:
                return None
            words.append(translated)
            at += 1
        return _without_empty_parentheses(" ".join(words))

    def _word(self, token: Token, following: str) -> str | None:
        text = token.text
        if token.kind == "number":
            digits = text.rstrip("uUlL").replace("'", "")
            return digits if digits.isdigit() else None
        if not token.is_word:
            return text if text in ("+", "-", "*", "/", "%", "(", ")", ",") else None
        if following == "(":
            if text.lower() in _CEILING_DIVISIONS:
                return "cdiv"
            return text if text in ("min", "max") else None
        if text in self._names:
            return self._names[text]
        if text in self._constants:
            return str(self._constants[text])
        initial = self._initial(text)
        value = None if initial is None else self.one(initial)
        return value if value is None or value.isalnum() else f"({value})"

    def _initial(self, name: str) -> Sequence[Token] | None:
        """Return what the nearest `name = ...;` before the launch assigns."""
        for at in range(self._at, 0, -1):
            if self._tokens[at].text == "=" and self._tokens[at - 1].text == name:
                end = at + 1
                depth = 0
                while end < len(self._tokens) and (depth or self._tokens[end].text not in (";", ",")):
                    depth += (self._tokens[end].text in "({") - (self._tokens[end].text in ")}")
                    end += 1
                return self._tokens[at + 1 : end]
        return None

    def _dim3(self, name: str) -> Sequence[Token] | None:
        """Return the arguments of the nearest `dim3 name(...)`, `dim3 name{...}` or `name = dim3(...)`."""
        for at in range(self._at, 1, -1):
            texts = [token.text for token in self._tokens[at - 1 : at + 4]]
            if texts[1:2] != [name]:
                continue
            if texts[0] == "dim3" and texts[2:3] and texts[2] in "({":
                return self._until_close(at + 1)
            if texts[2:4] == ["=", "dim3"]:
                return self._until_close(at + 3)
        return None

    def _until_close(self, opening: int) -> Sequence[Token]:
        depth, end = 0, opening
        while end < len(self._tokens):
            depth += (self._tokens[end].text in "({") - (self._tokens[end].text in ")}")
            if depth == 0:
                break
            end += 1
        return self._tokens[opening + 1 : end]


def _casts(words: Sequence[str], tokens: Sequence[Token], at: int) -> bool:
    """True for the angles of `static_cast<int>`."""
    nearby = [token.text for token in tokens[max(0, at - 3) : at]]
    return "static_cast" in nearby


def _without_outer_parentheses(text: str) -> str:
    """Drop parentheses around the whole, such as a cast leaves."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return _without_outer_parentheses(text[1:-1]) if text[:1] == "(" and at == len(text) - 1 else text
    return text


def _without_empty_parentheses(text: str) -> str:
    """Drop what is left of `(int)`, and write without needless spaces."""
    while "( )" in text:
        text = text.replace("( )", "")
    text = " ".join(text.split())
    for before, after in (
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        ("cdiv (", "cdiv("),
        ("min (", "min("),
        ("max (", "max("),
    ):
        text = text.replace(before, after)
    return text
