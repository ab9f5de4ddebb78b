"""`@kernel`: from a Python function and a `.cu` file to a checked, frozen declaration."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from pathlib import Path
from typing import Any, Never

from pytest_cudaopt import directives, expressions, instances, macros, regions
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import RESERVED, Case, case_ids, require_sizes
from pytest_cudaopt.closure import Place, close
from pytest_cudaopt.compdb import Flags
from pytest_cudaopt.contract import Choices, Contract, Domain
from pytest_cudaopt.decorated import (
    place_in,
    place_of,
    reference_sizes,
    require_function,
    require_no_unknown,
    require_source,
)
from pytest_cudaopt.directive_checks import require_known_names
from pytest_cudaopt.directives import Directives
from pytest_cudaopt.draw_sizes import contradiction
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import (
    CudaoptError,
    DeclarationError,
    SourceError,
    SourceLocation,
    did_you_mean,
    why_unreadable,
)
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.float_expressions import FloatExpression
from pytest_cudaopt.instances import Instance, Types
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.parameters import Marker, Parameter, Role
from pytest_cudaopt.reference_source import Reference, ReferenceSource, as_reference
from pytest_cudaopt.structs import StructMarker, is_for_members, member_names, require_members_taken
from pytest_cudaopt.tolerance import Bound, Tolerance, criterion

_IDENTIFIER = re.compile(r"^[A-Za-z_]\w*$")
_TOUCHED = "touched"


@dataclass(frozen=True)
class Work:
    """What a launch has to do at least: floating-point operations and bytes moved to or from memory.

    `bytes_touched` asks for the bytes to be counted instead; where nothing counts them they stay unknown.
    """

    flops: Expression | None = None
    bytes: Expression | None = None
    bytes_touched: bool = False


@dataclass(frozen=True)
class Amount:
    """The work of one launch; None where it is unknown."""

    flops: int | None = None
    bytes: int | None = None


def work(*, flops: str | int | None = None, bytes: str | int | None = None) -> Work:
    """Declare a launch's least work as expressions over sizes; `bytes="touched"` leaves them to be counted.

    Too high a number makes an honest kernel look impossibly fast: count each byte read once and each byte
    written once.
    """
    touched = bytes == _TOUCHED
    return Work(
        None if flops is None else expressions.parse(flops),
        None if bytes is None or touched else expressions.parse(bytes),
        touched,
    )


@dataclass(eq=False)
class Kernel:
    """A declared kernel. Frozen once made, except for pytest's marks.

    `source` is the `.cu` file, resolved beside the declaring module; `location` is the declaration's line.
    `entry` is a pattern, and the dtype of a parameter may be the name of one of `types`: `at` fills in both.
    `reference_sizes` are those the reference gets beside the kernel's parameters.
    `inherited` is what the project compiles the source with; the kernel's own options and macros win.
    Calling a Kernel calls its reference.
    """

    name: str
    entry: str
    source: Path
    location: SourceLocation
    parameters: tuple[Parameter, ...]
    sizes: tuple[str, ...]
    derived: tuple[tuple[str, Expression], ...]
    cases: tuple[Case, ...]
    tolerance: Tolerance
    reference: Reference
    launch: LaunchRule | None
    defines: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    work: Work
    doc: str
    types: Types = ()
    reference_sizes: tuple[str, ...] = ()
    contract: Contract = field(default_factory=Contract)
    include: tuple[Path, ...] = ()
    stub: tuple[str, ...] = ()
    inherited: Flags = field(default_factory=Flags)
    pytestmark: list[Any] = field(default_factory=list)
    accept: Callable[..., Any] | None = None

    def __setattr__(self, name: str, value: object) -> None:
        # Not `frozen=True`: pytest.mark.x(kernel) assigns `pytestmark`.
        if name != "pytestmark" and name in self.__dict__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.reference, ReferenceSource):
            raise DeclarationError(
                f"kernel '{self.name}'",
                expected="a reference that is a function, to be called",
                got=f"the kernel {self.reference}",
                at=self.location,
            )
        return self.reference(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def case_ids(self) -> tuple[str, ...]:
        return self.ids_of(self.cases)

    def ids_of(self, cases: Iterable[Case]) -> tuple[str, ...]:
        """Name cases as the declared ones are named: dtypes first, where more than one is possible."""
        return case_ids(cases, {name for name, dtypes in self.types if len(dtypes) > 1})

    @property
    def measured_cases(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.measure)

    @property
    def place(self) -> Place:
        """Where the source stands, and where its includes are looked for."""
        return Place(self.source.parent, self.include, self.stub)

    @property
    def region_names(self) -> tuple[str, ...]:
        """What a region of the source may be called to be this kernel's."""
        return (self.name, self.entry)

    def all_sizes(self, one: Case) -> dict[str, int]:
        """Return the case's sizes with the derived ones added."""
        values = one.by_name
        for name, expression in self.derived:
            values[name] = expression.evaluate(values)
        return values

    def at(self, one: Case) -> Instance:
        """Return what the kernel is at a case: its entry and its parameters' dtypes.

        Raises DeclarationError if the case leaves a dtype open.
        """
        needs_sizes = bool(set(instances.names_in(self.entry)) - set(dict(self.types)))
        sizes = self.all_sizes(one) if needs_sizes else {}
        types = instances.chosen_types(one, self.types)
        return instances.instance_at(self.entry, self.parameters, sizes, types)

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The instances the declared cases need."""
        return instances.distinct(self.at(one) for one in self.cases)

    def work_at(self, one: Case) -> Amount:
        """Return the case's declared work; raise DeclarationError where an expression has no value."""
        sizes = self.all_sizes(one)
        try:
            return Amount(
                None if self.work.flops is None else self.work.flops.evaluate(sizes),
                None if self.work.bytes is None else self.work.bytes.evaluate(sizes),
            )
        except CudaoptError as error:
            raise DeclarationError(
                f"kernel '{self.name}' at {one}: work: {error.what}",
                expected=error.expected,
                got=error.got,
                at=self.location,
            ) from error

    def read_directives(self) -> Directives:
        """Read the source's directives; raise SourceError if the file is missing."""
        return directives.read(self._own_region(self.read_source(), self.source), str(self.source))

    def read_source(self) -> str:
        """Return the source text; raise SourceError at the declaration if it cannot be read."""
        try:
            return self.source.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            near = sorted(path.name for path in self.source.parent.glob("*.cu"))
            raise SourceError(
                f"kernel '{self.name}'",
                expected=f"a readable file {self.source}",
                got=why_unreadable(error),
                next_step=f"Sources beside it: {', '.join(near) or 'none'}",
                at=self.location,
            ) from error

    def start(self) -> Candidate:
        """Return the starting candidate: the file as it is, each tunable at its first value.

        Raises SourceError for a missing file or unreadable directives, and if no launch rule is given.
        """
        return self.candidate(self.read_source(), self.source)

    def candidate(self, source: str, file: Path) -> Candidate:
        """Return what `source` is as a candidate, each tunable at its first value; `file` names it.

        Its own launch rule comes first, then `launch=`, then the rule of the kernel's file. Of a source with
        regions only the kernel's own counts. Raises SourceError as `start` does.
        """
        source = self._own_region(source, file)
        found = directives.read(source, str(file))
        rule = found.rule or self.launch or self._rule_of_file(file)
        self._require_own_names(found)
        known = {*self.sizes, *dict(self.derived), *found.starting_values}
        require_known_names(rule, known, found, self.location, self.name)
        return Candidate(
            file=file.name,
            source=source,
            launch=rule,
            tunables=tuple(found.starting_values.items()),
            defines=macros.with_own(self.inherited.defines, self.defines, taken=found.starting_values),
            options=directives.with_own(self.inherited.options, (*found.options, *self.options)),
            closure=close(source, self.place),
        )

    def _own_region(self, source: str, file: Path) -> str:
        try:
            return regions.select(source, self.region_names, str(file))
        except SourceError as error:
            raise error.located(self.location) from error

    def _require_own_names(self, found: Directives) -> None:
        """Refuse a tunable that would replace a size or parameter inside the kernel's text."""
        taken = {*self.sizes, *dict(self.derived), *(parameter.name for parameter in self.parameters)}
        if clash := sorted(taken & set(found.starting_values)):
            raise SourceError(
                f"@tune {clash[0]} of kernel '{self.name}'",
                expected="a name no size or parameter has",
                got=f"'{clash[0]}'",
                next_step=f"Rename it: every '{clash[0]}' in the source would become its value",
                at=self.location,
            )

    def _rule_of_file(self, file: Path) -> LaunchRule:
        rule = self.read_directives().rule
        if rule is None:
            raise SourceError(
                f"kernel '{self.name}'",
                expected="a launch rule",
                got=f"no '// @launch' line in {file.name} and no launch=",
                next_step="Add a line like: // @launch grid=(cdiv(n, 256)) block=(256)",
                at=self.location,
            )
        return rule


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
    """
    called_at = place_in(sys._getframe(1))
    require_source(source, called_at)

    def declare(function: Callable[..., Any]) -> Kernel:
        require_function(function, called_at)
        at = place_of(function)
        try:
            require_no_unknown(unknown, _keywords())
            kernel_types = instances.declared_types(types)
            parameters = _parameters(function)
            if reference is None:
                require_members_taken(function, parameters)
            names = _sizes(parameters, tuple(sizes))
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
                defines=macros.checked(defines or {}),
                options=tuple(options),
                work=work or Work(),
                doc=inspect.getdoc(function) or "",
                types=kernel_types,
                reference_sizes=reference_sizes(function),
                contract=Contract.declared(choices, where, domain),
                include=_include(include, Path(at.file).parent),
                stub=_texts("stub=", stub, "['torch/*']"),
                pytestmark=list(getattr(function, "pytestmark", [])),
                accept=_accept(accept),
            )
            _validate(declared, written)
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


def _keywords() -> list[str]:
    parameters = inspect.signature(kernel).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    signature = inspect.signature(function).parameters
    members = member_names(signature.values())
    for name, declared in signature.items():
        if name in reference_sizes(function):
            continue
        default = declared.default
        if is_for_members(declared, members):
            continue
        if isinstance(default, StructMarker):
            parameters += default.parameters(name)
            continue
        if isinstance(default, DType):
            if default.is_float:
                raise DeclarationError(
                    f"parameter '{name}'",
                    expected=f"Scalar({default}, value), since a float cannot be a size",
                    got=f"{name}={default}",
                )
            default = Marker(Role.SCALAR, default)
        if not isinstance(default, Marker):
            raise DeclarationError(
                f"parameter '{name}'",
                expected="a marker as default: In, Out, InOut, Scratch, Scalar, Constant, Struct or a dtype",
                got="no default" if default is inspect.Parameter.empty else repr(default),
                next_step=f"Write {name}=In(f32, 'n')",
            )
        parameters.append(Parameter.named(name, default))
    _require_own_name_each(parameters)
    return tuple(parameters)


def _require_own_name_each(parameters: Iterable[Parameter]) -> None:
    seen: set[str] = set()
    for parameter in parameters:
        if parameter.name in seen:
            raise DeclarationError(
                f"parameter '{parameter.name}'",
                expected="a name that no other parameter, and no member of a struct, has",
                got=f"'{parameter.name}' a second time",
                next_step="Rename one of them: the reference gets members by their own names",
            )
        seen.add(parameter.name)


def _cases(cases: object) -> tuple[Case, ...]:
    if isinstance(cases, Case) or not isinstance(cases, Iterable):
        raise DeclarationError(
            "cases=", expected="a list of case(...)", got=str(cases), next_step=f"Write cases=[{cases}]"
        )
    # `product(...)` is a list in the list.
    listed = tuple(one for part in cases for one in (part if isinstance(part, list | tuple) else (part,)))
    for number, one in enumerate(listed):
        if not isinstance(one, Case):
            raise DeclarationError(f"cases[{number}]", expected="a case(...)", got=repr(one))
    return listed


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
    listed = None if isinstance(texts, str) else tuple(texts)
    if listed is None or not all(isinstance(text, str) and text for text in listed):
        raise DeclarationError(what, expected=f"a list such as {example}", got=repr(texts))
    return listed


def _accept(given: object) -> Callable[..., Any] | None:
    if given is None or callable(given):
        return given
    raise DeclarationError(
        "accept=",
        expected="a function of inputs and outputs that returns which elements are wrong",
        got=repr(given),
    )


def _validate(declared: Kernel, written: tuple[Case, ...]) -> None:
    known = {*declared.sizes, *dict(declared.derived)}
    if reserved := sorted(known & set(RESERVED)):
        raise DeclarationError("sizes", expected=f"none of {', '.join(RESERVED)}", got=reserved[0])
    taken = {*known, *RESERVED, *(parameter.name for parameter in declared.parameters)}
    instances.require_known(declared.entry, declared.types, declared.parameters, sorted(known), taken)
    for parameter in declared.parameters:
        expressions_used = [*parameter.shape, *(parameter.strides or ())]
        if isinstance(parameter.value, Expression):
            expressions_used.append(parameter.value)
        for expression in (drawn_by := getattr(parameter.values, "expressions", ())):
            _require_no_array(parameter, expression, declared)
        expressions_used += drawn_by
        for expression in expressions_used:
            _require_known(f"parameter '{parameter.name}': '{expression}'", expression, known)
    for name in declared.reference_sizes:
        if name not in known:
            raise DeclarationError(
                f"parameter '{name}' after *",
                expected=f"a size among {', '.join(sorted(known)) or 'none'}",
                got=f"'{name}'",
                next_step=did_you_mean(name, known) or f"List it in sizes=, or give {name} a marker",
            )
    for name, expression in declared.derived:
        _require_known(f"derive['{name}']", expression, known)
    for name, part in (("flops", declared.work.flops), ("bytes", declared.work.bytes)):
        if part is not None:
            _require_known(f"work({name}=)", part, known)
    _require_known_tolerances(declared, known)
    if not any(parameter.is_output for parameter in declared.parameters):
        raise DeclarationError("parameters", expected="at least one Out or InOut", got="none")
    if not declared.cases:
        raise DeclarationError(
            "cases", expected="at least one case(...)", got="none", next_step=_case_hint(declared)
        )
    for number, one in enumerate(written):
        instances.require_case_types(f"cases[{number}]", one, declared.types)
        require_sizes(f"cases[{number}]", one, dict.fromkeys(declared.sizes))
        _require_absent_allowed(f"cases[{number}]", one, declared.parameters)
        _require_new(f"cases[{number}]", one, written[:number])
    for number, one in enumerate(declared.cases):
        _require_tolerances(declared, number)
        _require_new("cases", one, declared.cases[:number])
    declared.contract.require_known(declared.sizes, dict(declared.derived))
    _require_kept(declared)


def _require_new(what: str, one: Case, others: tuple[Case, ...]) -> None:
    if one in others:
        raise DeclarationError(
            what,
            expected="a case that differs from the others",
            got=f"{one} a second time",
            next_step="Remove it, or give it another seed=",
            at=one.at,
        )


def _require_known_tolerances(declared: Kernel, known: set[str]) -> None:
    own = ((f" of '{p.name}'", p.judging.tolerance) for p in declared.parameters)
    for whose, tolerance in (("", declared.tolerance), *own):
        for name, bound in (("rtol", tolerance.rtol), ("atol", tolerance.atol)):
            if bound is not None:
                _require_known(f"{name}{whose}: '{bound}'", bound, known)


def _require_tolerances(declared: Kernel, number: int) -> None:
    """Refuse a case at which a tolerance is no number."""
    one = declared.cases[number]
    for parameter in declared.at(one).outputs:
        try:
            criterion(parameter, declared.tolerance, declared.all_sizes(one))
        except DeclarationError as error:
            raise DeclarationError(
                f"cases[{number}] ({one}): {error.what}",
                expected=error.expected,
                got=error.got,
                next_step=error.next_step,
                at=one.at,
            ) from error


def _require_kept(declared: Kernel) -> None:
    """Refuse cases outside the contract, and a contract that nothing can keep."""
    if declared.contract == Contract():
        return
    for number, one in enumerate(declared.cases):
        broken = declared.contract.violation(declared.all_sizes(one))
        if broken is None:
            continue
        # A case that keeps the contract shows that it can be kept; only without one there is a question.
        found = contradiction(declared.contract, declared.sizes, declared.derived)
        if found is not None and found.is_proved:
            raise DeclarationError(
                "choices, where and domain",
                expected="conditions that some sizes satisfy",
                got=f"no sizes satisfy {found}",
                next_step="Remove or correct one of them",
            )
        hint = "Change the case, or the declaration it contradicts"
        if found is not None:
            hint = f"No sizes were found that satisfy {found}: they may contradict each other"
        raise DeclarationError(
            f"cases[{number}]", expected=broken[0], got=broken[1], next_step=hint, at=one.at
        )


def _require_no_array(parameter: Parameter, expression: Expression, declared: Kernel) -> None:
    arrays = sorted(expression.names & {other.name for other in declared.parameters if other.is_array})
    if arrays:
        raise DeclarationError(
            f"parameter '{parameter.name}': '{expression}'",
            expected="an expression over sizes",
            got=f"the array '{arrays[0]}'",
            next_step=f"Draw it with a callable (rng, sizes, drawn), which finds drawn['{arrays[0]}']",
        )


def _require_absent_allowed(what: str, one: Case, parameters: tuple[Parameter, ...]) -> None:
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


def _require_known(what: str, expression: Expression | FloatExpression, known: set[str]) -> None:
    if unknown := sorted(expression.names - known):
        raise DeclarationError(
            what,
            expected=f"sizes among {', '.join(sorted(known)) or 'none'}",
            got=f"'{unknown[0]}'",
            next_step=f"Pass it as a parameter ({unknown[0]}=i32) or list it in sizes=",
        )


def _case_hint(declared: Kernel) -> str:
    sizes = ", ".join(f"{name}=..." for name in declared.sizes)
    return f"Write cases=[case({sizes})]"
