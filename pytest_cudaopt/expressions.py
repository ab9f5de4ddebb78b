"""The one expression grammar of shapes, launch rules, domains and work.

Integers, names, `+ - * / // %` (both divisions floor), comparisons, `and or not`, and the functions
`cdiv align_up min max next_pow2 where(condition, a, b)`. Text is parsed once into a small tree; nothing
is ever handed to `eval`. Comparisons and boolean operators give 0 or 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pytest_cudaopt.errors import ExpressionError

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(//|<=|>=|==|!=|[-+*/%()<>,]))")
_MAX_DEPTH = 64
# Python itself refuses to read more than some thousands.
_MOST_DIGITS = 1000


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _align_up(value: int, to: int) -> int:
    return _cdiv(value, to) * to


def _next_pow2(value: int) -> int:
    return 1 if value <= 1 else 1 << (value - 1).bit_length()


@dataclass(frozen=True)
class _Function:
    arity: tuple[int, int | None]  # least, most (None: any number)
    apply: Callable[..., int]


_FUNCTIONS: dict[str, _Function] = {
    "cdiv": _Function((2, 2), _cdiv),
    "align_up": _Function((2, 2), _align_up),
    "min": _Function((1, None), lambda *values: min(values)),
    "max": _Function((1, None), lambda *values: max(values)),
    "next_pow2": _Function((1, 1), _next_pow2),
    "where": _Function((3, 3), lambda condition, a, b: a if condition else b),
}

_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class _Number:
    value: int


@dataclass(frozen=True)
class _Name:
    name: str


@dataclass(frozen=True)
class _Operation:
    operator: str  # a key of _BINARY, "and", "or", "not", "negate", or a function's name
    operands: tuple[_Node, ...]


_Node = _Number | _Name | _Operation


@dataclass(frozen=True)
class Expression:
    """A parsed expression; compare and hash by its text."""

    text: str
    _tree: _Node

    @property
    def names(self) -> frozenset[str]:
        """The sizes and tunables the expression needs."""
        return frozenset(_names(self._tree))

    @property
    def constant(self) -> int | None:
        """The value, if no name is needed."""
        return None if self.names else self.evaluate({})

    @property
    def operation(self) -> tuple[str, tuple[Expression, ...]] | None:
        """The outermost operator or function and its operands; None for a number or a name."""
        if not isinstance(self._tree, _Operation):
            return None
        return self._tree.operator, tuple(Expression(_text(one), one) for one in self._tree.operands)

    @property
    def is_condition(self) -> bool:
        """True for a comparison, for `not`, and for `and`, `or` or `where(...)` of conditions."""
        return _is_condition(self._tree)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the value; raise ExpressionError for a missing name or a division by zero."""
        try:
            return _evaluate(self._tree, values)
        except KeyError as missing:
            known = ", ".join(sorted(values)) or "none"
            raise ExpressionError(
                f"expression '{self.text}'",
                expected=f"names among: {known}",
                got=f"'{missing.args[0]}'",
            ) from None
        except ZeroDivisionError:
            given = ", ".join(f"{name}={values[name]}" for name in sorted(self.names))
            raise ExpressionError(f"expression '{self.text}'", got=f"a division by zero ({given})") from None

    def __str__(self) -> str:
        return self.text


def parse(text: str | int | Expression) -> Expression:
    """Parse `text`; an int or an Expression passes through."""
    if isinstance(text, Expression):
        return text
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise ExpressionError("expression", expected="text or an integer", got=repr(text))
    return _parse_text(str(text))


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> Expression:
    parser = _Parser(text)
    tree = parser.disjunction()
    parser.expect_end()
    return Expression(text.strip(), tree)


class _Parser:
    """Recursive descent, loosest operator first."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0

    def disjunction(self) -> _Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error("an expression less deeply nested")
        left = self._conjunction()
        while self._take("or"):
            left = _Operation("or", (left, self._conjunction()))
        self._depth -= 1
        return left

    def expect_end(self) -> None:
        if self._peek() is not None:
            raise self._error("the end or an operator")

    def _conjunction(self) -> _Node:
        left = self._negation()
        while self._take("and"):
            left = _Operation("and", (left, self._negation()))
        return left

    def _negation(self) -> _Node:
        count = 0
        while self._take("not"):
            count += 1
        node = self._comparison()
        # Any even number of them still turns a value into 0 or 1.
        for _ in range(count if count < 2 else 2 - count % 2):
            node = _Operation("not", (node,))
        return node

    def _comparison(self) -> _Node:
        left = self._sum()
        operator = self._peek()
        if operator in _COMPARISONS:
            self._next += 1
            left = _Operation(operator, (left, self._sum()))
            if self._peek() in _COMPARISONS:
                raise self._error("one comparison ('a < b and b < c' for two)")
        return left

    def _sum(self) -> _Node:
        left = self._product()
        while (operator := self._peek()) in ("+", "-"):
            self._next += 1
            left = _Operation(operator, (left, self._product()))
        return left

    def _product(self) -> _Node:
        left = self._unary()
        while (operator := self._peek()) in ("*", "/", "//", "%"):
            self._next += 1
            left = _Operation(operator, (left, self._unary()))
        return left

    def _unary(self) -> _Node:
        negated = False
        while (sign := self._peek()) in ("-", "+"):
            self._next += 1
            negated ^= sign == "-"
        operand = self._atom()
        return _Operation("negate", (operand,)) if negated else operand

    def _atom(self) -> _Node:
        token = self._peek()
        if token is None:
            raise self._error("a number, a name or '('")
        if token.isdigit():
            if len(token) > _MOST_DIGITS:
                raise ExpressionError(
                    f"expression '{self._text[:100]}...'",
                    expected=f"numbers of at most {_MOST_DIGITS} digits",
                    got=f"one of {len(token)}",
                )
            self._next += 1
            return _Number(int(token))
        if token == "(":  # noqa: S105 - a parenthesis, not a password
            self._next += 1
            inner = self.disjunction()
            self._require(")")
            return inner
        if token[0].isalpha() or token[0] == "_":
            self._next += 1
            return self._call(token) if self._peek() == "(" else _Name(token)
        raise self._error("a number, a name or '('")

    def _call(self, name: str) -> _Node:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(
                f"expression '{self._text}'",
                expected=f"a function among {', '.join(sorted(_FUNCTIONS))}",
                got=f"'{name}'",
            )
        self._require("(")
        arguments = [self.disjunction()]
        while self._take(","):
            arguments.append(self.disjunction())
        self._require(")")
        least, most = function.arity
        if len(arguments) < least or (most is not None and len(arguments) > most):
            raise ExpressionError(
                f"expression '{self._text}'",
                expected=f"{least} arguments of {name}",
                got=str(len(arguments)),
            )
        return _Operation(name, tuple(arguments))

    def _peek(self) -> str | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._next += 1
        return True

    def _require(self, token: str) -> None:
        if not self._take(token):
            raise self._error(f"'{token}'")

    def _error(self, expected: str) -> ExpressionError:
        token = self._peek()
        got = "the end" if token is None else f"'{token}'"
        return ExpressionError(f"expression '{self._text}'", expected=expected, got=got)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(
                f"expression '{text}'",
                expected="integers, names, operators and parentheses",
                got=f"'{text[position:].strip()[:1]}'",
            )
        tokens.append(match.group(match.lastindex or 0))
        position = match.end()
    return tokens


def _names(node: _Node) -> set[str]:
    if isinstance(node, _Name):
        return {node.name}
    if isinstance(node, _Operation):
        return set().union(*(_names(operand) for operand in node.operands))
    return set()


def _is_condition(node: _Node) -> bool:
    if not isinstance(node, _Operation):
        return False
    if node.operator in ("and", "or"):
        return all(map(_is_condition, node.operands))
    if node.operator == "where":
        return all(map(_is_condition, node.operands[1:]))
    return node.operator == "not" or node.operator in _COMPARISONS


def _text(node: _Node) -> str:
    """Return text that parses to `node`; more parentheses than it was written with do no harm."""
    if isinstance(node, _Number):
        return str(node.value)
    if isinstance(node, _Name):
        return node.name
    operands = [_text(operand) for operand in node.operands]
    if node.operator == "negate":
        return f"(-{operands[0]})"
    if node.operator == "not":
        return f"(not {operands[0]})"
    if node.operator in _BINARY or node.operator in ("and", "or"):
        return f"({operands[0]} {node.operator} {operands[1]})"
    return f"{node.operator}({', '.join(operands)})"


def _evaluate(node: _Node, values: Mapping[str, int]) -> int:
    if isinstance(node, _Number):
        return node.value
    if isinstance(node, _Name):
        return int(values[node.name])
    operator = node.operator
    first = _evaluate(node.operands[0], values)
    # `and`, `or` and `where` do not evaluate what they do not choose: `n > 0 and 8 / n > 2` is legal.
    if operator == "and":
        return int(bool(first) and bool(_evaluate(node.operands[1], values)))
    if operator == "or":
        return int(bool(first) or bool(_evaluate(node.operands[1], values)))
    if operator == "where":
        return _evaluate(node.operands[1 if first else 2], values)
    if operator == "not":
        return int(not first)
    if operator == "negate":
        return -first
    rest = [_evaluate(operand, values) for operand in node.operands[1:]]
    if operator in _BINARY:
        return _BINARY[operator](first, rest[0])
    return _FUNCTIONS[operator].apply(first, *rest)
