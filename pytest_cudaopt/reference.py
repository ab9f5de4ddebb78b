"""What a kernel should have written: its reference, run as a float64 oracle."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.parameters import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments
    from pytest_cudaopt.declare import Kernel
    from pytest_cudaopt.parameters import Parameter

Expected = Mapping[str, "NDArray[Any]"]


def compute_expected(kernel: Kernel, arguments: Arguments) -> dict[str, NDArray[Any]]:
    """Run the reference and return each Out and InOut array: float64 for floats, else the stored dtype.

    The reference gets read-only inputs (floats as float64 copies) and writable outputs; it may also return
    the outputs, as one array, a tuple in parameter order, or a mapping. An element it leaves unwritten
    is found by filling outputs twice with different values. Raises ReferenceFault at the declaration.
    """
    first = _run(kernel, arguments, fill=0)
    suspicious = [
        parameter
        for parameter in kernel.parameters
        if parameter.role is Role.OUT
        and parameter.name in first
        and _holds_fill(first[parameter.name], parameter, 0)
    ]
    if suspicious:
        second = _run(kernel, arguments, fill=1)
        for parameter in suspicious:
            _require_written(kernel, parameter, first[parameter.name], second[parameter.name])
    return first


def _run(kernel: Kernel, arguments: Arguments, fill: int) -> dict[str, NDArray[Any]]:
    import numpy as np

    given: dict[str, Any] = {}
    outputs: dict[str, NDArray[Any]] = {}
    for parameter in kernel.parameters:
        if not parameter.is_array:
            given[parameter.name] = _plain(arguments.scalars[parameter.name], parameter)
            continue
        if parameter.name not in arguments.shapes:
            given[parameter.name] = None
            continue
        if parameter.has_contents:
            array = np.array(arguments.arrays[parameter.name], dtype=parameter.dtype.oracle)
        else:
            shape = arguments.shapes[parameter.name]
            array = np.full(shape, _fill_value(parameter, fill), dtype=parameter.dtype.oracle)
        array.setflags(write=parameter.role is not Role.IN)
        given[parameter.name] = array
        if parameter.is_output:
            outputs[parameter.name] = array
    try:
        # A reference may overflow or divide by zero on purpose; its values are judged, not its warnings.
        with np.errstate(all="ignore"):
            returned = kernel.reference(**given)
    except (Exception, SystemExit) as error:
        # A user's function may raise anything, or try to leave; it is reported, not obeyed.
        raise ReferenceFault(
            f"reference of kernel '{kernel.name}'",
            expected="no exception",
            got=f"{type(error).__name__}: {error}\n{_user_traceback(error)}",
            at=kernel.location,
        ) from error
    return _collect(kernel, outputs, returned)


def _collect(kernel: Kernel, outputs: dict[str, NDArray[Any]], returned: object) -> dict[str, NDArray[Any]]:

    if returned is None:
        return outputs
    names = list(outputs)
    if isinstance(returned, Mapping):
        values = dict(returned)
    elif isinstance(returned, tuple):
        values = dict(zip(names, returned, strict=False)) if len(returned) == len(names) else {}
    else:
        values = {names[0]: returned} if len(names) == 1 else {}
    if set(values) != set(names):
        raise ReferenceFault(
            f"reference of kernel '{kernel.name}'",
            expected=f"None or the outputs {', '.join(names)}",
            got=f"{type(returned).__name__} returned",
            at=kernel.location,
        )
    for name, value in values.items():
        array = _converted(kernel, name, value, outputs[name].dtype)
        if array.shape != outputs[name].shape:
            raise ReferenceFault(
                f"reference of kernel '{kernel.name}', output '{name}'",
                expected=f"shape {outputs[name].shape}",
                got=f"shape {array.shape}",
                at=kernel.location,
            )
        outputs[name] = array
    return outputs


def _converted(kernel: Kernel, name: str, value: object, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return `value` as an array of real numbers; NumPy alone would drop an imaginary part."""
    import numpy as np

    array = np.asarray(value)
    # V: ml_dtypes' own types.
    if array.dtype.kind not in "biufV":
        raise ReferenceFault(
            f"reference of kernel '{kernel.name}', output '{name}'",
            expected="an array of real numbers",
            got=f"dtype {array.dtype}",
            at=kernel.location,
        )
    return array.astype(dtype)


def _require_written(kernel: Kernel, parameter: Parameter, first: NDArray[Any], second: NDArray[Any]) -> None:
    import numpy as np

    unwritten = _is_fill(first, parameter, 0) & _is_fill(second, parameter, 1)
    count = int(np.count_nonzero(unwritten))
    if count:
        index = tuple(int(i) for i in np.argwhere(unwritten)[0])
        raise ReferenceFault(
            f"reference of kernel '{kernel.name}', output '{parameter.name}'",
            expected="every element written",
            got=f"{count} of {first.size} left unwritten, the first at {list(index)}",
            next_step=f"Assign in place: {parameter.name}[...] = ..., or return the array",
            at=kernel.location,
        )


def _fill_value(parameter: Parameter, fill: int) -> Any:
    if parameter.dtype.is_float:
        return (-1.2345678901234567e33, 7.6543210987654321e31)[fill]
    if parameter.dtype.kind == "bool":
        return bool(fill)
    return (85, 42)[fill]


def _is_fill(array: NDArray[Any], parameter: Parameter, fill: int) -> NDArray[Any]:
    equal: NDArray[Any] = array == _fill_value(parameter, fill)
    return equal


def _holds_fill(array: NDArray[Any], parameter: Parameter, fill: int) -> bool:
    return bool(_is_fill(array, parameter, fill).any())


def _plain(scalar: Any, parameter: Parameter) -> Any:
    return float(scalar) if parameter.dtype.is_float else scalar.item()


def _user_traceback(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[1:]
    return "".join(traceback.format_list(frames)).rstrip()
