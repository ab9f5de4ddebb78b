"""The parameters of a `signature.json`: markers, as the declaration of a test module has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_cudaopt import expressions, float_expressions, index_values, markers, values
from pytest_cudaopt.dtypes import BY_NAME, DType
from pytest_cudaopt.errors import did_you_mean
from pytest_cudaopt.from_files.fields import Field
from pytest_cudaopt.from_files.written import CALLABLE, CONSTANT, STRUCT
from pytest_cudaopt.parameters import Marker, Parameter, Role
from pytest_cudaopt.structs import Struct
from pytest_cudaopt.tolerance import Unwritten
from pytest_cudaopt.values import ValueSource

_Read = Callable[[Field], Any]
_NOT_FINITE = ("inf", "-inf", "nan")
_IN_A_MODULE = "Declare the kernel in a test module, which can hold Python, or choose a generator"


def parameters(listed: Field, types: Collection[str]) -> tuple[Parameter, ...]:
    """Return the declared parameters, members of structs among them."""
    found: list[Parameter] = []
    for one in listed.items("a list of parameters"):
        for parameter in _parameters(one, types):
            if parameter.name in {other.name for other in found}:
                raise one.wrong(
                    "a name that no other parameter, and no member of a struct, has",
                    "Rename it",
                    got=f"'{parameter.name}' a second time",
                )
            found.append(parameter)
    return tuple(found)


def _parameters(one: Field, types: Collection[str]) -> list[Parameter]:
    role = _role(one, (*FORMS, STRUCT))
    if role != STRUCT:
        return [Parameter.named(*_named(one, types, FORMS))]
    given = one.members(("name", "role", "type", "members"), ())
    members: dict[str, Marker] = {}
    for item in given["members"].items("a list of parameters"):
        name, marker = _named(item, types, {role: form for role, form in FORMS.items() if role != CONSTANT})
        if name in members:
            raise item.wrong("a name that no other member has", "Rename it", got=f"'{name}' a second time")
        members[name] = marker
    struct_name, type_name = given["name"].name(), given["type"].text()
    with one.blamed():
        return Struct(type_name, **members).parameters(struct_name)


@dataclass(frozen=True)
class _Form:
    """A role's marker, and how what it may be given beside dtype and shape is read."""

    marker: Callable[..., Marker]
    keywords: Mapping[str, _Read] = field(default_factory=dict)
    is_array: bool = True


def _named(one: Field, types: Collection[str], forms: Mapping[str, _Form]) -> tuple[str, Marker]:
    form = forms[_role(one, forms)]
    required = ("name", "role", "dtype", *(("shape",) if form.is_array else ()))
    given = one.members(required, (*form.keywords, "cuda_types"))
    name, dtype = given["name"].name(), _dtype(given["dtype"], types)
    shape = _amounts(given["shape"]) if form.is_array else ()
    keywords = {key: read(given[key]) for key, read in form.keywords.items() if key in given}
    with one.blamed():
        return name, form.marker(dtype, *shape, **keywords)


def _role(one: Field, roles: Collection[str]) -> str:
    # Only then it is known what else there may be.
    mapping = one.mapping()
    if "role" not in mapping:
        listed = ", ".join(mapping) or "an empty object"
        raise one.wrong("'role' in it", f"Say which of {', '.join(roles)} it is", got=listed)
    return mapping["role"].one_of(roles)


def _dtype(one: Field, types: Collection[str]) -> DType | str:
    text = one.text()
    if text in types:
        return text
    if text not in BY_NAME:
        known = (*BY_NAME, *types)
        raise one.wrong(f"one of {', '.join(known)}", did_you_mean(text, known))
    return BY_NAME[text]


def _amounts(one: Field) -> tuple[str | int, ...]:
    return tuple(_amount(item) for item in one.items("a list of integers and texts over sizes"))


def _amount(one: Field) -> str | int:
    value = one.whole_or_text()
    with one.blamed():
        expressions.parse(value)
    return value


def bound(one: Field) -> str | float:
    """Return a tolerance as a number or a text over sizes."""
    value = one.number_or_text()
    with one.blamed():
        float_expressions.parse(value)
    return value


def _value(one: Field) -> float | str | bool:
    if isinstance(one.value, bool):
        return one.value
    value = one.number_or_text()
    return float(value) if value in _NOT_FINITE else value


def _unwritten(one: Field) -> str:
    return one.one_of([str(known) for known in Unwritten])


_END = Field.number_or_text
SOURCES: dict[str, tuple[Callable[..., ValueSource], dict[str, _Read], tuple[str, ...]]] = {
    "uniform": (values.uniform, {"low": _END, "high": _END}, ()),
    "normal": (values.normal, {"mean": _END, "deviation": _END}, ()),
    "integers": (values.integers, {"low": _amount, "high": _amount}, ("low", "high")),
    "indices": (
        index_values.indices,
        {"high": _amount, "unique": Field.flag, "skip": Field.whole, "share": Field.number},
        ("high",),
    ),
    "offsets": (index_values.offsets, {"total": _amount, "empty": Field.flag}, ("total",)),
    "lengths": (index_values.lengths, {"most": _amount, "zero": Field.flag}, ("most",)),
    "sorted": (index_values.sorted_, {"source": lambda one: source(one)}, ("source",)),
    "permutation": (index_values.permutation, {}, ()),
}


def source(one: Field) -> ValueSource:
    """Return a generator of contents."""
    mapping = one.mapping()
    if "generator" not in mapping:
        raise one.wrong(
            "'generator' in it",
            f'Write for example {{"generator": "uniform", "low": 0, "high": 1}}; there are {_listed()}',
            got=", ".join(mapping) or "an empty object",
        )
    kind = mapping["generator"]
    if kind.value == CALLABLE:
        name = mapping["function"].text() if "function" in mapping else "one"
        raise one.wrong(
            f"a generator: {_listed()}",
            _IN_A_MODULE,
            got=f"a Python function, {name}, which JSON cannot hold",
        )
    make, arguments, required = SOURCES[kind.one_of(SOURCES)]
    optional = ("generator", *(name for name in arguments if name not in required))
    given = one.members(required, optional)
    read = {name: reader(given[name]) for name, reader in arguments.items() if name in given}
    with one.blamed():
        return make(**read)


def _listed() -> str:
    return ", ".join(SOURCES)


_LAYOUT: dict[str, _Read] = {"strides": _amounts, "optional": Field.flag, "oracle": Field.text}
_JUDGED: dict[str, _Read] = {
    "exact": Field.flag,
    "rtol": bound,
    "atol": bound,
    "ulp": Field.number,
    "unwritten": _unwritten,
}
FORMS: dict[str, _Form] = {
    Role.IN.value: _Form(markers.In, {"values": source, **_LAYOUT}),
    Role.OUT.value: _Form(markers.Out, {**_JUDGED, **_LAYOUT}),
    Role.INOUT.value: _Form(markers.InOut, {"values": source, **_JUDGED, **_LAYOUT}),
    Role.SCRATCH.value: _Form(markers.Scratch),
    Role.SCALAR.value: _Form(markers.Scalar, {"value": _value, "values": source}, is_array=False),
    CONSTANT: _Form(markers.Constant, {"symbol": Field.text, "values": source}),
}
