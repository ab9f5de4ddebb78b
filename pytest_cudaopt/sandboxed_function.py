"""A reference that nobody has read yet: a function of a Python file that runs in the sandbox only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.errors import DeclarationError, why_unreadable
from pytest_cudaopt.sandbox import shared
from pytest_cudaopt.sandbox.call import Call, Limits, Wanted
from pytest_cudaopt.sandbox.outcome import Ok

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LIMITS = Limits()


class SandboxedCallError(Exception):
    """The call ended otherwise than with arrays; the message says how."""


@dataclass(frozen=True)
class SandboxedFunction:
    """Takes a reference's arguments by name and returns its outputs; `origin` says where it is from."""

    file: Path
    name: str
    origin: str = ""
    limits: Limits = _LIMITS

    @cached_property
    def source(self) -> str:
        """The file's text; raises DeclarationError if it cannot be read."""
        try:
            return self.file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DeclarationError(
                f"reference {self.file}", expected="a readable file", got=why_unreadable(error)
            ) from error

    @cached_property
    def takes(self) -> frozenset[str]:
        """The names of its parameters; raises DeclarationError if the file has no such function."""
        try:
            body = ast.parse(self.source).body
        except SyntaxError as error:
            got = f"line {error.lineno}: {error.msg}"
            raise DeclarationError(f"reference {self.file}", expected="Python", got=got) from error
        found = next((n for n in body if isinstance(n, ast.FunctionDef) and n.name == self.name), None)
        if found is None:
            names = ", ".join(node.name for node in body if isinstance(node, ast.FunctionDef))
            raise DeclarationError(
                f"reference {self.file}", expected=f"a function '{self.name}'", got=names or "no function"
            )
        return frozenset(
            one.arg for one in (*found.args.posonlyargs, *found.args.args, *found.args.kwonlyargs)
        )

    def __call__(self, **given: Any) -> Mapping[str, NDArray[Any]]:
        """Return the outputs, which are the arrays of `given` that may be written to.

        Raises SandboxedCallError for a call that ends otherwise, and EnvironmentFault without a sandbox.
        """
        outputs = {
            name: Wanted(shape=value.shape)
            for name, value in given.items()
            if hasattr(value, "flags") and value.flags.writeable
        }
        taken = {name: value for name, value in given.items() if name in self.takes}
        ended = shared.sandbox().run(Call(self.source, self.name, taken, outputs), self.limits)
        if isinstance(ended.outcome, Ok):
            return ended.outcome.arrays
        raise SandboxedCallError(f"{self.file.name}: the function {ended.outcome}")


def sandboxed(file: str, function: str, *, origin: str = "") -> SandboxedFunction:
    """Return what calls `function` of `file`, relative to the caller's, in the sandbox: for `reference=`.

    `origin` stands in certificates and reports, such as "generated".
    """
    folder = Path(sys._getframe(1).f_code.co_filename).parent
    return SandboxedFunction(folder / file, function, origin)
