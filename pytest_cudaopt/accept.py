"""Ask a declaration's `accept=` which elements of a kernel's outputs are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.reference import input_array, plain_scalars
from pytest_cudaopt.reference_call import as_numpy, call, returned_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.expectation import Expectation


def accept_name(kernel: Kernel) -> str:
    """Return what messages call the function."""
    return f"accept={getattr(kernel.accept, '__name__', type(kernel.accept).__name__)}"


def bad_elements(
    kernel: Kernel, expected: Expectation, outputs: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[np.bool_]]:
    """Return which elements are wrong, for each output the function judges; none without `accept=`.

    Raises ReferenceFault at the declaration for an answer that is none, and for an output that neither it
    nor the reference covers.
    """
    if kernel.accept is None:
        return {}
    what, names = accept_name(kernel), [p.name for p in expected.arguments.outputs]
    sizes = expected.arguments.sizes
    given: dict[str, Any] = {name: sizes[name] for name in (*kernel.sizes, *dict(kernel.derived))}
    given |= plain_scalars(expected.arguments)
    for parameter in expected.arguments.parameters:
        if parameter.is_array and parameter.name not in expected.arguments.shapes:
            given[parameter.name] = None
        elif parameter.is_output:
            given[parameter.name] = outputs[parameter.name].copy()
        elif parameter.role is Role.IN:
            given[parameter.name] = input_array(parameter, expected.arguments)
    returned = call(kernel, what, kernel.accept, given)
    wanted = f"an array of bool for {', '.join(names)}: True where an element is wrong"
    values = returned_by_name(kernel, what, names, returned, wanted)
    bad = {name: _mask(kernel, name, value, outputs[name].shape) for name, value in values.items()}
    if uncovered := [name for name in names if name not in bad and name not in expected.arrays]:
        raise ReferenceFault(
            f"{what} of kernel '{kernel.name}'",
            expected=f"an array for output '{uncovered[0]}', which the reference leaves unwritten",
            got=f"arrays for {', '.join(bad)}",
            next_step=f"Return {{'{uncovered[0]}': ...}} as well, or let the reference write it",
            at=kernel.location,
        )
    return bad


def _mask(kernel: Kernel, name: str, value: object, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    array = as_numpy(value)
    if array.dtype != np.bool_ or array.shape != shape:
        raise ReferenceFault(
            f"{accept_name(kernel)} of kernel '{kernel.name}', output '{name}'",
            expected=f"an array of bool of shape {shape}: True where an element is wrong",
            got=f"dtype {array.dtype}, shape {array.shape}",
            at=kernel.location,
        )
    return array
