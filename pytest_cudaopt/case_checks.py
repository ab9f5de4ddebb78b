"""What a case asks of arrays, beside sizes, must be there: what nobody has would be asked in vain."""

from __future__ import annotations

from pytest_cudaopt.cases import Case
from pytest_cudaopt.errors import DeclarationError, did_you_mean
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.value_families import arrays_in, families_of


def require_arrays(what: str, one: Case, parameters: tuple[Parameter, ...]) -> None:
    """Raise DeclarationError for arrays a case names that are none, or cannot be what it says.

    Dtypes of `parameters` are those of the case.
    """
    arrays = {p.name: p for p in parameters if p.is_array and p.symbol is None and p.name not in one.absent}
    named = [
        *(("misaligned", name) for name, _ in one.misaligned),
        *(("alias", name) for pair in one.alias for name in pair),
    ]
    for word, name in named:
        if name not in arrays:
            raise DeclarationError(
                f"{what}: {word}=",
                expected=f"arrays among {', '.join(arrays)}",
                got=f"'{name}'",
                next_step=did_you_mean(name, arrays),
                at=one.at,
            )
    for output, source in one.alias:
        _require_alike(f"{what}: alias=", one, arrays[output], arrays[source])
    _require_family(what, one, parameters)


def require_absent_allowed(what: str, one: Case, parameters: tuple[Parameter, ...]) -> None:
    """Refuse None for anything but an optional array, and for every output at once."""
    optional = [parameter.name for parameter in parameters if parameter.optional]
    for name in one.absent:
        if name not in optional:
            raise DeclarationError(
                what,
                expected=f"None for optional arrays only ({', '.join(optional) or 'there is none'})",
                got=f"{name}=None",
                next_step=f"Declare it as optional: {name}=In(..., optional=True)",
                at=one.at,
            )
    outputs = {parameter.name for parameter in parameters if parameter.is_output}
    if outputs <= set(one.absent):
        raise DeclarationError(
            what,
            expected="at least one output that is there",
            got=", ".join(f"{name}=None" for name in one.absent),
            next_step="Leave one of them to the kernel: without any there is nothing to check",
            at=one.at,
        )


def _require_alike(what: str, one: Case, output: Parameter, source: Parameter) -> None:
    """Refuse anything but an output that is only written over an input that is only read, of one shape."""
    is_over_input = output.is_output and not output.has_contents
    if not is_over_input or not source.has_contents or source.is_output:
        raise DeclarationError(
            what,
            expected="an Out, over an In",
            got=f"'{output.name}' ({output.role}) over '{source.name}' ({source.role})",
            next_step=f"Write alias={{'{source.name}': '{output.name}'}}"
            if source.is_output and not output.is_output
            else None,
            at=one.at,
        )
    if (output.shape, output.dtype) != (source.shape, source.dtype):
        shapes = [f"{p.dtype} {', '.join(map(str, p.shape))}" for p in (output, source)]
        raise DeclarationError(
            what, expected="arrays of one shape and dtype", got=" over ".join(shapes), at=one.at
        )


def _require_family(what: str, one: Case, parameters: tuple[Parameter, ...]) -> None:
    if one.values is None or arrays_in(one.values, parameters):
        return
    known = sorted({str(family) for p in parameters if p.is_array for family in families_of(p)})
    raise DeclarationError(
        f"{what}: values=",
        expected=f"a family that an array of the kernel can be of: {', '.join(known) or 'there is none'}",
        got=f"'{one.values}'",
        at=one.at,
    )
