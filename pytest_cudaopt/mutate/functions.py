"""The functions of a source that a kernel executes: its entry, and what that mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_cudaopt.mutate.tokens import Code

_SCOPES = frozenset({"namespace", "struct", "class", "union"})
# Words before a parenthesis that is not that of the parameters.
_ATTRIBUTES = frozenset(
    {
        "__launch_bounds__",
        "__cluster_dims__",
        "__maxnreg__",
        "__align__",
        "__attribute__",
        "__declspec",
        "alignas",
        "decltype",
        "noexcept",
        "explicit",
    }
)
_INTEGERS = frozenset(
    [
        "int",
        "unsigned",
        "short",
        "long",
        "size_t",
        "int32_t",
        "int64_t",
        "uint32_t",
        "uint64_t",
        "ptrdiff_t",
        "uint",
    ]
)
_FLOATS = frozenset(["float", "double", "half", "__half", "__nv_bfloat16"])


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, as far as its text tells."""

    name: str
    words: frozenset[str]
    is_pointer: bool

    @property
    def is_size(self) -> bool:
        return not self.is_pointer and bool(self.words & _INTEGERS)

    @property
    def is_factor(self) -> bool:
        return not self.is_pointer and bool(self.words & _FLOATS)


@dataclass(frozen=True)
class Function:
    """A function definition: its header's tokens up to `body`, the brace, which `end` closes.

    `name` is empty for an operator.
    """

    name: str
    start: int
    body: int
    end: int
    is_kernel: bool
    parameters: tuple[Parameter, ...] = ()

    @property
    def inside(self) -> range:
        """The indices of the tokens between the braces."""
        return range(self.body + 1, self.end)

    @property
    def sizes(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.parameters if one.is_size)

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.parameters if one.is_factor)


def executed(code: Code, entry: str) -> tuple[Function, ...]:
    """Return the kernel named in `entry` and the functions it mentions, directly or not, in order.

    Every function where no kernel has that name.
    """
    every = tuple(_functions(code))
    names = set(re.findall(r"\w+", entry))
    reached = {one for one in every if one.is_kernel and one.name in names}
    if not reached:
        return every
    mentioned = set(code.directive_words)
    new = set(reached)
    while new:
        for one in new:
            mentioned.update(code.tokens[at].text for at in range(one.start, one.end))
        new = {one for one in every if one not in reached and (not one.name or one.name in mentioned)}
        new = {one for one in new if not one.is_kernel}
        reached |= new
    return tuple(one for one in every if one in reached)


def _functions(code: Code) -> Iterator[Function]:
    start = at = 0
    while at < len(code.tokens):
        text = code.tokens[at].text
        if text in (";", "}"):
            start = at + 1
        elif text == "{":
            found = _function(code, start, at)
            if found is not None:
                yield found
                at = found.end
                start = at + 1
            elif _is_scope(code, start, at):
                start = at + 1
            else:
                at = code.close(at)
        at += 1


def _is_scope(code: Code, start: int, brace: int) -> bool:
    header = code.tokens[start:brace]
    is_linkage = len(header) == 2 and header[0].text == "extern"
    return not header or is_linkage or any(token.text in _SCOPES for token in header)


def _function(code: Code, start: int, brace: int) -> Function | None:
    header = [token.text for token in code.tokens[start:brace]]
    if "=" in [code.at(at) for at in code.level(start, brace)] and "template" not in header:
        return None
    for at in code.level(start, brace):
        before = code.at(at - 1) if at > start else ""
        if code.at(at) != "(" or before in _ATTRIBUTES or (before == ")" and "operator" not in header):
            continue
        if _SCOPES & set(header) and header[-1] not in (")", "const", "noexcept"):
            return None
        is_named = before.isidentifier() and "operator" not in header
        return Function(
            before if is_named else "",
            start,
            brace,
            code.close(brace),
            "__global__" in header,
            _parameters(code, at) if is_named else (),
        )
    return None


def _parameters(code: Code, opening: int) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for first, last in code.split(",", opening + 1, code.close(opening)):
        tokens = code.tokens[first:last]
        words = [token.text for token in tokens if token.is_word]
        if len(words) > 1:
            is_pointer = any(token.text in ("*", "&", "[") for token in tokens)
            found.append(Parameter(words[-1], frozenset(words[:-1]), is_pointer))
    return tuple(found)
