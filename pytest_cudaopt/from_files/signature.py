"""`signature.json`: a kernel's declaration but for its source, its reference's body and its cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from pytest_cudaopt import (
    amounts,
    declared_thresholds,
    expressions,
    instances,
    macros,
    resource_limits,
    waivers,
)
from pytest_cudaopt.compdb import Flags
from pytest_cudaopt.contract import Contract
from pytest_cudaopt.dtypes import BY_NAME, DType
from pytest_cudaopt.errors import CudaoptError
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.from_files.fields import Field
from pytest_cudaopt.from_files.parameters import bound, parameters
from pytest_cudaopt.gated import Thresholds
from pytest_cudaopt.instances import Types
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Obligations, Property
from pytest_cudaopt.resource_limits import ResourceLimits
from pytest_cudaopt.tolerance import Tolerance
from pytest_cudaopt.waivers import Waiver

# What a run adds for people who read it.
_IGNORED = ("instances",)
OPTIONAL = (
    "entry",
    "description",
    "types",
    "sizes",
    "derived",
    "choices",
    "where",
    "domain",
    "tolerance",
    "launch",
    "defines",
    "options",
    "include",
    "stub",
    "inherited",
    "limits",
    "gate",
    "batch",
    "waivers",
    "required",
    "ignored",
    "accept",
    "reference_entry",
    "work",
)
T = TypeVar("T")
_BINDING = ("required", "ignored")


@dataclass(frozen=True)
class Signature:
    """What the file says; fields are those of a Kernel."""

    name: str
    entry: str
    parameters: tuple[Parameter, ...]
    doc: str
    types: Types
    sizes: tuple[str, ...]
    derived: tuple[tuple[str, Expression], ...]
    contract: Contract
    tolerance: Tolerance
    launch: LaunchRule | None
    defines: macros.Macros
    options: tuple[str, ...]
    include: tuple[Path, ...]
    stub: tuple[str, ...]
    inherited: Flags
    limits: ResourceLimits | None
    gate: Thresholds | None
    batch: str | None
    waivers: tuple[Waiver, ...]
    obligations: Obligations
    reference_entry: str | None
    work: amounts.Work


def read_signature(content: Field, folder: Path) -> Signature:
    """Read a signature whose folders are relative to `folder`; raise DeclarationError at what is wrong."""
    given = content.members(("kernel", "parameters"), (*OPTIONAL, *_IGNORED))
    _refuse_accept(given.get("accept"))
    name = given["kernel"].name()
    types = _types(given.get("types"))
    declared = parameters(given["parameters"], dict(types))
    derived = tuple(
        (_name(key, one), _expression(one)) for key, one in _mapping(given.get("derived")).items()
    )
    inherited = _optional(given, "inherited", _inherited, Flags())
    return Signature(
        name=name,
        entry=_optional(given, "entry", Field.text, name),
        parameters=declared,
        doc=_optional(given, "description", lambda one: str(one.value), ""),
        types=types,
        sizes=_sizes(declared, given.get("sizes"), dict(derived)),
        derived=derived,
        contract=_contract(given),
        tolerance=_optional(given, "tolerance", _tolerance, Tolerance()),
        launch=_optional(given, "launch", _launch, None),
        defines=_optional(given, "defines", _defines, ()),
        options=_optional(given, "options", Field.texts, ()),
        include=_optional(given, "include", lambda one: _folders(one, folder), ()),
        stub=_optional(given, "stub", Field.texts, ()),
        inherited=inherited,
        limits=_optional(given, "limits", _limits, None),
        gate=_optional(given, "gate", _gate, None),
        batch=_optional(given, "batch", Field.text, None),
        waivers=_optional(given, "waivers", lambda one: tuple(map(_waiver, one.items())), ()),
        obligations=_obligations(given),
        reference_entry=_optional(given, "reference_entry", Field.text, None),
        work=_optional(given, "work", _work, amounts.Work()),
    )


def _optional(given: Mapping[str, Field], key: str, read: Callable[[Field], T], default: T) -> T:
    return read(given[key]) if key in given else default


def _mapping(one: Field | None) -> dict[str, Field]:
    return {} if one is None else one.mapping()


def _name(name: str, one: Field) -> str:
    if not (name.isidentifier() and name.isascii()):
        raise one.wrong("a name as its key", got=f"'{name}'")
    return name


def _refuse_accept(one: Field | None) -> None:
    if one is not None:
        raise one.wrong(
            "null",
            "Declare the kernel in a test module, which can hold Python",
            got=f"{one.value}, a Python function, which JSON cannot hold",
        )


def _types(one: Field | None) -> Types:
    if one is None or one.value == {}:
        return ()
    listed = {name: [_dtype(item) for item in several.items()] for name, several in one.mapping().items()}
    with one.blamed():
        return instances.declared_types(listed)


def _dtype(one: Field) -> DType:
    return BY_NAME[one.one_of(BY_NAME)]


def _sizes(
    declared: tuple[Parameter, ...], extra: Field | None, derived: Mapping[str, object]
) -> tuple[str, ...]:
    names = [parameter.name for parameter in declared if parameter.is_size]
    names += [] if extra is None else [item.name() for item in extra.items("a list of names")]
    return tuple(name for name in dict.fromkeys(names) if name not in derived)


def _expression(one: Field) -> Expression:
    value = one.whole_or_text()
    with one.blamed():
        return expressions.parse(value)


def _contract(given: Mapping[str, Field]) -> Contract:
    choices = {
        name: [item.whole(0) for item in listed.items("a list of integers")]
        for name, listed in _mapping(given.get("choices")).items()
    }
    where = given["where"].texts() if "where" in given else ()
    domain = {name: _ends(ends) for name, ends in _mapping(given.get("domain")).items()}
    with _blamed_if_named(given):
        return Contract.declared(choices, where, domain)


@contextmanager
def _blamed_if_named(given: Mapping[str, Field]) -> Iterator[None]:
    """Contracts name their part themselves: `where[1]`, `domain['rows']`."""
    try:
        yield
    except CudaoptError as error:
        part = next((key for key in ("choices", "domain") if error.what.startswith(key)), "where")
        with given[part].blamed():
            raise


def _ends(one: Field) -> tuple[int | str, int | str]:
    ends = [item.whole_or_text() for item in one.items("a pair [least, most]")]
    if len(ends) != 2:
        raise one.wrong("a pair [least, most]", "Write it like [1, 512]")
    return (ends[0], ends[1])


def _tolerance(one: Field) -> Tolerance:
    given = one.members((), ("rtol", "atol"))
    parts = {name: bound(part) for name, part in given.items()}
    with one.blamed():
        return Tolerance.of(parts.get("rtol"), parts.get("atol"))


def _launch(one: Field) -> LaunchRule:
    text = one.text()
    with one.blamed():
        return LaunchRule.parse(text)


def _defines(one: Field) -> macros.Macros:
    # A macro may be empty.
    texts = {
        name: item.value if isinstance(item.value, str) else str(item.whole_or_text())
        for name, item in one.mapping().items()
    }
    with one.blamed():
        return macros.checked(texts)


def _inherited(one: Field) -> Flags:
    given = one.members((), ("defines", "options"))
    return Flags(
        defines=_optional(given, "defines", _defines, ()),
        options=_optional(given, "options", Field.texts, ()),
    )


def _folders(one: Field, folder: Path) -> tuple[Path, ...]:
    found = []
    for item in one.items("a list of folders"):
        path = Path(os.path.normpath(folder / item.text("a folder")))
        if not path.is_dir():
            raise item.wrong(f"a folder, relative to {one.file}'s", got=f"no folder {path}")
        found.append(path)
    return tuple(found)


def _obligations(given: Mapping[str, Field]) -> Obligations:
    kept = {key: [item.one_of(Property) for item in given[key].items()] for key in _BINDING if key in given}
    return Obligations.declared(kept.get("required", ()), kept.get("ignored", ()))


def _limits(one: Field) -> ResourceLimits:
    given = one.members((), [field.name for field in fields(ResourceLimits)])
    most = {name: part.whole() for name, part in given.items()}
    with one.blamed():
        return resource_limits.limits(**most)


def _gate(one: Field) -> Thresholds:
    given = one.members((), [field.name for field in fields(Thresholds)])
    values = {name: part.number() for name, part in given.items()}
    with one.blamed():
        return declared_thresholds.thresholds(**values)


def _waiver(one: Field) -> Waiver:
    given = one.members(("kind", "at", "reason"), ())
    kind, at, reason = (given[key].text() for key in ("kind", "at", "reason"))
    with one.blamed():
        return waivers.waive(kind, at=at, reason=reason)


def _work(one: Field) -> amounts.Work:
    given = one.members((), ("flops", "bytes"))
    # `touched` is no size, and reads like one.
    for part in given.values():
        _expression(part)
    return amounts.work(**{name: part.whole_or_text() for name, part in given.items()})
