"""A declared kernel as the values of `signature.json` and `input_cases.json`.

`signature` and `cases` read them again. They stand beside `initial.cu`, a copy of the kernel's source in a
run folder: places in it are named so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from pytest_cudaopt import index_values, values
from pytest_cudaopt.declared_thresholds import given_thresholds
from pytest_cudaopt.dtypes import TypeName
from pytest_cudaopt.errors import SourceError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.float_expressions import FloatExpression
from pytest_cudaopt.parameters import Role
from pytest_cudaopt.reference_source import ReferenceSource
from pytest_cudaopt.tolerance import STRICT

if TYPE_CHECKING:
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.parameters import Parameter
    from pytest_cudaopt.values import ValueSource
    from pytest_cudaopt.waivers import Waiver

Json = Any
SOURCE = "initial.cu"
CONSTANT = "constant"
STRUCT = "struct"
CALLABLE = "callable"
GENERATORS: dict[type, str] = {
    values.Uniform: "uniform",
    values.Normal: "normal",
    values.Integers: "integers",
    index_values.Indices: "indices",
    index_values.Offsets: "offsets",
    index_values.Lengths: "lengths",
    index_values.Sorted: "sorted",
    index_values.Permutation: "permutation",
}


def signature(kernel: Kernel) -> dict[str, Json]:
    """Return everything about a kernel but its source, its reference's body and its cases."""
    contract, reference = kernel.contract, kernel.reference
    return {
        "kernel": kernel.name,
        "entry": kernel.entry,
        "description": kernel.doc,
        "types": {name: [dtype.name for dtype in dtypes] for name, dtypes in kernel.types},
        "parameters": _parameters(kernel.parameters),
        "sizes": list(kernel.sizes),
        "derived": {name: str(expression) for name, expression in kernel.derived},
        "choices": {name: list(several) for name, several in contract.choices},
        "where": [str(condition) for condition in contract.where],
        "domain": {name: [_amount(ends.low), _amount(ends.high)] for name, ends in contract.domain},
        "tolerance": {"rtol": _bound(kernel.tolerance.rtol), "atol": _bound(kernel.tolerance.atol)},
        "launch": None if kernel.launch is None else kernel.launch.directives()[0].removeprefix("@launch "),
        "defines": dict(kernel.defines),
        "options": list(kernel.options),
        "include": _include(kernel),
        "stub": list(kernel.stub),
        "inherited": {"defines": dict(kernel.inherited.defines), "options": list(kernel.inherited.options)},
        "limits": None if kernel.limits is None else dict(kernel.limits.given),
        "gate": given_thresholds(kernel.gate) or None,
        "batch": kernel.batch,
        "waivers": [_waiver(one, kernel) for one in kernel.waivers],
        "required": sorted(kernel.obligations.required),
        "ignored": sorted(kernel.obligations.ignored),
        "accept": None if kernel.accept is None else getattr(kernel.accept, "__qualname__", CALLABLE),
        "reference_entry": reference.entry if isinstance(reference, ReferenceSource) else None,
        "work": {
            "flops": None if kernel.work.flops is None else _amount(kernel.work.flops),
            "bytes": _bytes(kernel),
        },
    }


def input_cases(kernel: Kernel) -> list[Json]:
    """Return the declared cases; `label` is what the declaration calls one, `id` what it is called here."""
    return [
        {
            "id": case_id,
            "label": case.label,
            "sizes": case.by_name,
            "types": dict(case.types),
            "absent": list(case.absent),
            "values": None if case.values is None else str(case.values),
            "misaligned": dict(case.misaligned),
            "alias": dict(case.alias),
            "measure": case.measure,
            "weight": case.weight,
            "seed": case.seed,
        }
        for case_id, case in zip(kernel.case_ids, kernel.cases, strict=True)
    ]


def _parameters(parameters: Sequence[Parameter]) -> list[Json]:
    """Members of a struct, which come one after the other, stand in it."""
    written: list[Json] = []
    for struct, group in groupby(parameters, key=lambda one: one.struct):
        own = [_parameter(one) for one in group]
        if struct is None:
            written += own
        else:
            name = {"name": struct.name, "role": STRUCT, "type": struct.type_name, "members": own}
            written.append(name)
    return written


def _parameter(parameter: Parameter) -> Json:
    """Return what differs from the default."""
    role = CONSTANT if parameter.symbol is not None else parameter.role.value
    written: dict[str, Json] = {"name": parameter.name, "role": role, "dtype": parameter.dtype.name}
    if parameter.role is not Role.SCALAR:
        written["shape"] = _amounts(parameter.shape)
    if parameter.value is not None:
        written["value"] = _value(parameter.value)
    if parameter.values is not None and not _is_default(parameter):
        written["values"] = generator(parameter.values)
    if parameter.symbol not in (None, parameter.name):
        written["symbol"] = parameter.symbol
    if parameter.exact:
        written["exact"] = True
    tolerance = parameter.judging.tolerance
    parts = {"rtol": _bound(tolerance.rtol), "atol": _bound(tolerance.atol), "ulp": tolerance.ulp}
    written |= {name: bound for name, bound in parts.items() if bound is not None}
    if parameter.judging.unwritten is not STRICT.unwritten:
        written["unwritten"] = parameter.judging.unwritten.value
    if parameter.oracle != "float64":
        written["oracle"] = parameter.oracle
    if parameter.strides is not None:
        written["strides"] = _amounts(parameter.strides)
    if parameter.optional:
        written["optional"] = True
    return written


def _is_default(parameter: Parameter) -> bool:
    if parameter.role is Role.SCALAR or isinstance(parameter.dtype, TypeName):
        return False
    return parameter.values == values.default_source(parameter.dtype)


def generator(source: ValueSource) -> Json:
    """Return a generator by name with what it was given; of anything else no more than a name."""
    kind = GENERATORS.get(type(source))
    if kind is None:
        function = getattr(source, "function", source)
        return {"generator": CALLABLE, "function": getattr(function, "__qualname__", type(function).__name__)}
    return {"generator": kind, **{name: _argument(value) for name, value in vars(source).items()}}


def _argument(value: object) -> Json:
    if isinstance(value, values.ValueSource):
        return generator(value)
    return _amount(value) if isinstance(value, Expression) else value


def _value(value: object) -> Json:
    """Return a scalar's value; JSON has no infinity and no NaN, so they become texts."""
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value) if isinstance(value, Real) else float(str(value))
    return number if number - number == 0 else str(number)


def _amounts(expressions: Iterable[Expression]) -> list[Json]:
    return [_amount(one) for one in expressions]


def _amount(expression: Expression) -> int | str:
    text = str(expression)
    return int(text) if text.isdecimal() else text


def _bound(bound: FloatExpression | None) -> float | str | None:
    if bound is None:
        return None
    return str(bound) if bound.names else bound.evaluate({})


def _bytes(kernel: Kernel) -> Json:
    if kernel.work.bytes_touched:
        return "touched"
    return None if kernel.work.bytes is None else _amount(kernel.work.bytes)


def _include(kernel: Kernel) -> list[str]:
    """Return the folders of headers; a source that moved finds those beside it by them alone."""
    sources = (kernel, kernel.reference_kernel)
    own = [one.source.parent for one in sources if one is not None and _reads_headers(one)]
    return list(dict.fromkeys(str(folder.absolute()) for folder in (*own, *kernel.include)))


def _reads_headers(kernel: Kernel) -> bool:
    try:
        return bool(kernel.start().headers)
    except SourceError:
        # Whoever compiles it says so.
        return False


def _waiver(waiver: Waiver, kernel: Kernel) -> Json:
    at = waiver.at
    if waiver.file.rpartition("/")[2] == kernel.source.name:
        at = SOURCE if waiver.line is None else f"{SOURCE}:{waiver.line}"
    return {"kind": waiver.kind.value, "at": at, "reason": waiver.reason}
