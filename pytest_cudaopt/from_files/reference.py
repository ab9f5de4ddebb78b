"""The reference of a kernel from files: a function in a Python file, or another kernel."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.from_files.signature import Signature
from pytest_cudaopt.load import module_at
from pytest_cudaopt.reference_source import Reference, ReferenceSource

_EXAMPLE = "ref.py, ref.py::FUNCTION, naive.cu or naive.cu::ENTRY"


@dataclass(frozen=True)
class LoadedReference:
    """The reference, and the sizes it takes that are no parameters of the kernel."""

    reference: Reference
    sizes: tuple[str, ...] = ()


def load_reference(named: str, signature: Signature) -> LoadedReference:
    """Return what `named` is: `FILE.py`, `FILE.cu`, each with `::NAME` where the kernel's name is not meant.

    Raises DeclarationError for anything else, for a file that cannot be imported, and for a function that
    takes what the signature does not have.
    """
    file, separator, name = named.partition("::")
    path = Path(file).absolute()
    if path.suffix not in (".py", ".cu") or bool(name) != bool(separator):
        raise DeclarationError("reference", expected=_EXAMPLE, got=f"'{named}'")
    if not path.is_file():
        near = sorted(found.name for found in path.parent.glob(f"*{path.suffix}"))
        raise DeclarationError(
            f"reference {file}",
            expected="a readable file",
            got="no such file",
            next_step=f"Files beside it: {', '.join(near) or 'none'}",
        )
    if path.suffix == ".cu":
        return LoadedReference(ReferenceSource(path, name or signature.reference_entry or signature.entry))
    function = _function(module_at(path, f"cudaopt_reference_{path.stem}"), file, name, signature.name)
    return LoadedReference(function, _sizes_taken(function, file, signature))


def _function(module: ModuleType, file: str, name: str, kernel: str) -> Callable[..., Any]:
    found = vars(module)
    own = [
        key
        for key, value in found.items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not key.startswith("_")
    ]
    wanted = name or (kernel if kernel in found else "")
    if not wanted:
        if len(own) != 1:
            raise DeclarationError(
                f"reference {file}",
                expected=f"a function '{kernel}', or a single one",
                got=", ".join(own) or "no function",
                next_step=f"Name it: {file}::{own[0]}" if own else f"Write def {kernel}(...): ...",
            )
        wanted = own[0]
    value = found.get(wanted)
    if type(value) is Kernel:
        # Somebody named the module that declares it: its body is meant.
        value = value.reference
    if not callable(value) or inspect.isclass(value):
        raise DeclarationError(
            f"reference {file}",
            expected=f"a function '{wanted}'",
            got=", ".join(own) if wanted not in found else f"{value!r}",
            next_step=did_you_mean(wanted, own),
        )
    return cast("Callable[..., Any]", value)


def _sizes_taken(function: Callable[..., Any], file: str, signature: Signature) -> tuple[str, ...]:
    """Return the sizes that the function takes beside parameters; refuse what nobody can give it."""
    sizes = [*signature.sizes, *dict(signature.derived)]
    parameters = [parameter.name for parameter in signature.parameters]
    what = f"reference {file}, function '{getattr(function, '__name__', 'reference')}'"
    try:
        taken = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    named: list[str] = []
    for one in taken:
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        _require_known(what, one, (*parameters, *sizes))
        named.append(one.name)
    return tuple(name for name in named if name in sizes and name not in parameters)


def _require_known(what: str, one: inspect.Parameter, known: Collection[str]) -> None:
    if one.kind is one.POSITIONAL_ONLY:
        raise DeclarationError(
            what,
            expected="parameters that can be given by name",
            got=f"{one.name} before a '/'",
            next_step="Remove the '/'",
        )
    if one.name not in known and one.default is one.empty:
        raise DeclarationError(
            what,
            expected=f"parameters among {', '.join(dict.fromkeys(known))}",
            got=f"'{one.name}'",
            next_step=did_you_mean(one.name, known),
        )
