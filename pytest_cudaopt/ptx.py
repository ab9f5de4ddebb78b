"""Read PTX as NVRTC writes it: functions, their instructions with source lines, and variables.

What an instruction means is for others to say. Comments, strings and labels never count as code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_cudaopt.finding import SourcePoint

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"|(?<!\w)\.(?:loc|file)\b[^\n]*|[{};]', re.DOTALL)
_PREAMBLE = re.compile(r"^\s*\.(?:version|target|address_size)\b[^\n]*", re.MULTILINE)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.MULTILINE)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_LABELS = re.compile(r"(?:[\w$%]+\s*:(?!:)\s*)+")
_INSTRUCTION = re.compile(r"(?:@!?[%\w$]+\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_HEADER = re.compile(
    r"\.(?P<kind>entry|func)\s*(?:\((?P<returned>[^)]*)\))?\s*(?P<name>[\w$]+)\s*(?:\((?P<formals>[^)]*)\))?"
)
_VARIABLE = re.compile(
    r"\.global\b.*?(?:\.v(?P<vector>[24])\s+)?\.[busf](?P<bits>\d+)\s+(?P<name>[\w$]+)\s*"
    r"(?P<extents>(?:\[\d*\])*)\s*(?:=\s*(?P<initialiser>.*))?$",
    re.DOTALL,
)
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")

# File, line and column.
_Where = tuple[int, int, int]


@dataclass(frozen=True)
class Instruction:
    """One instruction: `cvt.rn.f16.f32` and what follows it.

    `place` is the user's own line, outward through inlined headers of the toolchain; None where there are no
    line tables. `from_toolchain` says that such a header wrote the instruction.
    """

    opcode: str
    operands: str
    place: SourcePoint | None = None
    from_toolchain: bool = False

    @property
    def parts(self) -> list[str]:
        """The opcode's parts, the operation first."""
        return self.opcode.split(".")

    @property
    def names(self) -> list[str]:
        """Registers, variables and functions among the operands, in order."""
        return _NAME.findall(self.operands)


@dataclass(frozen=True)
class Function:
    """A kernel or function that has a body; `returned` and `formals` are the names inside it."""

    name: str
    is_entry: bool
    returned: tuple[str, ...]
    formals: tuple[str, ...]
    body: tuple[Instruction, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name its instructions hold."""
        return frozenset(name for one in self.body for name in one.names)


@dataclass(frozen=True)
class Variable:
    """A variable in global memory; NVRTC writes even C++ constants as such."""

    name: str
    bytes: int
    initialiser: str

    @property
    def names(self) -> frozenset[str]:
        """What its initial value points at."""
        return frozenset(_NAME.findall(self.initialiser))


@dataclass(frozen=True)
class PtxModule:
    """What one PTX text holds, by name."""

    functions: Mapping[str, Function]
    variables: Mapping[str, Variable]

    def reached(self, entry: str) -> tuple[Function, ...]:
        """Return `entry` and what it may call, also through tables; all functions if there is none."""
        if entry not in self.functions:
            return tuple(self.functions.values())
        pending, seen = [entry], {entry}
        while pending:
            name = pending.pop()
            known = self.functions.get(name) or self.variables.get(name)
            # Walked in order, so that reports do not depend on hashes.
            for mentioned in sorted(known.names) if known is not None else ():
                if mentioned not in seen and (mentioned in self.functions or mentioned in self.variables):
                    seen.add(mentioned)
                    pending.append(mentioned)
        return tuple(function for name, function in self.functions.items() if name in seen)


def read_ptx(text: str, source: str = "") -> PtxModule:
    """Read a module; `source` names the file it was compiled from, which line tables may give a folder."""
    files = {int(number): name for number, name in _FILE.findall(text)}
    own = {number: source for number, name in files.items() if source and name.endswith(f"/{source}")}
    reader = _Reader({**files, **own})
    text = _PREAMBLE.sub("", text)
    at = 0
    for token in _TOKEN.finditer(text):
        reader.pending += text[at : token.start()]
        reader.take(token.group())
        at = token.end()
    return PtxModule(reader.functions, reader.variables)


class _Reader:
    """The state of one reading, token by token."""

    def __init__(self, files: Mapping[int, str]) -> None:
        self._files = files
        self._header: re.Match[str] | None = None
        self._body: list[Instruction] = []
        self._depth = 0
        # Within a vector of operands or an initial value, whose braces are no blocks.
        self._nested = 0
        self._callers: dict[_Where, _Where] = {}
        self._place: tuple[SourcePoint | None, bool] = (None, False)
        self.pending = ""
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}

    def take(self, token: str) -> None:
        match token[0]:
            case "{":
                self._open()
            case "}":
                self._close()
            case ";":
                self._statement(self.pending.strip())
                self.pending = ""
            case "/":
                self.pending += " "
            case ".":
                if found := _LOC.match(token):
                    self._locate(found)
            case _:
                self.pending += '""'

    def _open(self) -> None:
        before = _LABELS.sub("", self.pending.strip(), count=1)
        if self._header is None and (found := _HEADER.search(before)) is not None:
            self._header, self._body, self._depth, self.pending = found, [], 1, ""
        elif self._header is not None and not before:
            self._depth, self.pending = self._depth + 1, ""
        else:
            self._nested, self.pending = self._nested + 1, self.pending + "{"

    def _close(self) -> None:
        if self._nested:
            self._nested, self.pending = self._nested - 1, self.pending + "}"
            if self.pending.lstrip().startswith(".section"):
                self.pending = ""
            return
        self._depth, self.pending = self._depth - 1, ""
        if self._depth == 0 and self._header is not None:
            header, self._header = self._header, None
            self.functions[header["name"]] = Function(
                header["name"],
                header["kind"] == "entry",
                _declared(header["returned"]),
                _declared(header["formals"]),
                tuple(self._body),
            )

    def _statement(self, text: str) -> None:
        if self._header is None or text.startswith("."):
            # Inline assembly may declare one inside of a function.
            if (found := _VARIABLE.search(text)) is not None:
                self.variables[found["name"]] = _variable(found)
            return
        found = _INSTRUCTION.fullmatch(_LABELS.sub("", text, count=1))
        if found is not None:
            self._body.append(Instruction(found[1], found[2], *self._place))

    def _locate(self, found: re.Match[str]) -> None:
        here: _Where = (int(found[1]), int(found[2]), int(found[3]))
        if found[4] is not None:
            self._callers[here] = (int(found[4]), int(found[5]), int(found[6]))
        else:
            self._callers.pop(here, None)
        self._place = (self._users(here), self._is_of_toolchain(here[0]))

    def _users(self, here: _Where) -> SourcePoint | None:
        """Return the innermost line that is not the toolchain's."""
        for where in self._outward(here):
            if not self._is_of_toolchain(where[0]) and where[0] in self._files:
                return SourcePoint(self._files[where[0]], where[1])
        return None

    def _outward(self, here: _Where) -> Iterator[_Where]:
        seen: set[_Where] = set()
        at: _Where | None = here
        while at is not None and at not in seen:
            yield at
            seen.add(at)
            at = self._callers.get(at)

    def _is_of_toolchain(self, file: int) -> bool:
        # Sources and headers of the user's have relative names, or none.
        return self._files.get(file, "").startswith("/")


def _declared(parameters: str | None) -> tuple[str, ...]:
    """Return the names of `.param .b64 a, .param .b8 b[16]`."""
    parts = [part.split("[")[0].split() for part in (parameters or "").split(",")]
    return tuple(part[-1] for part in parts if part)


def _variable(found: re.Match[str]) -> Variable:
    extents = [int(extent or 0) for extent in re.findall(r"\[(\d*)\]", found["extents"])]
    element = int(found["bits"]) // 8 * int(found["vector"] or 1)
    return Variable(found["name"], element * math.prod(extents), found["initialiser"] or "")


def all_of(functions: Iterable[Function]) -> Iterator[Instruction]:
    """Yield the instructions of all."""
    for function in functions:
        yield from function.body
