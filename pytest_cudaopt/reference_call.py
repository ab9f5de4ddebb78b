"""Call a user's Python function with a kernel's parameters, and read what it returns as arrays."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.errors import CudaoptError, ReferenceFault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.declared import Kernel


def call(
    kernel: Kernel,
    what: str,
    function: Callable[..., Any],
    given: Mapping[str, Any],
    fault: type[ReferenceFault] = ReferenceFault,
) -> object:
    """Return what `function` returns for those of the arguments that it names.

    Raises a `fault` about `what`, at the declaration, for whatever it raises.
    """
    try:
        # A reference may overflow or divide by zero on purpose; its values are judged, not its warnings.
        with np.errstate(all="ignore"):
            return function(**_named(function, given))
    except CudaoptError:
        raise
    except (Exception, SystemExit) as error:
        # A user's function may raise anything, or try to leave; it is reported, not obeyed.
        raise fault(
            f"{what} of kernel '{kernel.name}'",
            expected="no exception",
            got=f"{type(error).__name__}: {error}\n{_user_traceback(error)}",
            at=kernel.location,
        ) from error


def returned_by_name(
    kernel: Kernel, what: str, names: list[str], returned: object, expected: str
) -> dict[str, Any]:
    """Return what was returned by output: a mapping, a tuple in parameter order, or the only one.

    Raises ReferenceFault for names that are no outputs, and for a tuple of another length.
    """
    if isinstance(returned, Mapping):
        values = dict(returned)
    elif isinstance(returned, tuple):
        values = dict(zip(names, returned, strict=False)) if len(returned) == len(names) else {}
    else:
        values = {names[0]: returned} if len(names) == 1 else {}
    if not values or not set(values) <= set(names):
        unknown = [str(name) for name in values if name not in names]
        raise ReferenceFault(
            f"{what} of kernel '{kernel.name}'",
            expected=expected,
            got=f"'{unknown[0]}'" if unknown else f"{type(returned).__name__} returned",
            at=kernel.location,
        )
    return values


def as_numpy(value: Any) -> NDArray[Any]:
    """Return an array, a PyTorch tensor or a CuPy array, wherever it lies, as a NumPy array."""
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        tensor = value.detach().cpu()
        # NumPy lacks some of PyTorch's floats; float64 holds them all.
        return np.asarray((tensor.double() if tensor.is_floating_point() else tensor).numpy())
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        return np.asarray(value.get())
    return np.asarray(value)


def _named(function: Callable[..., Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out what `function` does not take; hand it all where that cannot be known."""
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return given
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return given
    return {name: value for name, value in given.items() if name in parameters}


def _user_traceback(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return "".join(traceback.format_list(frames)).rstrip()
