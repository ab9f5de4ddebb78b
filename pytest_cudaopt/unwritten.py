"""Elements that a reference left unwritten: what the declaration says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.tolerance import Unwritten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.parameters import Parameter

Arrays = dict[str, "NDArray[Any]"]
Masks = dict[str, "NDArray[np.bool_]"]


def settle(
    kernel: Kernel,
    arguments: Arguments,
    arrays: Mapping[str, NDArray[Any]],
    masks: Mapping[str, NDArray[np.bool_]],
) -> tuple[Arrays, Masks]:
    """Return the arrays to compare, and the marked elements the declaration allows to be unwritten.

    With `accept=`, an output without any written element is left to it. Raises ReferenceFault at the
    declaration for elements that should have been written.
    """
    compared, allowed = dict(arrays), {}
    for parameter in arguments.outputs:
        mask = masks.get(parameter.name)
        if mask is None or not mask.any():
            continue
        if kernel.accept is not None and mask.all():
            del compared[parameter.name]
        elif parameter.judging.unwritten is Unwritten.ERROR:
            raise _fault(kernel, parameter, mask)
        else:
            allowed[parameter.name] = mask
    return compared, allowed


def _fault(kernel: Kernel, parameter: Parameter, mask: NDArray[np.bool_]) -> ReferenceFault:
    index = tuple(int(i) for i in np.argwhere(mask)[0])
    name = parameter.name
    is_function = callable(kernel.reference)
    called = "reference" if is_function else f"reference '{kernel.reference}'"
    return ReferenceFault(
        f"{called} of kernel '{kernel.name}', output '{name}'",
        expected="every element written",
        got=f"{int(np.count_nonzero(mask))} of {mask.size} left unwritten, the first at {list(index)}",
        next_step=(
            f"Assign in place: {name}[...] = ..., or return the array "
            f"(an Out holds nothing yet: {name} += ... writes none of it)"
            if is_function
            else "Write them, or allow it with Out(..., unwritten='kept')"
        ),
        at=kernel.location,
    )
