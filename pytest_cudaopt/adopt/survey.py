"""Everything `cudaopt adopt` finds out about a file: its kernels, the compiler's word, what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_cudaopt import directives, regions
from pytest_cudaopt.adopt.bodies import find_constants
from pytest_cudaopt.adopt.compiling import CompiledFile, CompileInput, Confirmed, Wanted, compile_file
from pytest_cudaopt.adopt.declarations import KernelDeclaration, find_kernels
from pytest_cudaopt.adopt.headers import project_of
from pytest_cudaopt.adopt.host_code import find_host_code
from pytest_cudaopt.adopt.marking import FileFacts
from pytest_cudaopt.adopt.obstacles import Obstacle, of_file, of_kernel
from pytest_cudaopt.adopt.overloads import cast_of
from pytest_cudaopt.adopt.proposal import Proposal, Unknown, propose
from pytest_cudaopt.adopt.structs import find_aliases, find_enums, find_structs
from pytest_cudaopt.adopt.templates import Pattern, entry_pattern
from pytest_cudaopt.adopt.tokens import Scanned, scan
from pytest_cudaopt.device import Device
from pytest_cudaopt.directives import Directives
from pytest_cudaopt.errors import SourceError, why_unreadable


@dataclass(frozen=True)
class Surveyed:
    """One kernel as declared, compiled and proposed (None if it cannot be), and what is in the way."""

    kernel: KernelDeclaration
    pattern: Pattern
    confirmed: Confirmed
    proposal: Proposal | None
    obstacles: tuple[Obstacle, ...]

    @property
    def status(self) -> str:
        """What becomes of it, in a few words."""
        if self.proposal is None:
            return "cannot be declared"
        if self.confirmed.error:
            return "does not compile"
        if self.confirmed.resources is None:
            return "not compiled"
        return "needs a GPU" if self.confirmed.unsupported else "ok"


@dataclass(frozen=True)
class Survey:
    """A file's kernels in its order, and what concerns all of them."""

    file: Path
    kernels: tuple[Surveyed, ...]
    compiled: CompiledFile
    obstacles: tuple[Obstacle, ...]


def survey(file: Path, entries: Sequence[str], include: Sequence[Path], device: Device) -> Survey:
    """Look at the kernels of `file`, or at those named by `entries`.

    Raises SourceError for a file that cannot be read, has no kernel or not the one asked for, and
    EnvironmentFault as `Device.ask` does.
    """
    source = _read(file)
    scanned = scan(source)
    kernels = _chosen(file, scanned, entries)
    names = [kernel.qualified for kernel in find_kernels(scanned)]
    enums = find_enums(scanned)
    casts = [cast_of(scanned, k) if names.count(k.qualified) > 1 else "" for k in kernels]
    patterns = [
        entry_pattern(kernel, scanned.constants, enums, cast)
        for kernel, cast in zip(kernels, casts, strict=True)
    ]
    parts, outside, unreadable = _parts(source, file, kernels)
    surveyed = {at: Surveyed(kernels[at], patterns[at], Confirmed(), None, (_OUTSIDE,)) for at in outside}
    all_compiled: list[CompiledFile] = []
    for part in parts:
        found, misread = _directives(part.source, file)
        unreadable += misread
        wanted = [
            Wanted(patterns[at].concrete, (kernels[at].line, kernels[at].last_line))
            for at in part.kernels
            if kernels[at].body is not None and not kernels[at].in_class
        ]
        given = CompileInput(
            source=part.source,
            file=file,
            include=tuple(include),
            project=project_of(file),
            defines=found.starting_values,
            options=found.options,
            host_code=tuple(find_host_code(scanned)),
        )
        compiled = compile_file(given, list(dict.fromkeys(wanted)), device)
        all_compiled.append(compiled)
        facts = _facts(scanned, found)
        for at in part.kernels:
            surveyed[at] = _named(_survey(facts, kernels[at], patterns[at], compiled), part, kernels)
    whole = _together(all_compiled)
    in_order = tuple(surveyed[at] for at in range(len(kernels)))
    return Survey(file, in_order, whole, (*unreadable, *of_file(whole, file.parent)))


def _facts(scanned: Scanned, found: Directives) -> FileFacts:
    return FileFacts(
        scanned=scanned,
        structs=find_structs(scanned),
        aliases=find_aliases(scanned),
        constants=find_constants(scanned),
        tunables=found.starting_values,
        has_rule=found.rule is not None,
        rule_names=frozenset().union(*(names for _, names in found.launch_lines)),
    )


_OUTSIDE = Obstacle(
    "it is outside the file's regions",
    "write '// @cudaopt begin NAME' above it and '// @cudaopt end' below",
    blocks=True,
)


@dataclass(frozen=True)
class _Part:
    """What is compiled together: a region, or all of a file without any; `kernels` says which are in it."""

    source: str
    kernels: tuple[int, ...]
    region: str = ""


def _parts(
    source: str, file: Path, kernels: Sequence[KernelDeclaration]
) -> tuple[list[_Part], list[int], tuple[Obstacle, ...]]:
    """Return the parts that have kernels, the kernels outside them all, and the mark that cannot be read."""
    everything = tuple(range(len(kernels)))
    try:
        found = regions.find(source, str(file))
    except SourceError as error:
        return [_Part(source, everything)], [], (_obstacle(error),)
    if not found:
        return [_Part(source, everything)], [], ()
    parts = []
    for region in found:
        own = tuple(at for at in everything if region.begin < kernels[at].line - 1 < region.end)
        if own:
            parts.append(_Part(regions.select(source, [region.name], str(file)), own, region.name))
    inside = {at for part in parts for at in part.kernels}
    return parts, [at for at in everything if at not in inside], ()


def _named(one: Surveyed, part: _Part, kernels: Sequence[KernelDeclaration]) -> Surveyed:
    """Call the declaration what its region is called, by which it is found."""
    proposal = one.proposal
    if not part.region or proposal is None or part.region in (proposal.function, proposal.pattern.entry):
        return one
    if one.kernel is kernels[part.kernels[0]] and part.region.isidentifier():
        return replace(one, proposal=replace(proposal, function=part.region, has_own_name=False))
    obstacle = Obstacle(
        f"region '{part.region}' is not its own",
        f"write '// @cudaopt begin {proposal.function}' above it and '// @cudaopt end' below",
        one.kernel.line,
        blocks=True,
    )
    return replace(one, proposal=None, obstacles=(*one.obstacles, obstacle))


def _together(compiled: Sequence[CompiledFile]) -> CompiledFile:
    return CompiledFile(
        kernels=dict(item for one in compiled for item in one.kernels.items()),
        include=tuple(dict.fromkeys(folder for one in compiled for folder in one.include)),
        stubs=tuple(dict.fromkeys(header for one in compiled for header in one.stubs)),
        places=dict(item for one in compiled for item in one.places.items()),
        host_code=tuple(sorted({lines for one in compiled for lines in one.host_code})),
    )


def _survey(
    facts: FileFacts, kernel: KernelDeclaration, pattern: Pattern, compiled: CompiledFile
) -> Surveyed:
    confirmed = compiled.kernels.get(pattern.concrete, Confirmed())
    obstacles = of_kernel(facts.scanned, kernel, facts.structs, confirmed)
    if any(obstacle.blocks for obstacle in obstacles):
        return Surveyed(kernel, pattern, confirmed, None, tuple(obstacles))
    proposed = propose(facts, kernel, pattern, confirmed.signature)
    if isinstance(proposed, Unknown):
        obstacles.append(_unknown(proposed, kernel.line))
        return Surveyed(kernel, pattern, confirmed, None, tuple(obstacles))
    return Surveyed(kernel, pattern, confirmed, proposed, tuple(obstacles))


def _unknown(unknown: Unknown, line: int) -> Obstacle:
    return Obstacle(
        f"parameter '{unknown.name}' ({unknown.type}) has a type no dtype stands for",
        _advice_for_type(unknown.type),
        line,
        blocks=True,
    )


def _advice_for_type(type_: str) -> str:
    if "*" in type_:
        return "give the template a type that has a dtype, or declare it as a pointer to such elements"
    return f'if it is a struct, write Struct("{type_.removeprefix("const ")}", ...) with its members'


def _chosen(file: Path, scanned: Scanned, entries: Sequence[str]) -> list[KernelDeclaration]:
    kernels = find_kernels(scanned)
    if not kernels:
        macros = ", ".join(str(line) for line in scanned.macros_with_kernels)
        raise SourceError(
            f"{file}",
            expected="a CUDA source with a __global__ function",
            got="none",
            next_step=f"The macros in line {macros} make some: write one out to adopt it" if macros else None,
        )
    for entry in entries:
        if not any(entry in (kernel.name, kernel.qualified) for kernel in kernels):
            names = ", ".join(kernel.qualified for kernel in kernels)
            raise SourceError(
                f"--entry {entry}", expected=f"a kernel of {file.name}", got=f"{names} are there"
            )
    return [k for k in kernels if not entries or k.name in entries or k.qualified in entries]


def _directives(source: str, file: Path) -> tuple[Directives, tuple[Obstacle, ...]]:
    try:
        return directives.read(source, str(file)), ()
    except SourceError as error:
        return Directives(), (_obstacle(error),)


def _obstacle(error: SourceError) -> Obstacle:
    advice = error.next_step or "mend it; it was left out"
    line = error.at.line if error.at is not None else 0
    return Obstacle(f"{error.what}: expected {error.expected}, got {error.got}", advice, line)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        near = ", ".join(sorted(path.name for path in file.parent.glob("*.cu*"))) or "none"
        raise SourceError(
            f"{file}",
            expected="a readable CUDA source",
            got=why_unreadable(error),
            next_step=f"CUDA sources there: {near}",
        ) from error
