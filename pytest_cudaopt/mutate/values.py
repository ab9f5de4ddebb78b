"""Mutations of what is computed: types, first values, operators, factors and terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_cudaopt.mutate.conditions import is_constant, is_declared_array
from pytest_cudaopt.mutate.edits import Edit, MutantKind, removing, replacing
from pytest_cudaopt.mutate.functions import Function
from pytest_cudaopt.mutate.tokens import Code

_WIDE = frozenset(["size_t", "ssize_t", "int64_t", "uint64_t", "ptrdiff_t", "intptr_t", "uintptr_t"])
_INTEGER_TYPES = _WIDE | frozenset(
    ["int", "unsigned", "short", "long", "char", "bool", "int32_t", "uint32_t", "uint", "uint8_t", "int8_t"]
)
_FMA = re.compile(r"^(?:__)?h?fmaf?(?:_r[nzud])?$")
_SHORTER = {"int": "short", "int32_t": "short", "unsigned": "unsigned short", "uint32_t": "unsigned short"}
_ZERO = re.compile(r"^(?:0\.0*|\.0+|0)[fF]?$")
_FLOAT = re.compile(r"^(?!0[xX])(?=.*[.eE]|.*[fF]$)[\d.]+(?:[eE][+-]?\d+)?[fFlL]?$")
# Written as a float of a float's range; as a first value, what anything is smaller or larger than.
_HUGE = re.compile(r"^\d[\d.]*[eE]\+?(?:[2-9]\d|\d{3})[fF]?$")
_EXTREMES = frozenset(
    [
        "INFINITY",
        "FLT_MAX",
        "DBL_MAX",
        "HUGE_VALF",
        "HUGE_VAL",
        "CUDART_INF_F",
        "CUDART_INF",
        "INT_MAX",
        "INT_MIN",
        "LLONG_MAX",
    ]
)
_BITS = frozenset({"__int_as_float", "__uint_as_float"})
_OPPOSITE = {
    "fmaxf": "fminf",
    "fminf": "fmaxf",
    "fmax": "fmin",
    "fmin": "fmax",
    "max": "min",
    "min": "max",
    "__hmax": "__hmin",
    "__hmin": "__hmax",
    "atomicMax": "atomicMin",
    "atomicMin": "atomicMax",
}
_INVERSE = {"+": "-", "-": "+", "/": "*", "+=": "-=", "-=": "+="}
_PICKS = frozenset(_OPPOSITE)
_STARTS = frozenset({";", "{", "}", ")", "else"})
_END = frozenset({";"})
# What is left of a float's 24 bits are the 11 of a half, and no header is needed for it.
_ROUND = "__int_as_float(__float_as_int({}) & 0xffffe000)"


def mutations(code: Code, function: Function) -> Iterator[Edit]:
    """Yield the mutations of one function's values."""
    floats = _float_names(code, function)
    indices = _in_subscripts(code, function)
    quiet = _integer_places(code, function)
    narrowed: set[str] = set()
    for at in function.inside:
        yield from _narrower_word(code, at)
        # Once is enough for a name: they all go wrong at the same size.
        if code.at(at + 1) in indices - narrowed and (edit := _short(code, at)) is not None:
            narrowed.add(code.at(at + 1))
            yield edit
        yield from _rounded(code, at, floats)
        yield from _first_value(code, at)
        yield from _opposite(code, at)
        if at not in quiet:
            yield from _operator(code, at)
            yield from _factor(code, at, frozenset((*function.factors, *function.sizes)))


def _float_names(code: Code, function: Function) -> frozenset[str]:
    """Return the names of variables and arrays of float."""
    found: set[str] = set()
    for at in range(function.start, function.end):
        if code.at(at) == "float":
            name = at + 1
            while code.at(name) in ("*", "&", "const", "__restrict__", "__restrict"):
                name += 1
            if code.tokens[name].is_word:
                found.add(code.at(name))
    return frozenset(found)


def _in_subscripts(code: Code, function: Function) -> frozenset[str]:
    found: set[str] = set()
    for at in function.inside:
        if code.at(at) == "[":
            found.update(token.text for token in code.tokens[at : code.close(at)] if token.is_word)
    return frozenset(found)


def _integer_places(code: Code, function: Function) -> frozenset[int]:
    """Return the tokens where arithmetic is that of indices: subscripts, loop headers, integers' values."""
    found: set[int] = set()
    for at in function.inside:
        if code.at(at) == "[" or (code.at(at) == "(" and code.at(at - 1) == "for"):
            found.update(range(at, code.close(at)))
        elif code.at(at) in _INTEGER_TYPES and code.at(at + 1) not in (">", "*", ")"):
            end = code.find(_END, at, function.end)
            if end is not None and (code.find(frozenset({"="}), at, end) or end) < end:
                found.update(range(at, end))
    return frozenset(found)


def _narrower_word(code: Code, at: int) -> Iterator[Edit]:
    text, after = code.at(at), code.at(at + 1)
    if after == "*":
        return
    if text == "double":
        yield replacing(code, MutantKind.NARROWER_TYPE, at, at + 1, "float")
    elif text in _WIDE:
        start = at - 2 if code.at(at - 1) == "::" else at
        yield replacing(code, MutantKind.NARROWER_TYPE, start, at + 1, "int")
    elif text == "long" and code.at(at - 1) != "long":
        end = at + 2 if after == "long" else at + 1
        if code.at(end) != "*":
            yield replacing(code, MutantKind.NARROWER_TYPE, at, end, "int")


def _short(code: Code, at: int) -> Edit | None:
    """Return the edit that makes the declared index a short; None if none is declared at `at`."""
    is_declared = code.at(at) in _SHORTER and code.at(at + 2) in ("=", ";", ",")
    if not is_declared or _counts_to_constant(code, at):
        return None
    return replacing(code, MutantKind.NARROWER_TYPE, at, at + 1, _SHORTER[code.at(at)])


def _counts_to_constant(code: Code, at: int) -> bool:
    if code.at(at - 2) != "for" or code.at(at - 1) != "(":
        return False
    clauses = code.split(";", at, code.close(at - 1))
    return len(clauses) == 3 and is_constant(code, clauses[1][0] + 1, clauses[1][1])


def _rounded(code: Code, at: int, floats: frozenset[str]) -> Iterator[Edit]:
    """Keep sums, and what is stored into an array after arithmetic, to the bits of a half."""
    if code.at(at) not in floats or code.at(at - 1) not in _STARTS:
        return
    sign = at + 1
    while code.at(sign) == "[":
        sign = code.close(sign) + 1
    end = code.find(_END, at, len(code.tokens))
    if end is None or code.at(sign) not in ("=", "+=", "-="):
        return
    target, value = code.text(at, sign), code.text(sign + 1, end)
    if code.at(sign) != "=":
        value = f"{target} {code.at(sign)[0]} ({value})"
    elif not (_computes(code, sign + 1, end) if sign > at + 1 else _adds_to(code, at, sign + 1, end)):
        return
    new = f"{target} = {_ROUND.format(value)}"
    yield replacing(code, MutantKind.NARROWER_TYPE, at, end, new)


def _computes(code: Code, start: int, end: int) -> bool:
    """True unless the value is only picked among others."""
    if code.at(start) in _PICKS and code.close(start + 1) == end - 1:
        return False
    return any(code.at(at) in ("+", "-", "*", "/", "(") for at in code.level(start, end))


def _adds_to(code: Code, variable: int, start: int, end: int) -> bool:
    """True for `sum = sum + x` and `sum = fmaf(x, y, sum)`."""
    name = code.at(variable)
    texts = [code.at(at) for at in code.level(start, end)]
    is_fma = bool(_FMA.match(texts[0])) and any(code.at(at) == name for at in range(start, end))
    return is_fma or (name in texts and "+" in texts)


def _first_value(code: Code, at: int) -> Iterator[Edit]:
    text, kind = code.at(at), MutantKind.WRONG_INITIAL_VALUE
    before, after = code.at(at - 1), code.at(at + 1)
    start = at - 1 if before == "-" and not code.tokens[at - 2].is_operand_end else at
    if text in _EXTREMES or _HUGE.match(text):
        zero = "0" if text.startswith(("INT", "LL")) else "0.0f"
        yield replacing(code, kind, start, at + 1, zero)
    elif text in _BITS and code.at(at + 2).lower().startswith(("0x7f8", "0xff8")):
        yield replacing(code, kind, start, code.close(at + 1) + 1, "0.0f")
    elif _ZERO.match(text) and after in (";", ",", ")", "}") and _is_first(code, at):
        yield replacing(code, kind, at, at + 1, text.replace("0", "1", 1))
    elif text == "=" and after == "{" and code.at(at + 2) == "}":
        yield replacing(code, kind, at + 1, at + 3, "{1}")


def _is_first(code: Code, at: int) -> bool:
    """True for the zero of `float sum = 0.0f`, `sums[i] = 0` and of `inside ? x : 0.0f`, not of a loop."""
    if code.at(at - 1) == ":":
        return bool(_FLOAT.match(code.at(at)))
    opening = next((i for i in range(at, 0, -1) if code.at(i) in ("(", "{", ";", "}")), 0)
    return code.at(at - 1) == "=" and code.at(opening) != "("


def _opposite(code: Code, at: int) -> Iterator[Edit]:
    if code.at(at) in _OPPOSITE and code.at(at + 1) == "(":
        yield replacing(code, MutantKind.WRONG_OPERATOR, at, at + 1, _OPPOSITE[code.at(at)])


def _operator(code: Code, at: int) -> Iterator[Edit]:
    if code.at(at) in _INVERSE and code.tokens[at - 1].is_operand_end:
        yield replacing(code, MutantKind.WRONG_OPERATOR, at, at + 1, _INVERSE[code.at(at)])


def _factor(code: Code, at: int, names: frozenset[str]) -> Iterator[Edit]:
    """Drop a number, or a parameter that is one, where something is multiplied by it or added to it."""
    text, before, after = code.at(at), code.at(at - 1), code.at(at + 1)
    if not (_FLOAT.match(text) or text in names) or after in ("(", "[", "."):
        return
    kind = MutantKind.DROPPED_FACTOR
    binds = after in ("*", "/")
    if before in ("*", "/") or (before in ("+", "-") and not binds and code.tokens[at - 2].is_operand_end):
        if code.tokens[at - 2].is_operand_end and not is_declared_array(code, at):
            yield removing(code, kind, at - 1, at + 1)
    elif after == "*" or (after == "+" and before not in ("*", "/")):
        yield removing(code, kind, at, at + 2)
