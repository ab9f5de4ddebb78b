"""Everything a Python function's result can depend on but its arguments, as one digest, or none.

None wherever that cannot be known: what is remembered under a digest must never be stale. So only code,
plain values, arrays and functions of a few pure libraries are followed; a module of the user's, an object, a
file or a random number makes a function unknown.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import operator
import platform
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.parameters import Marker
from pytest_cudaopt.structs import StructMarker

# Their functions give the same results in the same release.
_PURE_LIBRARIES = frozenset(
    {"bisect", "cmath", "collections", "fractions", "functools", "heapq", "itertools", "math", "ml_dtypes"}
    | {"numpy", "operator", "typing"}
    | {"scipy.fft", "scipy.ndimage", "scipy.signal", "scipy.special"}
)
_PURE_BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter", "float"}
    | {"frozenset", "int", "isinstance", "iter", "len", "list", "map", "max", "min", "next", "pow", "range"}
    | {"repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip"}
)
# Ways out of those libraries: to files, to random numbers, to the interpreter.
_WAYS_OUT = frozenset(
    {
        "random",
        "rand",
        "randn",
        "datetime64",
        "attrgetter",
        "methodcaller",
        "load",
        "loads",
        "loadtxt",
        "fromfile",
        "genfromtxt",
    }
    | {"fromregex", "memmap", "open_memmap", "DataSource", "datasets", "io", "ctypeslib", "f2py", "testing"}
    | {"os", "sys", "builtins", "ctypes", "importlib", "warnings", "inspect"}
    | {"__globals__", "__builtins__", "__dict__", "__code__", "__class__", "__closure__", "__loader__"}
)
_SCALARS = (type(None), bool, int, float, complex, str, bytes, type(...))
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
# The last two, of classes in functions, read globals in a way that is not followed.
_REFUSED = ("STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF")
_REACHES = ("ATTR", "METHOD", "IMPORT")
_REBINDS = ("STORE_DEREF", "DELETE_DEREF")


class _UnknownError(Exception):
    """Something that may change without being seen to."""


def fingerprint(function: Callable[..., Any]) -> str | None:
    """Return a digest that changes whenever `function` may give other results; None if there is none."""
    collected = _Fingerprint()
    try:
        collected.add(function)
    except (_UnknownError, RecursionError):
        return None
    return collected.digest()


class _Fingerprint:
    """A running digest; every part is framed, so that no two sequences of parts give the same bytes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(f"{platform.python_version()} {np.__version__}".encode())
        self._seen: dict[int, object] = {}

    def digest(self) -> str:
        return self._hash.hexdigest()

    def add(self, value: object) -> None:
        kind = type(value)
        if kind in _SCALARS:
            self._frame(kind.__name__, repr(value).encode())
        elif kind in (tuple, frozenset):
            # Never part of themselves; whether two equal ones are one object is the compiler's choice.
            self._add_object(value)
        elif id(value) in self._seen:
            self._frame("seen", str(list(self._seen).index(id(value))).encode())
        else:
            # Kept, so that no other object gets its id.
            self._seen[id(value)] = value
            self._add_object(value)

    def _add_object(self, value: object) -> None:
        if type(value) in (tuple, list):
            self._add_all(type(value).__name__, list(value))  # type: ignore[call-overload]
        elif type(value) is dict:
            self._add_all("dict", [part for item in value.items() for part in item])
        elif type(value) in (set, frozenset):
            self._add_all("set", sorted(value, key=repr))  # type: ignore[call-overload]
        elif isinstance(value, np.dtype | DType):
            self._frame("dtype", str(value).encode())
        elif type(value) is np.ndarray or isinstance(value, np.generic):
            self._add_array(np.asarray(value))
        elif isinstance(value, functools.partial):
            self._add_all("partial", [value.func, value.args, value.keywords])
        elif isinstance(value, FunctionType) and not _is_of_library(value.__globals__.get("__name__", "")):
            self._add_function(value)
        else:
            self._frame("library", _library_name(value).encode())

    def _add_all(self, kind: str, values: list[Any]) -> None:
        self._frame(kind, str(len(values)).encode())
        for value in values:
            self.add(value)

    def _add_array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject:
            raise _UnknownError
        self._frame("array", f"{array.dtype} {array.shape}".encode())
        self._frame("data", array.tobytes())

    def _add_function(self, function: FunctionType) -> None:
        self._add_code(function.__code__, function)
        given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        # A declaration's markers are no values: whoever calls it hands over arguments.
        values = [one for one in given if not isinstance(one, Marker | StructMarker | DType)]
        self._add_all("defaults", values)
        try:
            self._add_all("closure", [cell.cell_contents for cell in function.__closure__ or ()])
        except ValueError:
            # A name that has no value yet.
            raise _UnknownError from None

    def _add_code(self, code: CodeType, function: FunctionType) -> None:
        self._frame("code", code.co_code)
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._frame("layout", repr((shape, names, code.co_exceptiontable)).encode())
        for instruction in dis.get_instructions(code):
            self._add_instruction(instruction, function)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._add_code(constant, function)
            else:
                self.add(constant)

    def _add_instruction(self, instruction: dis.Instruction, function: FunctionType) -> None:
        name, does = str(instruction.argval), instruction.opname
        rebinds = does in _REBINDS and name in function.__code__.co_freevars
        reaches = any(part in does for part in _REACHES) and not _WAYS_OUT.isdisjoint(name.split("."))
        if does in _REFUSED or rebinds or reaches:
            raise _UnknownError
        if does == "IMPORT_NAME" and not _is_of_library(name):
            raise _UnknownError
        if does in _LOADS:
            self._add_global(name, function.__globals__)

    def _add_global(self, name: str, known: dict[str, Any]) -> None:
        if name in known:
            self._frame("global", name.encode())
            self.add(known[name])
            return
        found = getattr(builtins, name, None)
        is_error = isinstance(found, type) and issubclass(found, Exception)
        if name not in _PURE_BUILTINS and not is_error:
            raise _UnknownError

    def _frame(self, kind: str, content: bytes) -> None:
        self._hash.update(f"{kind} {len(content)}\n".encode())
        self._hash.update(content)


def _is_of_library(module: str) -> bool:
    parts = module.split(".")
    is_pure = parts[0] in _PURE_LIBRARIES or ".".join(parts[:2]) in _PURE_LIBRARIES
    return is_pure and _WAYS_OUT.isdisjoint(parts)


def _library_name(value: Any) -> str:
    """Return the name and release of what a pure library offers; raise _UnknownError for anything else."""
    if isinstance(value, ModuleType):
        module, name = value.__name__, ""
        found: object = sys.modules.get(module)
    else:
        scope = value.__globals__ if isinstance(value, FunctionType) else {}
        module = str(scope.get("__name__") or getattr(value, "__module__", "") or "")
        name = str(getattr(value, "__qualname__", None) or getattr(value, "__name__", ""))
        if module == "builtins" and name in _PURE_BUILTINS and getattr(builtins, name) is value:
            return f"builtins.{name}"
        found = _attribute(sys.modules.get(module), name)
    # What only says that it is of a library, such as a function wrapped by functools.wraps, is not.
    if not _is_of_library(module) or not _WAYS_OUT.isdisjoint(name.split(".")) or found is not value:
        raise _UnknownError
    release = getattr(sys.modules[module.partition(".")[0]], "__version__", platform.python_version())
    return f"{module}.{name} {release}"


def _attribute(owner: object, name: str) -> object:
    try:
        return operator.attrgetter(name)(owner) if name else None
    except AttributeError:
        return None
