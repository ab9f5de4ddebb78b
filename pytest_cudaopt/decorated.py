"""What `@kernel` stands on and is given: its place, and the mistakes that Python itself would word poorly."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from pytest_cudaopt.errors import DeclarationError, SourceLocation, did_you_mean
from pytest_cudaopt.structs import member_names

_EXAMPLE = "cases=[case(n=1000)]"


def place_of(function: Callable[..., Any]) -> SourceLocation:
    """Return the line of the first decorator of `function`."""
    code = inspect.unwrap(function).__code__
    return SourceLocation(code.co_filename, code.co_firstlineno)


def place_in(frame: FrameType) -> SourceLocation:
    """Return the line `frame` is at."""
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def reference_sizes(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the keyword-only parameters without a default that are no members of a struct."""
    parameters = inspect.signature(function).parameters.values()
    alone = [one for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
    members = member_names(parameters)
    return tuple(one.name for one in alone if one.name not in members)


def require_source(source: object, called_at: SourceLocation) -> None:
    """Raise DeclarationError for anything but the name of a file, such as a function: `@kernel` alone."""
    if callable(source):
        name = getattr(source, "__name__", "kernel")
        raise DeclarationError(
            f"@kernel on '{name}'",
            expected="the source file and the cases",
            got="no arguments",
            next_step=f'Write @kernel("{name}.cu", {_EXAMPLE})',
            at=place_of(source) if inspect.isfunction(source) else called_at,
        )
    if not isinstance(source, str | Path):
        raise DeclarationError(
            "kernel(...)",
            expected="the name of a .cu file",
            got=repr(source),
            next_step=f'Write @kernel("file.cu", {_EXAMPLE})',
            at=called_at,
        )


def require_function(function: Any, called_at: SourceLocation) -> None:
    """Raise DeclarationError for a class or anything else whose parameters are no kernel's."""
    if inspect.isfunction(inspect.unwrap(function)):
        return
    name = getattr(function, "__name__", repr(function))
    raise DeclarationError(
        f"@kernel on '{name}'",
        expected="a function whose parameters carry markers and whose body is the reference",
        got="a class" if isinstance(function, type) else f"a {type(function).__name__}",
        next_step="Write def my_kernel(x=In(f32, 'n'), y=Out(f32, 'n'), n=i32): y[...] = 2 * x",
        at=called_at,
    )


def require_no_unknown(unknown: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise DeclarationError for a keyword that `kernel(...)` does not have."""
    keywords = list(known)
    for name in unknown:
        raise DeclarationError(
            f"kernel({name}=)",
            expected=f"one of {', '.join(keywords)}",
            got=f"'{name}'",
            next_step=did_you_mean(name, keywords),
        )
