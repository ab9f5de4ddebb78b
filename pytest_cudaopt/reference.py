"""What a kernel should have written: its reference, run as a float64 oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.errors import ReferenceFault, ReferenceRaised
from pytest_cudaopt.expectation import Expectation, read_only
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.reference_call import as_numpy, call, returned_by_name
from pytest_cudaopt.rounding import stored
from pytest_cudaopt.unwritten import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.parameters import Parameter

_WHAT = "reference"


def compute_expected(kernel: Kernel, arguments: Arguments) -> Expectation:
    """Run the reference and return what it says of each Out and InOut array.

    It gets read-only inputs and writable outputs, and may return outputs instead: as one array, a tuple in
    parameter order, or a mapping. Floats are float64 both ways, with `oracle="stored"` and all else in the
    stored dtype. Elements it leaves unwritten are found by filling outputs twice with different values, and
    marked in the Expectation where the declaration allows them. Raises ReferenceFault at the declaration.
    """
    first = _run(kernel, arguments, fill=0)
    suspicious = [
        parameter
        for parameter in arguments.outputs
        if parameter.role is Role.OUT and _is_fill(first[parameter.name], parameter, 0).any()
    ]
    masks: dict[str, NDArray[np.bool_]] = {}
    if suspicious:
        second = _run(kernel, arguments, fill=1)
        masks = {p.name: _is_fill(first[p.name], p, 0) & _is_fill(second[p.name], p, 1) for p in suspicious}
    return read_only(arguments, *settle(kernel, arguments, first, masks))


def plain_scalars(arguments: Arguments) -> dict[str, float | int | bool]:
    """Return the scalars as a reference gets them: Python's own numbers."""
    return {
        p.name: float(scalar) if p.dtype.is_float else scalar.item()
        for p in arguments.parameters
        if not p.is_array and (scalar := arguments.scalars[p.name]) is not None
    }


def input_array(parameter: Parameter, arguments: Arguments) -> NDArray[Any]:
    """Return an array's initial contents as a reference gets it, read-only if it is an input.

    A copy, but for an array that repeats a tile: that is handed over as it is stored.
    """
    if parameter.name in arguments.tiles:
        return arguments.arrays[parameter.name]
    array = np.array(arguments.arrays[parameter.name], dtype=parameter.oracle_dtype)
    array.setflags(write=parameter.role is not Role.IN)
    return array


def _run(kernel: Kernel, arguments: Arguments, fill: int) -> dict[str, NDArray[Any]]:
    given: dict[str, Any] = {name: arguments.sizes[name] for name in kernel.reference_sizes}
    given |= plain_scalars(arguments)
    outputs: dict[str, NDArray[Any]] = {}
    for parameter in arguments.parameters:
        if not parameter.is_array:
            continue
        if parameter.name not in arguments.shapes:
            given[parameter.name] = None
            continue
        if parameter.has_contents:
            array = input_array(parameter, arguments)
        else:
            shape = arguments.shapes[parameter.name]
            array = np.full(shape, _fill_value(parameter, fill), dtype=parameter.oracle_dtype)
        given[parameter.name] = array
        if parameter.is_output:
            outputs[parameter.name] = array
    if not callable(kernel.reference):
        raise TypeError(f"{kernel.reference!r} is no function")
    return _collect(kernel, arguments, outputs, call(kernel, _WHAT, kernel.reference, given, ReferenceRaised))


def _collect(
    kernel: Kernel, arguments: Arguments, outputs: dict[str, NDArray[Any]], returned: object
) -> dict[str, NDArray[Any]]:
    if returned is None:
        return outputs
    names = list(outputs)
    expected = f"None or the outputs {', '.join(names)}"
    values = returned_by_name(kernel, _WHAT, names, returned, expected)
    if len(values) < len(names):
        raise ReferenceFault(
            f"{_WHAT} of kernel '{kernel.name}'",
            expected=expected,
            got=f"{type(returned).__name__} returned",
            at=kernel.location,
        )
    parameters = {parameter.name: parameter for parameter in arguments.outputs}
    for name, value in values.items():
        array = _converted(kernel, parameters[name], value)
        if array.shape != outputs[name].shape:
            raise ReferenceFault(
                f"{_WHAT} of kernel '{kernel.name}', output '{name}'",
                expected=f"shape {outputs[name].shape}",
                got=f"shape {array.shape}",
                at=kernel.location,
            )
        outputs[name] = array
    return outputs


def _converted(kernel: Kernel, parameter: Parameter, value: object) -> NDArray[Any]:
    """Return `value` as an array of real numbers; NumPy alone would drop an imaginary part."""
    array = as_numpy(value)
    # V: ml_dtypes' own types.
    if array.dtype.kind not in "biufV":
        raise ReferenceFault(
            f"{_WHAT} of kernel '{kernel.name}', output '{parameter.name}'",
            expected="an array of real numbers",
            got=f"dtype {array.dtype}",
            at=kernel.location,
        )
    dtype = parameter.oracle_dtype
    if dtype == parameter.dtype.numpy:
        return stored(parameter.dtype, array)
    return array.astype(dtype)


def _fill_value(parameter: Parameter, fill: int) -> Any:
    """Return what outputs are filled with: a value no reference is likely to write twice."""
    if parameter.dtype.kind == "bool":
        return bool(fill)
    if not parameter.dtype.is_float:
        return (85, 42)[fill]
    if parameter.oracle_dtype.itemsize > 2:
        return (-1.2345678901234567e33, 7.6543210987654321e31)[fill]
    # Exact in every float type, and far from what is computed in most.
    return (-49152.0, 28672.0)[fill] if parameter.dtype.largest > 5e4 else (-384.0, 208.0)[fill]


def _is_fill(array: NDArray[Any], parameter: Parameter, fill: int) -> NDArray[np.bool_]:
    value = np.asarray(_fill_value(parameter, fill)).astype(array.dtype)
    equal: NDArray[np.bool_] = array == value
    return equal
