"""What a kernel's text shows without a compiler: names that follow the thread or the block, loops, arrays.

It is read by patterns, so what it says are hints: names mean nothing, and macros of a fixed value are known.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

MOST_CHARACTERS = 20_000
_MOST_LOOPS = 60
_LONGEST_LOOP = 4_000
_MOST_NAMES = 200
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_CAST = re.compile(r"\((?:unsigned |signed )?(?:size_t|int|long|long long|unsigned|u?int\d+_t)\)")
_ASSIGNMENT = re.compile(r"(?<![\w.\]])(\w+)\s*=(?!=)\s*([^;,]+)(?=[;,])")
_NUMBER = re.compile(r"(?:#define\s+(\w+)\s+|constexpr\s+\w+\s+(\w+)\s*=\s*|@tune\s+(\w+)\s*=\s*)\(?(\d+)\b")
_LOCAL = re.compile(r"^[ \t]*(?:float|double|int|unsigned|half|float[24])\s+(\w+)((?:\[[^\[\]]*\])+)", re.M)
_SHARED = re.compile(r"__shared__\s+(?:alignas\(\d+\)\s*)?([\w:]+)\s+([^;]+);")
_ARRAY = re.compile(r"(\w+)\s*((?:\[[^\[\]]*\])+)")
_ACCESS = re.compile(r"(\w+)\s*\[([^\[\]]*)\](?:\s*\[([^\[\]]*)\])?")
_FOR = re.compile(r"\bfor\s*\(([^;{}]*);([^;{}]*);([^{};]*?)\)\s*(?=[^\s)])")
_RULE = re.compile(r"^\s*//\s*@launch(?:\[[^\]]*\])?\s+(.*)$", re.M)
_BYTES = {"double": 8, "float2": 8, "float4": 16, "half": 2, "char": 1, "unsigned char": 1}


@dataclass(frozen=True)
class Loop:
    """A `for`: its three parts and its body."""

    start: str
    condition: str
    step: str
    body: str

    @property
    def name(self) -> str:
        found = re.search(r"(\w+)\s*=", self.start)
        return found[1] if found else ""


class KernelText:
    """One kernel file; what is asked for first is computed first."""

    def __init__(self, source: str) -> None:
        # Patterns take the square of the length of a word or of a gap.
        source = re.sub(r"\w{100,}", "_", source[:MOST_CHARACTERS])
        source = re.sub(r"\n\s+", "\n", re.sub(r"[^\S\n]+", " ", source))
        self.source = source
        self.numbers = {a or b or c: int(value) for a, b, c, value in _NUMBER.findall(source)}
        self.code = _CAST.sub("", _STRING.sub('""', _COMMENT.sub("", source)))

    @cached_property
    def rule(self) -> str:
        found = _RULE.search(self.source)
        return found[1] if found else ""

    @cached_property
    def assignments(self) -> list[tuple[str, str]]:
        return [(found[1], found[2]) for found in islice(_ASSIGNMENT.finditer(self.code), _MOST_NAMES)]

    @cached_property
    def lanes(self) -> frozenset[str]:
        """Names that differ by one between neighbouring lanes or depend on the lane otherwise."""
        return self._following(r"threadIdx\.x(?!\s*(?:/|>>))")

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Names that depend on the block, and not on the lane."""
        return self._following(r"blockIdx\.\w") - self.lanes

    @cached_property
    def loaded(self) -> frozenset[str]:
        """Names that hold elements of arrays."""
        return frozenset(name for name, value in self.assignments if "[" in value)

    @cached_property
    def strided(self) -> frozenset[str]:
        """Names that grow by more than one from lane to lane."""
        own = {name for name, value in self.assignments if self.is_strided(value)}
        pointers = re.findall(r"(\w+)\s*=\s*\w+\s*\+\s*([^;]+);", self.code)
        return frozenset(own | {name for name, offset in pointers if self.is_strided(offset)})

    def _following(self, root: str) -> frozenset[str]:
        """Names whose every value has `root` in it, or another such name, and not only divided."""
        known: frozenset[str] = frozenset()
        for _ in range(4):
            sought = "|".join([root, *(rf"\b{name}\b(?!\s*(?:/|>>))" for name in known)])
            # Blocks of code may use one name for several things.
            known = frozenset(
                name
                for name, values in self._values_of.items()
                if all(re.search(sought, value) and "? " not in value for value in values)
            )
        return known

    @cached_property
    def _values_of(self) -> dict[str, list[str]]:
        values: dict[str, list[str]] = {}
        for name, value in self.assignments:
            values.setdefault(name, []).append(re.sub(r"\[[^\]]*\]", "", value))
        return values

    def is_strided(self, expression: str) -> bool:
        """Whether an index multiplies what follows the lane."""
        names = "|".join([r"threadIdx\.x", *(rf"{name}\b" for name in self.lanes)])
        lane = rf"\b(?:{names})"
        grouped = rf"\([^()]*{lane}[^()/%]*\)"
        return bool(
            re.search(rf"(?:{lane}|{grouped})\s*\*\s*\w", expression)
            or re.search(rf"\w\s*\*\s*(?:{lane}|{grouped})", expression)
        )

    def mentions(self, text: str, names: frozenset[str]) -> bool:
        return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)

    @cached_property
    def shared(self) -> dict[str, tuple[str, list[str]]]:
        """Element type and extents of each shared array."""
        return {
            name: (kind, re.findall(r"\[([^\]]*)\]", extents))
            for kind, declared in _SHARED.findall(self.code)
            for name, extents in _ARRAY.findall(declared)
        }

    @cached_property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a block, as far as they are known."""
        static = sum(_BYTES.get(kind, 4) * self.extent(sizes) for kind, sizes in self.shared.values())
        dynamic = re.search(r"\bshared=([\w *]+)", self.rule)
        return static + (self.product(re.split(r"\*", dynamic[1])) if dynamic else 0)

    @cached_property
    def local_arrays(self) -> dict[str, int]:
        """Elements of each array that a thread has for itself; 0 if not known."""
        return {
            name: self.extent(re.findall(r"\[([^\]]*)\]", extents))
            for name, extents in _LOCAL.findall(self.code)
            if name not in self.shared
        }

    def extent(self, sizes: list[str]) -> int:
        return self.product(sizes)

    def product(self, factors: list[str]) -> int:
        """Multiply numbers and macros of a fixed value; sums in a factor count their parts; 0 if unknown."""
        return math.prod(sum(self._value(part) for part in factor.split("+")) for factor in factors)

    def _value(self, text: str) -> int:
        text = text.strip().strip("()")
        if "*" in text:
            return math.prod(self._value(part) for part in text.split("*"))
        return int(text) if text.isdigit() else self.numbers.get(text, 0)

    @cached_property
    def accesses(self) -> list[tuple[str, str]]:
        """Name and index of every access to an array that is neither shared nor a thread's own."""
        return [
            (name, index)
            for name, index, _ in _ACCESS.findall(self.code)
            if name not in self.shared and name not in self.local_arrays
        ]

    @cached_property
    def own_accesses(self) -> list[tuple[str, str, str]]:
        """Name and up to two indices of accesses to shared and private arrays."""
        return [
            found
            for found in _ACCESS.findall(self.code)
            if found[0] in self.shared or found[0] in self.local_arrays
        ]

    @cached_property
    def loops(self) -> list[Loop]:
        return [
            Loop(
                found[1], found[2], found[3], _statement(self.code[found.end() : found.end() + _LONGEST_LOOP])
            )
            for found in islice(_FOR.finditer(self.code), _MOST_LOOPS)
        ]


def _statement(text: str) -> str:
    """Return the statement or block at the beginning of a text."""
    depth, parentheses = 0, 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        parentheses += (character == "(") - (character == ")")
        if depth == 0 and parentheses == 0 and character in ";}":
            return text[: at + 1]
    return text
