"""Find the variables of a PTX module that a kernel writes: they live from one launch to the next.

Addresses are followed through registers and calls, whatever the order of instructions. An address that is
kept in memory counts as written through, since nobody knows what becomes of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from pytest_cudaopt.ptx import Function, Instruction, PtxModule

_OPERAND = re.compile(r"\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|[%$\w][\w$.]*")
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")
_WRITING = frozenset({"st", "atom", "red", "multimem", "cp", "stmatrix", "tensormap"})
# Their results say nothing of where something lies.
_COMPARING = frozenset({"setp", "set", "testp", "isspacep"})
# They read what they are handed.
_READERS = frozenset({"vprintf", "__assertfail"})

_Node = tuple[str, str]


def written_variables(module: PtxModule, functions: Sequence[Function]) -> dict[str, tuple[Instruction, ...]]:
    """Return the variables in global memory that `functions` may write, with the instructions that do."""
    if not any(name in module.variables for function in functions for name in function.names):
        return {}
    follow = _Addresses(module, functions)
    while follow.pass_on():
        pass
    # Instructions may be equal; each counts once.
    return {name: tuple(found.values()) for name, found in follow.written.items()}


class _Addresses:
    """Which variables' addresses each register and parameter may hold."""

    def __init__(self, module: PtxModule, functions: Sequence[Function]) -> None:
        self._module = module
        self._functions = functions
        self._held: dict[_Node, frozenset[str]] = {}
        self._known = 0
        self.written: dict[str, dict[int, Instruction]] = defaultdict(dict)

    def pass_on(self) -> bool:
        """Go through all instructions once; return whether that told anything new."""
        before = self._known
        for function in self._functions:
            for one in function.body:
                self._follow(function.name, one)
        return self._known > before

    def _follow(self, function: str, one: Instruction) -> None:
        operation, operands = one.parts[0], _OPERAND.findall(one.operands)
        if operation == "call":
            self._call(function, one, operands)
        elif operation == "ld":
            self._load(function, one, operands)
        elif operation in _WRITING or one.opcode.startswith("wmma.store"):
            self._write(function, one, operands)
        elif operation not in _COMPARING and len(operands) > 1:
            self._assign(function, operands[0], self._of(function, *operands[1:]))

    def _load(self, function: str, one: Instruction, operands: list[str]) -> None:
        if len(operands) < 2:
            return
        address = self._of(function, operands[1])
        # A parameter is what was handed over; anything else holds what its initial value points at.
        pointed = (
            address
            if "param" in one.parts
            else frozenset(
                name
                for held in address & self._module.variables.keys()
                for name in self._module.variables[held].names & self._module.variables.keys()
            )
        )
        self._assign(function, operands[0], pointed)

    def _write(self, function: str, one: Instruction, operands: list[str]) -> None:
        if "param" in one.parts:
            self._assign(function, operands[0], self._of(function, *operands[1:]))
            return
        # The first address is where it goes; a copy's second is where it comes from.
        target = next((number for number, text in enumerate(operands) if text.startswith("[")), 0)
        values = [text for number, text in enumerate(operands[target:]) if number == 0 or text[0] != "["]
        for name in self._of(function, *values):
            self.written[name][id(one)] = one

    def _call(self, function: str, one: Instruction, operands: list[str]) -> None:
        groups = [_NAME.findall(text) for text in operands if text.startswith("(")]
        target = next((text for text in operands if not text.startswith("(")), "")
        returned = groups[0] if operands and operands[0].startswith("(") else []
        given = groups[1 if returned else 0] if len(groups) > bool(returned) else []
        if target in _READERS:
            return
        named = [callee for callee in self._functions if callee.name == target]
        # Through a register: any function that is no kernel.
        indirect = [callee for callee in self._functions if not callee.is_entry]
        callees = named or (indirect if target.startswith("%") else [])
        for callee in callees:
            for actual, formal in zip(given, callee.formals, strict=False):
                self._assign(callee.name, formal, self._of(function, actual))
            for mine, theirs in zip(returned, callee.returned, strict=False):
                self._assign(function, mine, self._of(callee.name, theirs))
        if not callees:
            for name in self._of(function, *given):
                self.written[name][id(one)] = one

    def _of(self, function: str, *operands: str) -> frozenset[str]:
        found: set[str] = set()
        for text in operands:
            for name in _NAME.findall(text):
                if name in self._module.variables:
                    found.add(name)
                found |= self._held.get((function, name), frozenset())
        return frozenset(found)

    def _assign(self, function: str, target: str, addresses: frozenset[str]) -> None:
        if not addresses:
            return
        for name in _NAME.findall(target):
            held = self._held.get((function, name), frozenset())
            self._held[function, name] = held | addresses
            self._known += len(addresses - held)
