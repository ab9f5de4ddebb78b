"""Find what the preprocessor would include in a text, without preprocessing it.

Every branch is read, taken or not: an `#include` in `#if 0` is found too. Works on the text alone and reads
no file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\()
    |(?P<literal>(?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?))
    |(?P<code>(?:\.?[0-9](?:[eEpP][+-]|'[\w$]|[\w$.])*+|[^\W\d][\w$]*+(?!["'])|[][(){}<>=+*,;:!&|^~-])
        (?:\.?[0-9](?:[eEpP][+-]|'[\w$]|[\w$.])*+|[^\W\d][\w$]*+(?!["'])|[][(){}<>=+*,;:!&|^~-]|[ \t])*+)
    |(?P<word>[\w$]+)
    |(?P<end>\n)
    |(?P<blank>[ \t\v\f\r]+)
    |(?P<hash>\#|%:|\?\?=)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_BLANK = r"(?:[ \t\v\f\r]|/\*(?:[^*]|\*(?!/))*\*/)*"
_DIRECTIVE = re.compile(
    rf"{_BLANK}(?P<name>\w+){_BLANK}(?P<operand><[^>\n]*>|\"[^\"\n]*\")?(?P<rest>(?:[^\n/]|/(?![/*]))*)"
)
_PROBE = re.compile(
    rf"\b__has_include(?:_next)?{_BLANK}\({_BLANK}(?P<operand><[^>\n]*>|\"[^\"\n]*\"){_BLANK}\)"
)
# Under any reading of comments, raw strings and trigraphs: `?\?/` ends lines like a backslash before C++17.
_LOOKALIKE = re.compile(
    rf"(?:^|\*/){_BLANK}(?P<hash>\#|%:|\?\?=){_BLANK}(?:include|include_next|import|embed)\b"
    rf"{_BLANK}(?P<operand>[^\n]*)",
    re.MULTILINE,
)
_SPLICE = re.compile(r"\\\r?\n")
_ANY_SPLICE = re.compile(r"(?:\\|\?\?/)\r?\n")
_TOOLCHAIN_OPERAND = re.compile(r"<(?!/)(?!.*\.\.)[^>\n]*>")
_INCLUDING = ("include", "include_next", "import", "embed")
_CONDITIONS = ("if", "elif")
# The toolchain's only includes with computed names are Thrust's, and these macros compute them.
_STEERING = "__THRUST_"


class Form(StrEnum):
    """How a directive names its file."""

    QUOTED = "quoted"
    ANGLED = "angled"
    COMPUTED = "computed"


@dataclass(frozen=True)
class Include:
    """A directive that includes a file; `text[start:end]` is it without trailing comments.

    `name` is the file's, or the macro's text where the form is computed. A `#define` is one too if it would
    change what a header of the toolchain includes.
    """

    directive: str
    form: Form
    name: str
    start: int
    end: int

    @property
    def spelled(self) -> str:
        """The operand as written."""
        return {Form.QUOTED: f'"{self.name}"', Form.ANGLED: f"<{self.name}>"}.get(self.form, self.name)


@dataclass(frozen=True)
class Probe:
    """A `__has_include(...)` of a literal name in a condition, at `text[start:end]`."""

    form: Form
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Scan:
    """What one text includes, in order.

    `commented` are the places (start, end) of a `#` that only a comment keeps from including something;
    `hidden` is the line of such a directive in a raw string or behind a trigraph, if it could reach any file.
    """

    includes: tuple[Include, ...]
    probes: tuple[Probe, ...]
    commented: tuple[tuple[int, int], ...]
    hidden: int | None


@lru_cache(maxsize=256)
def scan(text: str) -> Scan:
    """Find the includes of C++ `text`, whose lines end in a line feed."""
    spliced = _Spliced(text, _SPLICE)
    includes: list[Include] = []
    probes: list[Probe] = []
    comments: list[tuple[int, int]] = []
    for kind, start, end in _tokens(spliced):
        if kind == "comment":
            comments.append((spliced.original(start), spliced.original(end)))
        elif kind == "hash" and (found := _DIRECTIVE.match(spliced.text, end)):
            steers = found["name"] == "define" and found["rest"].startswith(_STEERING)
            if steers or found["name"] in _INCLUDING:
                includes.append(_include(found, spliced, start))
            elif found["name"] in _CONDITIONS:
                probes += _probes(spliced, found.end("name"))
    commented, hidden = _lookalikes(text, {one.start for one in includes}, comments)
    return Scan(tuple(includes), tuple(probes), commented, hidden)


class _Spliced:
    """Text whose continued lines are joined, and the way back to the original's places."""

    def __init__(self, original: str, splice: re.Pattern[str]) -> None:
        self.source = original
        self.text = splice.sub("", original)
        self._starts = [0]
        self._removed = [0]
        removed = 0
        for match in splice.finditer(original):
            self._starts.append(match.start() - removed)
            removed += len(match.group())
            self._removed.append(removed)

    def original(self, at: int) -> int:
        """Return where the character at `at` of the joined text stands in the original."""
        return at + self._removed[bisect_right(self._starts, at) - 1]

    def joined(self, at: int) -> int:
        """Return the place in the joined text of what stands at `at` in the original."""
        # Both lists grow; a place inside a splice becomes the one behind it.
        for start, removed in zip(reversed(self._starts), reversed(self._removed), strict=True):
            if start + removed <= at:
                return at - removed
        return at


def _tokens(spliced: _Spliced) -> Iterator[tuple[str, int, int]]:
    """Yield comments, and each `#` that is the first token of its line."""
    text, at, starts_line = spliced.text, 0, True
    while match := _TOKEN.match(text, at):
        kind, start, at = match.lastgroup or "", match.start(), match.end()
        if match["raw"] is not None:
            # Continued lines are not joined inside.
            close = f'){match["delimiter"]}"'
            found = spliced.source.find(close, spliced.original(at - 1))
            at = len(text) if found < 0 else spliced.joined(found + len(close))
            starts_line = False
        elif kind == "comment":
            yield kind, start, at
        elif kind == "end":
            starts_line = True
        elif kind == "hash" and starts_line:
            yield kind, start, at
            at = _end_of_operand(text, at)
            starts_line = False
        elif kind != "blank":
            starts_line = False


def _end_of_operand(text: str, at: int) -> int:
    """Skip what an including directive names: `<it's//here>` holds neither a literal nor a comment."""
    found = _DIRECTIVE.match(text, at)
    is_include = found is not None and found["name"] in _INCLUDING and found["operand"] is not None
    return found.end("operand") if found is not None and is_include else at


def _include(found: re.Match[str], spliced: _Spliced, start: int) -> Include:
    operand = found["operand"]
    # What follows the operand belongs to the directive: the compiler only warns of it.
    end = spliced.original(found.start("rest") + len(found["rest"].rstrip()))
    if operand is None:
        return Include(found["name"], Form.COMPUTED, found["rest"].strip(), spliced.original(start), end)
    form = Form.ANGLED if operand.startswith("<") else Form.QUOTED
    return Include(found["name"], form, operand[1:-1], spliced.original(start), end)


def _probes(spliced: _Spliced, start: int) -> Iterator[Probe]:
    end = spliced.text.find("\n", start)
    end = len(spliced.text) if end < 0 else end
    for found in _PROBE.finditer(spliced.text, start, end):
        operand = found["operand"]
        form = Form.ANGLED if operand.startswith("<") else Form.QUOTED
        last = spliced.original(found.end() - 1)
        yield Probe(form, operand[1:-1], spliced.original(found.start()), last + 1)


def _lookalikes(
    text: str, known: set[int], comments: list[tuple[int, int]]
) -> tuple[tuple[tuple[int, int], ...], int | None]:
    """Find directives that are hidden only if this scanner and the compiler agree where comments end."""
    spliced = _Spliced(text, _ANY_SPLICE)
    starts = [start for start, _ in comments]
    commented: list[tuple[int, int]] = []
    hidden: int | None = None
    for found in _LOOKALIKE.finditer(spliced.text):
        start, end = spliced.original(found.start("hash")), spliced.original(found.end("hash") - 1) + 1
        if start in known:
            continue
        around = bisect_right(starts, start) - 1
        if around >= 0 and start < comments[around][1]:
            commented.append((start, end))
        elif not _TOOLCHAIN_OPERAND.match(found["operand"]):
            hidden = hidden or text.count("\n", 0, start) + 1
    return tuple(commented), hidden
