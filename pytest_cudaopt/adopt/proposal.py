"""From what is known of a kernel to the declaration proposed for it. What is guessed carries a TODO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.bodies import Constant, accesses, words_of
from pytest_cudaopt.adopt.declarations import FunctionParameter, KernelDeclaration
from pytest_cudaopt.adopt.launches import Guess, guess_launch
from pytest_cudaopt.adopt.mappings import default_launch
from pytest_cudaopt.adopt.names import python_name, renamed
from pytest_cudaopt.adopt.scalars import scalar_marker
from pytest_cudaopt.adopt.shapes import constant_shape, guess_shape, large_case, small_case
from pytest_cudaopt.adopt.structs import qualified_struct
from pytest_cudaopt.adopt.templates import Pattern
from pytest_cudaopt.adopt.tokens import Scanned
from pytest_cudaopt.adopt.types import CudaType, read_type_text

_TILES = ("block", "thread", "tile", "vec", "warp", "unroll", "stage")


@dataclass(frozen=True)
class Marked:
    """A parameter of the declaration: its marker as Python text, and what a person has to look at.

    `members` are those of a struct, whose marker is only its name.
    """

    name: str
    marker: str
    todo: tuple[str, ...] = ()
    members: tuple[Marked, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """A declaration before it is text. `launch` is None where the file has a rule of its own."""

    function: str
    pattern: Pattern
    line: int
    parameters: tuple[Marked, ...]
    sizes: tuple[str, ...]
    launch: Guess | None
    cases: tuple[Mapping[str, int], ...]
    has_own_name: bool


@dataclass(frozen=True)
class FileFacts:
    """What the text of a file says beside its kernels.

    `rule_names` are those its own launch rule uses.
    """

    scanned: Scanned
    structs: Mapping[str, tuple[FunctionParameter, ...]]
    aliases: Mapping[str, str]
    constants: Sequence[Constant]
    tunables: Mapping[str, int]
    has_rule: bool
    rule_names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Unknown:
    """A parameter nobody can mark: which, and of what type."""

    name: str
    type: str


def propose(
    facts: FileFacts, kernel: KernelDeclaration, pattern: Pattern, signature: Sequence[str]
) -> Proposal | Unknown:
    """Return the declaration of `kernel`, or the first parameter whose type is not known.

    `signature` holds the compiler's types; without them the text's own are taken.
    """
    parameters = _resolved(facts, kernel, signature)
    names = {p.name: python_name(p.name, is_size=True) for p in parameters}
    marker = _Marker(facts, kernel, pattern, parameters, names)
    marked: list[Marked] = []
    for parameter in parameters:
        one = marker.mark(parameter)
        if one is None:
            return Unknown(parameter.name, parameter.spelling)
        marked.append(one)
    marked += marker.constants()
    launch = None
    if not facts.has_rule:
        guess = guess_launch(facts.scanned, kernel, [*marker.sizes_in_cuda, *facts.tunables, *pattern.sizes])
        launch = Guess(renamed(guess.rule, names), guess.line, guess.is_default, guess.seen)
        if guess.is_default:
            known = {*facts.tunables, *pattern.sizes}
            rule = default_launch(facts.scanned, kernel, marker.extents, known)
            launch = Guess(rule, guess.line, seen=guess.seen)
    free = [*marker.sizes, *marker.extra]
    fixed = {name: values[0] for name, values in pattern.sizes.items()}
    function = python_name(kernel.name)
    return Proposal(
        function=function,
        pattern=pattern,
        line=kernel.line,
        parameters=tuple(marked),
        sizes=(*marker.extra, *pattern.sizes),
        launch=launch,
        cases=(small_case(free, fixed), large_case(free, fixed)),
        has_own_name=function == pattern.entry,
    )


def _resolved(
    facts: FileFacts, kernel: KernelDeclaration, signature: Sequence[str]
) -> list[FunctionParameter]:
    """Name every parameter, and take from the compiler what the text does not tell."""
    declared = kernel.parameters
    if signature and len(signature) != len(declared):
        # A macro stands for several parameters.
        return [FunctionParameter(f"p{at}", read_type_text(text), text) for at, text in enumerate(signature)]
    resolved = []
    for at, parameter in enumerate(declared):
        type_ = parameter.type
        if type_.dtype(facts.aliases) is None and type_.base not in _type_names(kernel) and signature:
            compiled = read_type_text(signature[at])
            type_ = compiled if compiled.dtype(facts.aliases) is not None else type_
        resolved.append(FunctionParameter(parameter.name or f"p{at}", type_, parameter.spelling))
    return resolved


def _type_names(kernel: KernelDeclaration) -> set[str]:
    return {parameter.name for parameter in kernel.template if parameter.is_type}


class _Marker:
    """Marks the parameters of one kernel; its sizes have to be known before any array's shape."""

    def __init__(
        self,
        facts: FileFacts,
        kernel: KernelDeclaration,
        pattern: Pattern,
        parameters: Sequence[FunctionParameter],
        names: Mapping[str, str],
    ) -> None:
        self._facts = facts
        self._kernel = kernel
        self._pattern = pattern
        self._parameters = parameters
        self._names = names
        self.sizes_in_cuda = [p.name for p in parameters if self._is_size(p)]
        self.sizes = [*(names[name] for name in self.sizes_in_cuda), *self._sizes_of_structs(parameters)]
        given = {*self.sizes, *facts.tunables, *pattern.sizes}
        # The rule tells of sizes that the kernel itself is not told: how many rows there are.
        counts = [n for n in sorted(facts.rule_names - given) if python_name(n, is_size=True) == n]
        self._fixed = [name for name in pattern.sizes if not any(word in name.lower() for word in _TILES)]
        # Nothing says how long the arrays are: a size of our own does.
        self.extra = counts or ([] if self.sizes or self._fixed else ["n"])
        self.extents = [*counts, *self.sizes] or self.extra or self._fixed
        self._extents_in_cuda = [*counts, *self.sizes_in_cuda] or self.extents

    def mark(self, parameter: FunctionParameter) -> Marked | None:
        name, type_ = self._names[parameter.name], parameter.type
        members = self._facts.structs.get(type_.base)
        if members and not type_.pointers:
            return self._mark_struct(name, type_.base, members)
        dtype = self._dtype(type_)
        if dtype is None:
            return None
        if not type_.pointers:
            marker, todo = scalar_marker(name, dtype, self.extents[-1])
            return Marked(name, marker, todo)
        return self._mark_array(parameter, name, dtype)

    def constants(self) -> list[Marked]:
        words = words_of(self._facts.scanned, self._kernel)
        found = []
        for constant in self._facts.constants:
            dtype = CudaType(constant.base).dtype(self._facts.aliases)
            name = python_name(constant.name, is_size=True)
            if constant.name in words and dtype is not None and name not in self._names.values():
                extents, todo = constant_shape(constant.extents, self._facts.scanned.constants)
                marker = f'Constant({dtype}, {", ".join(extents)}, symbol="{constant.symbol}")'
                found.append(Marked(name, marker, todo))
        return found

    def _mark_struct(self, name: str, base: str, members: Sequence[FunctionParameter]) -> Marked | None:
        marked = []
        for member in members:
            dtype = self._dtype(member.type)
            if dtype is None or member.type.pointers > 1:
                return None
            own = python_name(member.name, is_size=True)
            if not member.type.pointers:
                marker, todo = scalar_marker(own, dtype, self.extents[-1])
                marked.append(Marked(own, f"Scalar({dtype})" if marker == dtype else marker, todo))
            else:
                role = "In" if member.type.is_const else "Out"
                todo = ("shape",) if role == "In" else ("shape", "Out or InOut?")
                marked.append(Marked(own, f"{role}({dtype}, {_quoted(self.extents)})", todo))
        return Marked(name, qualified_struct(self._facts.scanned, base), members=tuple(marked))

    def _mark_array(self, parameter: FunctionParameter, name: str, dtype: str) -> Marked:
        uses = accesses(self._facts.scanned, self._kernel, parameter.name)
        if parameter.type.is_const or (uses.reads and not uses.writes):
            role, doubt = "In", ""
        elif uses.reads:
            role, doubt = "InOut", f"InOut or Out? line {uses.read_line} reads it"
        else:
            role, doubt = "Out", "Out or InOut?"
        guessed = guess_shape(parameter.name, uses, self._extents_in_cuda, role != "In")
        shape = [renamed(extent, self._names) for extent in guessed]
        shape += [size for size in self._fixed if size in uses.words and size not in shape and shape != ["1"]]
        todo = ("shape", doubt) if doubt else ("shape",)
        if parameter.name in self._index_words(parameter.name) and not dtype.startswith(("f", "bf", '"')):
            todo = (*todo, "values=, since it indexes another array")
        return Marked(name, f"{role}({dtype}, {_quoted(shape)})", todo)

    def _index_words(self, apart_from: str) -> frozenset[str]:
        """Return the words that other arrays are indexed with."""
        arrays = [p.name for p in self._parameters if p.type.pointers and p.name != apart_from]
        used = (accesses(self._facts.scanned, self._kernel, name).words for name in arrays)
        return frozenset().union(*used)

    def _sizes_of_structs(self, parameters: Sequence[FunctionParameter]) -> list[str]:
        structs = (self._facts.structs.get(p.type.base, ()) for p in parameters if not p.type.pointers)
        members = [member for struct in structs for member in struct]
        return [python_name(m.name, is_size=True) for m in members if self._is_size(m)]

    def _dtype(self, type_: CudaType) -> str | None:
        types = {python_name(name, is_size=True) for name in _type_names(self._kernel)}
        name = python_name(type_.base, is_size=True)
        if type_.base in _type_names(self._kernel):
            return f'"{name}"' if name in self._pattern.types and name in types else None
        return type_.dtype(self._facts.aliases)

    def _is_size(self, parameter: FunctionParameter) -> bool:
        dtype = None if parameter.type.pointers else self._dtype(parameter.type)
        if dtype is None or parameter.type.base in self._facts.structs:
            return False
        return scalar_marker(parameter.name, dtype, "n")[0] == dtype


def _quoted(extents: Sequence[str]) -> str:
    return ", ".join(extent if extent.isdigit() else f'"{extent}"' for extent in extents)
