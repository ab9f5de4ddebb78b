"""A declared kernel: what it is called with, what it is compiled from, and how it starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_cudaopt import directives, instances, macros, regions
from pytest_cudaopt.amounts import Amount, Work
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case, case_ids
from pytest_cudaopt.closure import Place, close, close_in
from pytest_cudaopt.compdb import Flags
from pytest_cudaopt.contract import Contract
from pytest_cudaopt.directive_checks import require_known_names
from pytest_cudaopt.directives import Directives
from pytest_cudaopt.errors import CudaoptError, DeclarationError, SourceError, SourceLocation, why_unreadable
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.gated import Thresholds
from pytest_cudaopt.header_files import HeaderFiles
from pytest_cudaopt.instances import Instance, Types
from pytest_cudaopt.launch import LaunchRule
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Obligations
from pytest_cudaopt.reference_source import Reference, ReferenceSource
from pytest_cudaopt.resource_limits import ResourceLimits
from pytest_cudaopt.tolerance import Tolerance
from pytest_cudaopt.waivers import Waiver

# Outside of comments of a line.
_A_KERNEL = re.compile(r"^(?!\s*//).*\b__global__\b", re.MULTILINE)


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
    limits: ResourceLimits | None = None
    gate: Thresholds = field(default_factory=Thresholds)
    batch: str | None = None
    waivers: tuple[Waiver, ...] = ()
    obligations: Obligations = field(default_factory=Obligations)

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
    def reference_origin(self) -> str:
        """Where the reference is from, if that is no person: such as "generated"."""
        return str(getattr(self.reference, "origin", ""))

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def case_ids(self) -> tuple[str, ...]:
        return self.ids_of(self.cases)

    def ids_of(self, cases: Iterable[Case]) -> tuple[str, ...]:
        """Name cases as the declared ones are named: dtypes first, where more than one is possible."""
        return case_ids(cases, {name for name, dtypes in self.types if len(dtypes) > 1})

    def id_of(self, one: Case) -> str:
        """Name a case: a declared one as in the declaration, any other by itself."""
        known = dict(zip(self.cases, self.case_ids, strict=True))
        return known.get(one) or self.ids_of((one,))[0]

    @property
    def reference_kernel(self) -> Kernel | None:
        """The reference as a kernel of the same declaration, with its own source and launch rule.

        None if the reference is a function.
        """
        source = self.reference
        if not isinstance(source, ReferenceSource):
            return None
        # Its own name, which may be that of its region in the file.
        return replace(self, name=source.kernel_name, source=source.source, entry=source.entry, launch=None)

    @property
    def is_reference(self) -> bool:
        """True for a `reference_kernel`."""
        named = self.reference
        return isinstance(named, ReferenceSource) and named == ReferenceSource(self.source, self.entry)

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

    def work_at(self, one: Case, touched_bytes: int | None = None) -> Amount:
        """Return the case's declared work, with `touched_bytes` where it asks for them to be counted.

        Raises DeclarationError where an expression has no value.
        """
        sizes = self.all_sizes(one)
        try:
            flops = None if self.work.flops is None else self.work.flops.evaluate(sizes)
            if self.work.bytes_touched:
                return Amount(flops, touched_bytes, bytes_counted=True)
            return Amount(flops, None if self.work.bytes is None else self.work.bytes.evaluate(sizes))
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
        """Return the starting candidate: the file, or its region of the kernel's, as it is.

        Each tunable has its first value. Raises SourceError for a missing file or unreadable directives, and
        unless it is clear which launch rule is the kernel's.
        """
        return self.start_from(self.read_source())

    def start_from(self, source: str, headers: HeaderFiles | None = None) -> Candidate:
        """Return what the starting candidate is if the file holds `source`.

        With `headers` these stand for the files of headers, and no file is read. Raises SourceError as
        `start` does.
        """
        self._require_one_rule(source)
        return self.candidate(source, self.source, headers)

    def _require_one_rule(self, source: str) -> None:
        """Refuse a file's rule beside `launch=` where it may be that of another kernel in the file."""
        own = self._own_region(source, self.source)
        rule = directives.read(own, str(self.source)).rule
        if self.launch is None or rule in (None, self.launch) or len(_A_KERNEL.findall(own)) < 2:
            return
        raise SourceError(
            f"launch rule of kernel '{self.name}'",
            expected="one",
            got=f"launch= and the '@launch' line of {self.source.name}, which has several kernels",
            next_step="Remove one, or put each kernel with its own @launch between "
            f"'// @cudaopt begin {self.name}' and '// @cudaopt end'",
            at=self.location,
        )

    def candidate(self, source: str, file: Path, headers: HeaderFiles | None = None) -> Candidate:
        """Return what `source` is as a candidate, each tunable at its first value; `file` names it.

        Its own launch rule comes first, then `launch=`, then the rule of the kernel's file. Of a source with
        regions only the kernel's own counts. With `headers` no file is read, as in `start_from`. Raises
        SourceError as `start` does.
        """
        source = self._own_region(source, file)
        found = directives.read(source, str(file))
        rule = found.rule or self.launch or self._rule_of_file(file, is_read=headers is None)
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
            closure=close(source, self.place) if headers is None else close_in(source, self.place, headers),
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

    def _rule_of_file(self, file: Path, *, is_read: bool) -> LaunchRule:
        rule = self.read_directives().rule if is_read else None
        if rule is None:
            raise SourceError(
                f"kernel '{self.name}'",
                expected="a launch rule",
                got=f"no '// @launch' line in {file.name}"
                + (", and launch= is for the kernel alone" if self.is_reference else " and no launch="),
                next_step="Add a line like: // @launch grid=(cdiv(n, 256)) block=(256)",
                at=self.location,
            )
        return rule
