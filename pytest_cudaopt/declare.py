"""`@kernel`: from a Python function and a `.cu` file to a checked, frozen declaration."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Never

from pytest_cudaopt import expressions, instances, macros
from pytest_cudaopt.amounts import Work
from pytest_cudaopt.cases import Case
from pytest_cudaopt.contract import Choices, Contract, Domain
from pytest_cudaopt.declaration_checks import require_sound
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.declared_batch import with_batch
from pytest_cudaopt.declared_parameters import declared_parameters
from pytest_cudaopt.declared_thresholds import declared_gate
from pytest_cudaopt.decorated import (
    place_in,
    place_of,
    reference_sizes,
    require_function,
    require_no_unknown,
    require_source,
)
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import CudaoptError, DeclarationError, SourceLocation
from pytest_cudaopt.gated import Thresholds
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Obligations
from pytest_cudaopt.reference_source import Reference, as_reference
from pytest_cudaopt.resource_limits import ResourceLimits, declared_limits
from pytest_cudaopt.structs import require_members_taken
from pytest_cudaopt.tolerance import Bound, Tolerance
from pytest_cudaopt.waivers import Waiver

_IDENTIFIER = re.compile(r"^[A-Za-z_]\w*$")


def kernel(
    source: str,
    *,
    cases: Iterable[Case] = (),
    entry: str | None = None,
    types: Mapping[str, Iterable[DType]] | None = None,
    rtol: Bound | None = None,
    atol: Bound | None = None,
    sizes: Iterable[str] = (),
    derive: Mapping[str, str] | None = None,
    choices: Choices | None = None,
    where: Iterable[str] = (),
    domain: Domain | None = None,
    launch: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    options: Iterable[str] = (),
    include: Iterable[str] = (),
    stub: Iterable[str] = (),
    work: Work | None = None,
    reference: Callable[..., Any] | str | None = None,
    accept: Callable[..., Any] | None = None,
    limits: ResourceLimits | None = None,
    gate: Thresholds | None = None,
    batch: str | None = None,
    waivers: Iterable[Waiver] = (),
    required: Iterable[str] = (),
    ignored: Iterable[str] = (),
    **unknown: Never,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare the kernel in `source`, a `.cu` file beside the module.

    The decorated function's parameters, in the order of the `__global__` function's, carry markers as
    defaults; its body is the reference, unless `reference` is given: a callable, or another kernel
    (`"naive.cu"`, `"naive.cu::entry"`) whose outputs are the expectation. `entry` is the kernel's name where
    the function's differs, or a pattern with sizes and `types` in it, such as `ns::attn<{head_dim}, {T}>`.
    What stands after `*` without a default are sizes for the reference alone. `rtol` and `atol` are for
    outputs of floats that have none of their own: numbers, or texts over sizes such as "1e-3*sqrt(k)".
    `accept` gets inputs and outputs by name and returns which elements of the outputs are wrong. `include`
    are folders of headers, relative to the module's; a header that matches a pattern of `stub` is empty.
    Raises DeclarationError at the declaration's line.

    `choices` are the only values a size may have, `where` conditions that sizes meet, and `domain` the least
    and most that is drawn of a size (without it from 1 to twice its largest case); cases keep to them too.
    `limits` are the most registers, spills and shared memory it may take, `gate` says which difference to an
    earlier version counts, `batch` names the size that counts what must not depend on what else there is,
    `waivers` are findings to accept, such as
    `waive("race", at="hist.cu:31", reason="...")`. What the kernel can do beyond its cases binds
    candidates: `ignored` names properties that need not be kept, `required` those that the kernel itself must
    have.
    """
    caller = sys._getframe(1)
    called_at = place_in(caller)
    require_source(source, called_at)

    def declare(function: Callable[..., Any]) -> Kernel:
        require_function(function, called_at)
        at = place_of(function)
        try:
            require_no_unknown(unknown, _keywords())
            _require_new_name(function.__name__, caller.f_locals, at)
            kernel_types = instances.declared_types(types)
            parameters = declared_parameters(function)
            if reference is None:
                require_members_taken(function, parameters)
            names = _sizes(parameters, _texts("sizes=", sizes, "['pad']"))
            derived = tuple((name, expressions.parse(text)) for name, text in (derive or {}).items())
            written = _cases(cases)
            declared = Kernel(
                name=function.__name__,
                entry=entry or function.__name__,
                source=Path(at.file).parent / source,
                location=at,
                parameters=parameters,
                sizes=tuple(name for name in names if name not in dict(derived)),
                derived=derived,
                cases=instances.with_types(written, kernel_types),
                tolerance=Tolerance.of(rtol, atol),
                reference=function if reference is None else _reference(reference, function, at),
                launch=None if launch is None else LaunchRule.parse(launch),
                defines=_defines(defines),
                options=_texts("options=", options, "['--use_fast_math']"),
                work=work or Work(),
                doc=inspect.getdoc(function) or "",
                types=kernel_types,
                reference_sizes=reference_sizes(function),
                contract=Contract.declared(choices, where, domain),
                include=_include(include, Path(at.file).parent),
                stub=_texts("stub=", stub, "['torch/*']"),
                pytestmark=list(getattr(function, "pytestmark", [])),
                accept=_accept(accept),
                limits=declared_limits(limits),
                gate=declared_gate(gate),
                batch=batch,
                waivers=_waivers(waivers),
                obligations=Obligations.declared(with_batch(required, batch), ignored),
            )
            require_sound(declared, written)
        except CudaoptError as error:
            # Whatever went wrong, the declaration is where the user has to look.
            raise DeclarationError(
                f"kernel '{function.__name__}': {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
                at=error.at or at,
            ) from error
        return declared

    return declare


def _require_new_name(name: str, known: Mapping[str, object], at: SourceLocation) -> None:
    """Refuse a second kernel of a name: Python would forget the first one, and nobody would check it."""
    first = known.get(name)
    if type(first) is Kernel and first.location.file == at.file and first.location.line != at.line:
        raise DeclarationError(
            "declaration",
            expected="a name that no other kernel of the module has",
            got=f"one of line {first.location.line} again",
            next_step=f"Rename the function and write entry='{first.entry}'",
        )


def _keywords() -> list[str]:
    parameters = inspect.signature(kernel).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def _cases(cases: object) -> tuple[Case, ...]:
    if isinstance(cases, Case) or not isinstance(cases, Iterable):
        raise DeclarationError(
            "cases=", expected="a list of case(...)", got=str(cases), next_step=f"Write cases=[{cases}]"
        )
    listed: list[Case] = []
    for number, part in enumerate(cases):
        # `product(...)` is a list in the list.
        for one in part if isinstance(part, list | tuple) else (part,):
            if not isinstance(one, Case):
                raise DeclarationError(f"cases[{number}]", expected="a case(...)", got=repr(one))
            listed.append(one)
    return tuple(listed)


def _sizes(parameters: tuple[Parameter, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
    names = [parameter.name for parameter in parameters if parameter.is_size]
    for name in extra:
        if not _IDENTIFIER.match(name):
            raise DeclarationError("sizes=", expected="names", got=repr(name))
    return tuple(dict.fromkeys([*names, *extra]))


def _reference(given: object, function: Callable[..., Any], at: SourceLocation) -> Reference:
    return as_reference(given, Path(at.file).parent, function.__name__)


def _include(include: Iterable[str], folder: Path) -> tuple[Path, ...]:
    folders = [Path(os.path.normpath(folder / name)) for name in _texts("include=", include, "['csrc']")]
    for path in folders:
        if not path.is_dir():
            raise DeclarationError(
                "include=", expected="folders, relative to the module's", got=f"no folder {path}"
            )
    return tuple(folders)


def _texts(what: str, texts: Iterable[str], example: str) -> tuple[str, ...]:
    listed = None if isinstance(texts, str) or not isinstance(texts, Iterable) else tuple(texts)
    if listed is None or not all(isinstance(text, str) and text for text in listed):
        hint = f"Write {what}[{texts!r}]" if texts and isinstance(texts, str) else None
        raise DeclarationError(what, expected=f"a list such as {example}", got=repr(texts), next_step=hint)
    return listed


def _defines(defines: object) -> macros.Macros:
    if defines is None:
        return ()
    if not isinstance(defines, Mapping):
        raise DeclarationError(
            "defines=",
            expected="a dictionary from macro to text or number",
            got=repr(defines),
            next_step="Write defines={'NAME': 1}",
        )
    return macros.checked(defines)


def _accept(given: object) -> Callable[..., Any] | None:
    if given is None or callable(given):
        return given
    raise DeclarationError(
        "accept=",
        expected="a function of inputs and outputs that returns which elements are wrong",
        got=repr(given),
    )


def _waivers(given: object) -> tuple[Waiver, ...]:
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if isinstance(given, Waiver) or not all(isinstance(one, Waiver) for one in listed):
        raise DeclarationError(
            "waivers=",
            expected="a list of waive(...)",
            got=str(given),
            next_step="Write waivers=[waive('race', at='hist.cu:31', reason='...')]",
        )
    return listed
