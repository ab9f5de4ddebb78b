"""`kernel(batch="rows")`: the size that counts what a launch works on one by one, and who has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Property


def batch_axes(parameters: Iterable[Parameter], size: str) -> Mapping[str, int]:
    """Return for each array with a dimension of that size which one it is."""
    return {
        parameter.name: axis
        for parameter in parameters
        if parameter.is_array
        for axis, extent in enumerate(parameter.shape)
        if str(extent) == size
    }


def with_batch(required: Iterable[str], batch: str | None) -> Iterable[str]:
    """Return the properties that are required, batch invariance among them if there is a batch."""
    if batch is None or isinstance(required, str) or not isinstance(required, Iterable):
        return required
    return [*required, str(Property.BATCH_INVARIANT)]


def require_batch(declared: Kernel) -> None:
    """Raise DeclarationError unless a batch is a size of the kernel that only counts rows of its arrays."""
    size = declared.batch
    if size is None:
        if Property.BATCH_INVARIANT in declared.obligations.required:
            raise DeclarationError(
                "required=",
                expected="batch= beside 'batch_invariant'",
                got="none",
                next_step="Write batch='rows' with the size that counts rows, instead",
            )
        return
    if size not in declared.sizes:
        raise DeclarationError(
            "batch=",
            expected=f"a size among {', '.join(declared.sizes) or 'none'}",
            got=repr(size),
            next_step=did_you_mean(str(size), declared.sizes),
        )
    for parameter in declared.parameters:
        _require_rows_only(declared, parameter, size)
    axes = batch_axes(declared.parameters, size)
    if not any(one.is_output and one.name in axes for one in declared.parameters):
        raise DeclarationError(
            "batch=",
            expected=f"an output with '{size}' as a dimension",
            got="none",
            next_step="Name another size",
        )


def _require_rows_only(declared: Kernel, parameter: Parameter, size: str) -> None:
    extents = [extent for extent in parameter.shape if str(extent) != size]
    others = [*extents, *getattr(parameter.values, "expressions", ())]
    others += [parameter.value] if isinstance(parameter.value, Expression) else []
    depends = {size}
    for name, derived in declared.derived:
        depends |= {name} if derived.names & depends else set()
    found = next((one for one in others if one.names & depends), None)
    times = sum(str(extent) == size for extent in parameter.shape)
    if found is None and times <= 1:
        return
    raise DeclarationError(
        f"batch='{size}': parameter '{parameter.name}'",
        expected=f"'{size}' as one dimension of its own, or not at all",
        got=f"'{found}'" if found is not None else f"{times} dimensions of '{size}'",
        next_step="What depends on their number in another way cannot be cut into batches: leave batch= out",
    )
