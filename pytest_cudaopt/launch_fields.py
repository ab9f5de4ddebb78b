"""The text of a launch rule, cut into its fields: `grid=(n) block=(128) cooperative`."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from pytest_cudaopt import expressions
from pytest_cudaopt.errors import LaunchError
from pytest_cudaopt.expressions import Expression

KEYS = ("grid", "block", "shared", "cluster")
WORDS = ("cooperative",)
_KEY = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=(?!=)")
# A word that no operator or key joins to what stands before it.
_LOOSE_WORD = re.compile(r"(?:^|[\w)]\s+|,\s*)([A-Za-z_]\w*)\s*,?\s*$")
_JOINING = frozenset({"and", "or", "not"})


@dataclass(frozen=True)
class Fields:
    """The texts after `KEY=`, in the order written, and whether `cooperative` stands among them."""

    texts: dict[str, str]
    cooperative: bool = False

    def extents(self, key: str) -> tuple[Expression, ...] | None:
        """Return the dimensions of a field, None where it is left out."""
        return _extents(self.texts[key]) if key in self.texts else None

    def expression(self, key: str) -> Expression | None:
        return expressions.parse(self.texts[key]) if key in self.texts else None


def read_fields(text: str) -> Fields:
    """Cut `text` at its keys; raise LaunchError for what is none, with the one it may stand for."""
    keys = [match for match in _KEY.finditer(text) if _depth(text[: match.start()]) == 0]
    texts: dict[str, str] = {}
    words: list[str] = []
    ends = [*(match.start() for match in keys), len(text)]
    before, found = _cut_words(text[: ends[0]])
    if before:
        raise _unknown(text, before.split()[0])
    words += found
    for match, end in zip(keys, ends[1:], strict=True):
        name = match.group(1)
        if name not in KEYS:
            raise _unknown(text, f"{name}=")
        if name in texts:
            raise LaunchError(f"launch rule '{text.strip()}'", expected=f"one {name}=", got="two")
        texts[name], found = _cut_words(text[match.end() : end])
        words += found
    for word in words:
        if word not in WORDS:
            raise _unknown(text, word)
    return Fields(texts, bool(words))


def split(text: str) -> list[str]:
    """Cut `text` at the commas that stand in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _cut_words(text: str) -> tuple[str, list[str]]:
    """Take the loose words off the end of a field's text."""
    words: list[str] = []
    text = text.strip().rstrip(",")
    while (match := _LOOSE_WORD.search(text)) and _is_loose(text, match):
        words.append(match.group(1))
        text = text[: match.start(1)].strip().rstrip(",")
    return text, words


def _is_loose(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start(1)].split()
    if _depth(text[: match.start(1)]) or match.group(1) in _JOINING:
        return False
    # `shared=BYTES`: the field's own text.
    return (bool(before) and before[-1] not in _JOINING) or match.group(1) in WORDS


def _unknown(text: str, got: str) -> LaunchError:
    known = [*(f"{key}=" for key in KEYS), *WORDS]
    near = difflib.get_close_matches(got, known, n=1, cutoff=0.5)
    return LaunchError(
        f"launch rule '{text.strip()}'",
        expected="grid=(...) block=(...) shared=... cluster=(...) cooperative",
        got=f"'{got}'",
        next_step=f"Did you mean '{near[0]}'?" if near else None,
    )


def _extents(text: str) -> tuple[Expression, ...]:
    inner = text[1:-1] if text.startswith("(") and _closes_at_end(text) else text
    extents = tuple(expressions.parse(part) for part in split(inner) if part.strip())
    if not 1 <= len(extents) <= 3:
        raise LaunchError(f"extents '{text}'", expected="1 to 3 dimensions", got=str(len(extents)))
    return extents


def _closes_at_end(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(text) - 1
    return False


def _depth(text: str) -> int:
    return text.count("(") - text.count(")")
