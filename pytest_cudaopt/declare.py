"""`@kernel`: from a Python function and a `.cu` file to a checked, frozen declaration."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field
from pathlib import Path
from typing import Any

from pytest_cudaopt import directives, expressions, macros, regions
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import RESERVED, Case, case_ids, require_sizes
from pytest_cudaopt.closure import Place, close
from pytest_cudaopt.compdb import Flags
from pytest_cudaopt.directives import Directives
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.errors import (
    CudaoptError,
    DeclarationError,
    SourceError,
    SourceLocation,
    why_unreadable,
)
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.parameters import Marker, Parameter, Role

Reference = Callable[..., Any]
_IDENTIFIER = re.compile(r"^[A-Za-z_]\w*$")
_TOUCHED = "touched"


@dataclass(frozen=True)
class Tolerance:
    """Accept `|got - expected| <= atol + rtol * |expected|`; None takes the output dtype's default."""

    rtol: float | None = None
    atol: float | None = None

    def for_dtype(self, dtype: DType) -> tuple[float, float]:
        """Return (rtol, atol) for an output of `dtype`; integers are exact unless told otherwise."""
        return (
            dtype.rtol if self.rtol is None else self.rtol,
            dtype.atol if self.atol is None else self.atol,
        )


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
    include: tuple[Path, ...] = ()
    stub: tuple[str, ...] = ()
    inherited: Flags = field(default_factory=Flags)
    pytestmark: list[Any] = field(default_factory=list)

    def __setattr__(self, name: str, value: object) -> None:
        # Not `frozen=True`: pytest.mark.x(kernel) assigns `pytestmark`.
        if name != "pytestmark" and name in self.__dict__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.reference(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def case_ids(self) -> tuple[str, ...]:
        return case_ids(self.cases)

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
        if unknown := sorted(rule.names - known):
            raise SourceError(
                f"launch rule of kernel '{self.name}'",
                expected=f"names among {', '.join(sorted(known))}",
                got=", ".join(unknown),
                next_step=f"Declare a size of that name or add '// @tune {unknown[0]} = ...' to {file.name}",
                at=self.location,
            )
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
    cases: Iterable[Case],
    entry: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    sizes: Iterable[str] = (),
    derive: Mapping[str, str] | None = None,
    launch: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    options: Iterable[str] = (),
    include: Iterable[str] = (),
    stub: Iterable[str] = (),
    work: Work | None = None,
    reference: Reference | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare the kernel in `source`, a `.cu` file beside the module.

    The decorated function's parameters, in the order of the `__global__` function's, carry markers as
    defaults; its body is the reference, unless `reference` is given. `include` are folders of headers,
    relative to the module's; a header whose name matches a pattern of `stub` is empty. Raises
    DeclarationError at the declaration's line.
    """

    def declare(function: Callable[..., Any]) -> Kernel:
        at = _location(function)
        try:
            parameters = _parameters(function)
            names = _sizes(parameters, tuple(sizes))
            derived = tuple((name, expressions.parse(text)) for name, text in (derive or {}).items())
            declared = Kernel(
                name=function.__name__,
                entry=entry or function.__name__,
                source=Path(at.file).parent / source,
                location=at,
                parameters=parameters,
                sizes=tuple(name for name in names if name not in dict(derived)),
                derived=derived,
                cases=_cases(cases),
                tolerance=_tolerance(rtol, atol),
                reference=reference or function,
                launch=None if launch is None else LaunchRule.parse(launch),
                defines=macros.checked(defines or {}),
                options=tuple(options),
                work=work or Work(),
                doc=inspect.getdoc(function) or "",
                include=_include(include, Path(at.file).parent),
                stub=_texts("stub=", stub, "['torch/*']"),
                pytestmark=list(getattr(function, "pytestmark", [])),
            )
            _validate(declared)
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


def _location(function: Callable[..., Any]) -> SourceLocation:
    code = inspect.unwrap(function).__code__
    return SourceLocation(code.co_filename, code.co_firstlineno)


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    parameters = []
    for name, declared in inspect.signature(function).parameters.items():
        default = declared.default
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
                expected="a marker as default: In, Out, InOut, Scratch, Scalar or a dtype",
                got="no default" if default is inspect.Parameter.empty else repr(default),
                next_step=f"Write {name}=In(f32, 'n')",
            )
        parameters.append(Parameter.named(name, default))
    return tuple(parameters)


def _cases(cases: object) -> tuple[Case, ...]:
    if isinstance(cases, Case) or not isinstance(cases, Iterable):
        raise DeclarationError(
            "cases=", expected="a list of case(...)", got=str(cases), next_step=f"Write cases=[{cases}]"
        )
    return tuple(cases)


def _sizes(parameters: tuple[Parameter, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
    names = [parameter.name for parameter in parameters if parameter.is_size]
    for name in extra:
        if not _IDENTIFIER.match(name):
            raise DeclarationError("sizes=", expected="names", got=repr(name))
    return tuple(dict.fromkeys([*names, *extra]))


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


def _tolerance(rtol: float | None, atol: float | None) -> Tolerance:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not (isinstance(value, int | float) and 0 <= value < float("inf")):
            raise DeclarationError(f"{name}=", expected="a finite number >= 0", got=repr(value))
    return Tolerance(rtol, atol)


def _validate(declared: Kernel) -> None:
    known = {*declared.sizes, *dict(declared.derived)}
    if reserved := sorted(known & set(RESERVED)):
        raise DeclarationError("sizes", expected=f"none of {', '.join(RESERVED)}", got=reserved[0])
    for parameter in declared.parameters:
        expressions_used = [*parameter.shape]
        if isinstance(parameter.value, Expression):
            expressions_used.append(parameter.value)
        for expression in expressions_used:
            _require_known(f"parameter '{parameter.name}': '{expression}'", expression, known)
    for name, expression in declared.derived:
        _require_known(f"derive['{name}']", expression, known)
    for name, part in (("flops", declared.work.flops), ("bytes", declared.work.bytes)):
        if part is not None:
            _require_known(f"work({name}=)", part, known)
    if not any(parameter.is_output for parameter in declared.parameters):
        raise DeclarationError("parameters", expected="at least one Out or InOut", got="none")
    if not declared.cases:
        raise DeclarationError(
            "cases", expected="at least one case(...)", got="none", next_step=_case_hint(declared)
        )
    for number, one in enumerate(declared.cases):
        if not isinstance(one, Case):
            raise DeclarationError(f"cases[{number}]", expected="a case(...)", got=repr(one))
        require_sizes(f"cases[{number}]", one, dict.fromkeys(declared.sizes))
        if one in declared.cases[:number]:
            raise DeclarationError(
                f"cases[{number}]",
                expected="a case that differs from the others",
                got=f"{one} a second time",
                next_step="Remove it, or give it another seed=",
            )


def _require_known(what: str, expression: Expression, known: set[str]) -> None:
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
