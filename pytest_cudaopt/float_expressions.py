"""The grammar of tolerances: numbers and sizes, `+ - * / **`, parentheses, `sqrt log2 min max`.

Values are floats, unlike those of `expressions`. Python's own parser reads the text and a small tree is made
of what is allowed; nothing is ever handed to `eval`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pytest_cudaopt.errors import ExpressionError

# Keeps the parser, which recurses, far from its limits.
_MOST_CHARACTERS = 300
_GRAMMAR = "numbers, sizes, + - * / **, parentheses, sqrt, log2, min and max"

_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt,
    "log2": math.log2,
    "min": min,
    "max": max,
}
_ONE_ARGUMENT = ("sqrt", "log2")
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    # Unlike `**` never complex.
    ast.Pow: math.pow,
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: a,
}


@dataclass(frozen=True)
class _Operation:
    apply: Callable[..., float]
    operands: tuple[_Node, ...]


_Node = float | str | _Operation


@dataclass(frozen=True)
class FloatExpression:
    """A parsed expression with a float value; `names` are the sizes it needs."""

    text: str
    names: frozenset[str]
    _tree: _Node

    def evaluate(self, sizes: Mapping[str, int]) -> float:
        """Return the finite value; raise ExpressionError if there is none."""
        try:
            value = _evaluate(self._tree, sizes)
        except KeyError as missing:
            known = ", ".join(sorted(sizes)) or "none"
            raise self._error(f"'{missing.args[0]}'", f"names among: {known}") from None
        except ZeroDivisionError:
            raise self._error(f"a division by zero{self._given(sizes)}") from None
        except ValueError:
            raise self._error(f"a root, logarithm or power without a value{self._given(sizes)}") from None
        except OverflowError:
            raise self._error(f"a number beyond all floats{self._given(sizes)}") from None
        if not math.isfinite(value):
            raise self._error(f"{value}{self._given(sizes)}", "a finite number")
        return value

    def _given(self, sizes: Mapping[str, int]) -> str:
        given = ", ".join(f"{name}={sizes[name]}" for name in sorted(self.names) if name in sizes)
        return f" ({given})" if given else ""

    def _error(self, got: str, expected: str | None = None) -> ExpressionError:
        return ExpressionError(f"expression '{self.text}'", expected=expected, got=got)

    def __str__(self) -> str:
        return self.text


def parse(text: str | float | FloatExpression) -> FloatExpression:
    """Parse `text`; a number is one that needs no sizes, and an expression passes through."""
    if isinstance(text, FloatExpression):
        return text
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ExpressionError("expression", expected="a number, or text over sizes", got=repr(text))
    if isinstance(text, str):
        return _parse_text(text.strip())
    return FloatExpression(repr(text), frozenset(), float(text))


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> FloatExpression:
    what = f"expression '{text}'"
    if len(text) > _MOST_CHARACTERS:
        raise ExpressionError(what, expected=f"at most {_MOST_CHARACTERS} characters", got=str(len(text)))
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ExpressionError(what, expected=_GRAMMAR, got=str(error).partition(" (")[0]) from None
    tree = _tree(body, what)
    return FloatExpression(text, frozenset(_names(tree)), tree)


def _tree(node: ast.expr, what: str) -> _Node:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        # From the text: an integer beyond all floats becomes infinity, which is refused with its sizes.
        return float(ast.unparse(node))
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _Operation(_OPERATORS[type(node.op)], (_tree(node.left, what), _tree(node.right, what)))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _Operation(_OPERATORS[type(node.op)], (_tree(node.operand, what),))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and node.args:
        return _call(node.func.id, node.args, what)
    raise ExpressionError(what, expected=_GRAMMAR, got=f"'{ast.unparse(node)}'")


def _call(name: str, arguments: list[ast.expr], what: str) -> _Node:
    if name not in _FUNCTIONS:
        raise ExpressionError(
            what, expected=f"a function among {', '.join(sorted(_FUNCTIONS))}", got=f"'{name}'"
        )
    if name in _ONE_ARGUMENT and len(arguments) != 1:
        raise ExpressionError(what, expected=f"1 argument of {name}", got=str(len(arguments)))
    operands = tuple(_tree(argument, what) for argument in arguments)
    if len(operands) == 1 and name not in _ONE_ARGUMENT:
        # Python's own would take it for a sequence.
        return operands[0]
    return _Operation(_FUNCTIONS[name], operands)


def _names(node: _Node) -> set[str]:
    if isinstance(node, str):
        return {node}
    return set().union(*map(_names, node.operands)) if isinstance(node, _Operation) else set()


def _evaluate(node: _Node, sizes: Mapping[str, int]) -> float:
    if isinstance(node, str):
        return float(sizes[node])
    if isinstance(node, _Operation):
        return node.apply(*(_evaluate(operand, sizes) for operand in node.operands))
    return node
