"""What a record of a kernel depends on besides its source: how it is called, and what it is given."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

from pytest_cudaopt.cases import Case, derived_seed
from pytest_cudaopt.expressions import Expression

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.parameters import Parameter

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class CaseFacts:
    """A case as it was when something was recorded of it.

    `sizes` hold the derived ones too; `types` the dtypes chosen. `inputs` is a digest of all else that
    decides what the kernel is given: seeds, generators, null pointers, how arrays lie.
    """

    sizes: Mapping[str, int]
    inputs: str
    types: Mapping[str, str] = field(default_factory=dict)


def signature_of(kernel: Kernel) -> str:
    """Return how the kernel is called, in one line; a source of another signature cannot stand in for it.

    Names of parameters do not count, their order does: `softmax(in f32[2], out f32[2], i32, i32)`.
    """
    types = [f"{name}={'|'.join(one.name for one in dtypes)}" for name, dtypes in kernel.types]
    parameters = ", ".join(_parameter(one) for one in kernel.parameters)
    return f"{kernel.entry}({parameters})" + (f" with {', '.join(types)}" if types else "")


def facts_of(kernel: Kernel, case: Case) -> CaseFacts:
    """Return what is to be recorded of a case."""
    values = {one.name: _written(one.values) for one in kernel.parameters if one.values is not None}
    scalars = {one.name: _written(one.value) for one in kernel.parameters if one.value is not None}
    strides = {one.name: _written(one.strides) for one in kernel.parameters if one.strides is not None}
    parts = (
        derived_seed(kernel.name, case),
        sorted(case.absent),
        str(case.values),
        sorted(case.misaligned),
        sorted(case.alias),
        sorted(values.items()),
        sorted(scalars.items()),
        sorted(strides.items()),
    )
    inputs = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
    return CaseFacts(kernel.all_sizes(case), inputs, dict(case.types))


def _parameter(one: Parameter) -> str:
    dtype = one.dtype.name
    text = f"{one.role} {dtype}[{len(one.shape)}]" if one.is_array else dtype
    if one.symbol is not None:
        return f"{text} as {one.symbol}"
    return text if one.struct is None else f"{one.struct.type_name}.{one.name} {text}"


def _written(value: object, within: tuple[int, ...] = ()) -> str:
    """Write a generator or number so that it reads alike in every version of Python and every process.

    `within` are the ids of the objects this one was reached through; one that is met again is only named.
    """
    if id(value) in within:
        return type(value).__qualname__
    write = partial(_written, within=(*within, id(value)))
    if isinstance(value, Expression):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        members = ", ".join(f"{member.name}={write(getattr(value, member.name))}" for member in fields(value))
        return f"{type(value).__name__}({members})"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, set | frozenset):
        # Texts are hashed anew in every process.
        return f"{{{', '.join(sorted(map(write, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{write(key)}: {write(one)}' for key, one in value.items())}}}"
    if isinstance(value, ModuleType):
        return value.__name__
    return _code(value, write) if callable(value) else _object(value, write)


def _code(function: object, write: Callable[[object], str]) -> str:
    """Write what is called, and the values it was made with."""
    if isinstance(function, partial):
        return f"partial({write(function.func)}, {write(function.args)}, {write(function.keywords)})"
    if isinstance(function, MethodType):
        return f"{write(function.__func__)} of {write(function.__self__)}"
    if isinstance(function, FunctionType):
        bound = _bound(function)
        return f"{_source(function)} with {write(bound)}" if bound else _source(function)
    return _source(function) if isinstance(function, type | BuiltinFunctionType) else _object(function, write)


def _bound(function: FunctionType) -> dict[str, object]:
    """Return the values that a function's source does not show: of a factory's variables, and defaults."""
    found: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # Not assigned yet.
            found[name] = None
    for name, defaults in (("defaults", function.__defaults__), ("keywords", function.__kwdefaults__)):
        if defaults:
            found[f"its {name}"] = defaults
    return found


def _object(value: object, write: Callable[[object], str]) -> str:
    if callable(value) or type(value).__repr__ is object.__repr__:
        # What C made, such as numpy's functions, has a name of its own and no state.
        name = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__))
        return f"{name}({write(object.__getstate__(value))})"
    import numpy as np

    if isinstance(value, np.ndarray):
        # Its repr leaves elements out.
        return f"{value.dtype}{list(value.shape)} {hashlib.sha256(value.tobytes()).hexdigest()}"
    # An address is another one in every process.
    return _ADDRESS.sub("", repr(value))


def _source(function: object) -> str:
    try:
        return inspect.getsource(function)  # type: ignore[arg-type]
    except (OSError, TypeError):
        # Made where no file is: it is known by its name alone.
        return str(getattr(function, "__qualname__", type(function).__qualname__))
