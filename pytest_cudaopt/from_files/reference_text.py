"""A reference as a module of its own: the function, and of its module what it needs."""

from __future__ import annotations

import ast
import inspect
import symtable
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pytest_cudaopt.declare import kernel as kernel_decorator
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.parameters import Marker
from pytest_cudaopt.structs import StructMarker

_TORCH = "pytest_cudaopt.torch_reference"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def standalone(function: Callable[..., Any]) -> str | None:
    """Return a module's text that defines `function` again, without markers and `@kernel`.

    Helpers, constants and imports it uses come along, in their order. None for what is not defined by a `def`
    at the top of a module, and for what wraps such a function, but for `torch_reference`.
    """
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain):
        return None
    text = Path(inspect.getsourcefile(plain) or "").read_text(encoding="utf-8-sig")
    module = ast.parse(text)
    own = next((node for node in module.body if _is(node, plain)), None)
    if not isinstance(own, _Function):
        return None
    lines = text.splitlines()
    body = _without_declaration(own, plain, lines)
    needed = _needed(module, own, body, lines)
    parts = [_segment(node, lines) for node in module.body if node in needed]
    if plain is not function and not own.decorator_list:
        if (wrapping := _wrapping(function, own.name)) is None:
            return None
        body = f"{body}\n\n\n{wrapping}"
        parts = ["from pytest_cudaopt import torch_reference", *parts]
    return "\n\n\n".join(part for part in ("\n".join(_imports(parts)), *_rest(parts), body) if part) + "\n"


def _wrapping(function: Callable[..., Any], name: str) -> str | None:
    """Return the statement that wraps the function `name` as `function` is."""
    if not inspect.isfunction(function) or function.__globals__["__name__"] != _TORCH:
        return None
    device = inspect.getclosurevars(function).nonlocals["device"]
    return f"{name} = torch_reference({name}, device={device!r})"


def _is(node: ast.stmt, function: Callable[..., Any]) -> bool:
    if not isinstance(node, _Function) or node.name != function.__name__:
        return False
    return function.__code__.co_firstlineno in (node.lineno, *(d.lineno for d in node.decorator_list))


def _without_declaration(node: _Function, function: Callable[..., Any], lines: list[str]) -> str:
    """Return the function's text, its body as it is, its head without what declares a kernel."""
    defaults = {one.name: one.default for one in inspect.signature(function).parameters.values()}
    if not any(map(_is_declaring, defaults.values())):
        return _segment(node, lines)
    arguments = node.args
    # Nothing is ever given for a struct: its members have their names.
    arguments.args = [one for one in arguments.args if not isinstance(defaults[one.arg], StructMarker)]
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        one.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None for _ in arguments.kwonlyargs]
    first = node.body[0]
    if first.lineno == node.lineno:
        body = [f"    {ast.unparse(statement)}" for statement in node.body]
    else:
        body = lines[_first_line(first) - 1 : node.end_lineno]
    kept = [one for one in node.decorator_list if not _is_declaration(one, function)]
    decorators = [f"@{ast.unparse(one)}" for one in kept]
    return "\n".join([*decorators, f"def {node.name}({ast.unparse(arguments)}):", *body])


def _is_declaring(default: object) -> bool:
    return isinstance(default, Marker | StructMarker | DType)


def _is_declaration(decorator: ast.expr, function: Callable[..., Any]) -> bool:
    """Whether it is `@kernel(...)` or a mark of pytest."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    parts = ast.unparse(named).split(".")
    value: object = function.__globals__.get(parts[0])
    for part in parts[1:]:
        value = getattr(value, part, None)
    return value is kernel_decorator or parts[:2] == ["pytest", "mark"]


def _needed(module: ast.Module, own: ast.stmt, body: str, lines: list[str]) -> list[ast.stmt]:
    """Return the module's statements that `body` needs, those they need in turn, and `__future__`."""
    bound = {node: set(_bound_in(node)) for node in module.body if node is not own}
    needed: list[ast.stmt] = []
    needed += (node for node in bound if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    missing = _free_names(body)
    while missing:
        found = [node for node in bound if node not in needed and bound[node] & missing]
        needed += found
        missing = {name for node in found for name in _free_names(_segment(node, lines))}
    return needed


def _free_names(text: str) -> set[str]:
    """Return the names that a piece of a module's top takes from the module; what is local is none."""
    return set(_free_in(symtable.symtable(text, "reference", "exec")))


def _free_in(scope: symtable.SymbolTable) -> Iterator[str]:
    is_top = scope.get_type() == "module"
    for symbol in scope.get_symbols():
        if symbol.is_referenced() if is_top else symbol.is_global():
            yield symbol.get_name()
    for child in scope.get_children():
        yield from _free_in(child)


def _bound_in(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _Function | ast.ClassDef):
        yield node.name
        return
    for one in ast.walk(node):
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in one.names)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id
        elif isinstance(one, _Function | ast.ClassDef):
            yield one.name


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _Function | ast.ClassDef) else []
    return min([node.lineno, *(one.lineno for one in decorators)])


def _segment(node: ast.stmt, lines: list[str]) -> str:
    return "\n".join(lines[_first_line(node) - 1 : node.end_lineno])


def _imports(parts: list[str]) -> list[str]:
    return [part for part in parts if part.startswith(("import ", "from "))]


def _rest(parts: list[str]) -> list[str]:
    return [part for part in parts if not part.startswith(("import ", "from "))]
