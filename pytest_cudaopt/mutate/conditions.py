"""Mutations of what decides whether an element is worked on: guards, comparisons, loops and their tails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from pytest_cudaopt.mutate.edits import Edit, MutantKind, removing, replacing
from pytest_cudaopt.mutate.functions import Function
from pytest_cudaopt.mutate.tokens import Code

_LEAVES = frozenset({"return", "continue", "break"})
_COMPARES = frozenset({"<", "<=", ">", ">=", "==", "!="})
_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_ONE = re.compile(r"^1[uUlL]*$")
# What ends a condition before a `?`.
_BEFORE_TERNARY = frozenset({"=", "(", ",", "[", "{", "}", ";", "?", ":", "return", "<<", "+=", "-=", "*="})
_AFTER_TERNARY = frozenset({")", ",", "]", "}", ";"})
_TYPES_NOT = frozenset({"return", "else", "case", "goto", "do"})
# Elements of a vector such as float4.
_VECTOR = 4


class _Use(Enum):
    DOES = auto()  # if (condition) work
    LEAVES = auto()  # if (condition) return
    LOOPS = auto()
    CHOOSES = auto()  # condition ? a : b, or bool inside = condition


@dataclass(frozen=True)
class _Condition:
    """The tokens from `start` up to `end`, and what they are for."""

    start: int
    end: int
    use: _Use


def mutations(code: Code, function: Function) -> Iterator[Edit]:
    """Yield the mutations of one function's conditions and loops."""
    for condition in _conditions(code, function):
        yield from _dropped_guards(code, condition)
        yield from _off_by_one(code, condition)
        if condition.use is not _Use.LOOPS:
            yield from _skipped_guard_tail(code, condition, function)
    for at in function.inside:
        if code.at(at) == "for" and code.at(at + 1) == "(":
            yield from _loop(code, at + 1)
        elif code.at(at) == "[":
            yield from _subscript(code, at)
        elif code.at(at) in ("+", "-"):
            yield from _plus_one(code, at)


def _conditions(code: Code, function: Function) -> Iterator[_Condition]:
    for at in function.inside:
        text = code.at(at)
        if text in ("if", "while") and code.at(at + 1) == "(":
            end = code.close(at + 1)
            leaves = text == "if" and _only_leaves(code, end + 1)
            use = _Use.LOOPS if text == "while" else _Use.LEAVES if leaves else _Use.DOES
            yield _Condition(at + 2, end, use)
        elif text == "for" and code.at(at + 1) == "(":
            clauses = code.split(";", at + 2, code.close(at + 1))
            if len(clauses) == 3 and clauses[1][0] < clauses[1][1]:
                yield _Condition(*clauses[1], _Use.LOOPS)
        elif text == "?" and (start := _ternary_start(code, at)) < at:
            yield _Condition(start, at, _Use.CHOOSES)
        elif text == "bool" and code.at(at + 2) == "=":
            stop = code.find(frozenset({";"}), at, function.end)
            if stop is not None and code.find(frozenset({"?"}), at, stop) is None:
                yield _Condition(at + 3, stop, _Use.CHOOSES)


def _ternary_start(code: Code, question: int) -> int:
    at = question
    while at > 0 and code.at(at - 1) not in _BEFORE_TERNARY:
        # Brackets that close here are stepped over.
        at = code.partner.get(at - 1, at - 1) if code.at(at - 1) in (")", "]") else at - 1
    return at


def _only_leaves(code: Code, statement: int) -> bool:
    """True for `return;` and `{ return; }`, not for work that ends in one."""
    return code.at(statement + (code.at(statement) == "{")) in _LEAVES


def _terms(code: Code, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """Return the operator that joins the parts of a condition, and the parts; empty where there is one."""
    while code.at(start) == "(" and code.close(start) == end - 1:
        start, end = start + 1, end - 1
    for operator in ("||", "&&"):
        parts = code.split(operator, start, end)
        if len(parts) > 1:
            return operator, parts
    return "", [(start, end)]


def _dropped_guards(code: Code, condition: _Condition) -> Iterator[Edit]:
    operator, parts = _terms(code, condition.start, condition.end)
    wanted, passes = ("||", "false") if condition.use is _Use.LEAVES else ("&&", "true")
    if operator and operator != wanted:
        parts = [(condition.start, condition.end)]
    if condition.use is _Use.LOOPS and len(parts) == 1:
        return
    for start, end in parts:
        is_guard = end - start == 1 and code.tokens[start].is_word and condition.use is _Use.CHOOSES
        if is_guard or any(code.at(at) in _COMPARES for at in range(start, end)):
            yield replacing(code, MutantKind.DROPPED_GUARD, start, end, passes)


def _off_by_one(code: Code, condition: _Condition) -> Iterator[Edit]:
    is_minmax = condition.use is _Use.CHOOSES and _picks_the_larger(code, condition)
    for at in range(condition.start, condition.end):
        text = code.at(at)
        # A loop down to 0 would never end.
        is_countdown = condition.use is _Use.LOOPS and text == ">" and code.at(at + 1) == "0"
        if text in _BY_ONE and not (is_minmax or is_countdown or code.is_angle(at)):
            yield replacing(code, MutantKind.OFF_BY_ONE, at, at + 1, _BY_ONE[text])


def _picks_the_larger(code: Code, condition: _Condition) -> bool:
    """True for `a > b ? a : b`, where equals make no difference."""
    cut = code.find(frozenset(_BY_ONE), condition.start, condition.end)
    colon = code.find(frozenset({":"}), condition.end + 1, len(code.tokens)) if cut is not None else None
    end = None if colon is None else code.find(_AFTER_TERNARY, colon, len(code.tokens))
    if cut is None or colon is None or end is None:
        return False
    compared = {code.text(condition.start, cut), code.text(cut + 1, condition.end)}
    return compared == {code.text(condition.end + 1, colon), code.text(colon + 1, end)}


def _skipped_guard_tail(code: Code, condition: _Condition, function: Function) -> Iterator[Edit]:
    wanted = ">=" if condition.use is _Use.LEAVES else "<"
    for at in range(condition.start, condition.end):
        if code.at(at) == wanted and code.at(at + 1) in function.sizes and not _goes_on(code, at + 2):
            new = f"{code.at(at + 1)} / {_VECTOR} * {_VECTOR}"
            yield replacing(code, MutantKind.SKIPPED_TAIL, at + 1, at + 2, new)


def _goes_on(code: Code, at: int) -> bool:
    return code.at(at) in ("*", "/", "%", "+", "-", ".", "->", "[", "(", "<<", ">>")


def _loop(code: Code, opening: int) -> Iterator[Edit]:
    clauses = code.split(";", opening + 1, code.close(opening))
    if len(clauses) != 3:
        return
    init, condition, step = clauses
    counts_down = code.find(frozenset({">", ">="}), *condition)
    equals = code.find(frozenset({"="}), *init)
    if equals is not None and equals + 1 < init[1] and counts_down is None:
        (start, end), *_ = code.split(",", equals + 1, init[1])
        value = code.text(start, end)
        new = "1" if value == "0" else f"{value} + 1"
        yield replacing(code, MutantKind.OFF_BY_ONE, start, end, new)
    if counts_down is not None and code.at(counts_down + 1) == "0":
        yield replacing(code, MutantKind.SKIPPED_TAIL, counts_down + 1, counts_down + 2, "1")
    for at in code.level(*condition):
        if code.at(at) == "<" and not code.is_angle(at):
            stop = code.find(frozenset({"&&", "||"}), at + 1, condition[1])
            end = condition[1] if stop is None else stop
            if is_constant(code, at + 1, end):
                return
            bound, by = code.text(at + 1, end), _step(code, *step)
            is_one = end - at == 2
            new = f"{bound if is_one else f'({bound})'} / {by} * {by}"
            yield replacing(code, MutantKind.SKIPPED_TAIL, at + 1, end, new)


def is_constant(code: Code, start: int, end: int) -> bool:
    """True if the tokens are numbers and names as macros and tunables have them."""
    words = [token.text for token in code.tokens[start:end] if token.is_word]
    return all(word.isupper() for word in words)


def _step(code: Code, start: int, end: int) -> str:
    """Return what a loop goes on by, or the width of a vector where that is 1."""
    plus = code.find(frozenset({"+="}), start, end)
    if plus is None or _ONE.match(code.text(plus + 1, end)):
        return str(_VECTOR)
    return code.text(plus + 1, end) if end - plus == 2 else f"({code.text(plus + 1, end)})"


def _subscript(code: Code, opening: int) -> Iterator[Edit]:
    end = code.close(opening)
    if is_declared_array(code, opening) or end <= opening + 1 or _is_lambda(code, opening):
        return
    index = code.text(opening + 1, end)
    yield replacing(code, MutantKind.OFF_BY_ONE, opening + 1, end, f"{index} + 1")


def _is_lambda(code: Code, opening: int) -> bool:
    return opening == 0 or not (code.tokens[opening - 1].is_operand_end)


def _plus_one(code: Code, at: int) -> Iterator[Edit]:
    if not (code.tokens[at - 1].is_operand_end and _ONE.match(code.at(at + 1))):
        return
    if code.at(at + 2) in ("*", "/", "%", "<<", ".") or _in_declared_array(code, at):
        return
    yield removing(code, MutantKind.OFF_BY_ONE, at, at + 2)


def _in_declared_array(code: Code, at: int) -> bool:
    """True inside the brackets of a declaration: one element more there only moves banks."""
    opened = [start for start, end in code.partner.items() if start < at < end and code.at(start) == "["]
    return any(is_declared_array(code, start) for start in opened)


def is_declared_array(code: Code, opening: int) -> bool:
    """True if the bracket is that of `float a[16]`, also its second dimension."""
    while code.at(opening - 1) == "]":
        opening = code.close(opening - 1)
    name, before = opening - 1, code.at(opening - 2)
    is_type = (before.isidentifier() and before not in _TYPES_NOT) or before in ("*", ">")
    return name > 0 and code.tokens[name].is_word and is_type and _starts_declaration(code, opening - 2)


def _starts_declaration(code: Code, at: int) -> bool:
    """True if nothing but words, `*` and template arguments stands before `at` in its statement."""
    while at >= 0 and code.at(at) not in (";", "{", "}", ")", "("):
        token = code.tokens[at]
        if not (token.is_word or token.text in ("*", "<", ">", "::", ",") or token.kind == "number"):
            return False
        at -= 1
    return True
