"""Which marker each parameter of a kernel gets, as Python text. What is guessed carries a TODO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.bodies import Constant, accesses, words_of
from pytest_cudaopt.adopt.declarations import FunctionParameter, KernelDeclaration
from pytest_cudaopt.adopt.index_bounds import bound_of
from pytest_cudaopt.adopt.names import python_name, renamed
from pytest_cudaopt.adopt.null_checks import may_be_null
from pytest_cudaopt.adopt.scalars import scalar_marker
from pytest_cudaopt.adopt.shapes import constant_shape, guess_shape
from pytest_cudaopt.adopt.struct_types import StructType, struct_type
from pytest_cudaopt.adopt.templates import Pattern
from pytest_cudaopt.adopt.tokens import Scanned
from pytest_cudaopt.adopt.types import CudaType

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


class Marker:
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
        if (struct := self._struct(type_)) is not None:
            return self._mark_struct(name, struct)
        dtype = self._dtype(type_)
        if dtype is None:
            return None
        if not type_.pointers:
            if type_.lanes(self._facts.aliases) > 1:
                return None
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

    def _mark_struct(self, name: str, struct: StructType) -> Marked | None:
        marked = []
        for member in struct.members:
            dtype = self._dtype(member.type)
            lanes = member.type.lanes(self._facts.aliases)
            if dtype is None or member.type.pointers > 1 or (lanes > 1 and not member.type.pointers):
                return None
            own = python_name(member.name, is_size=True)
            if not member.type.pointers:
                marker, todo = scalar_marker(own, dtype, self.extents[-1])
                marked.append(Marked(own, f"Scalar({dtype})" if marker == dtype else marker, todo))
            else:
                role = "In" if member.type.is_const else "Out"
                todo = ("shape",) if role == "In" else ("shape", "Out or InOut?")
                marked.append(Marked(own, f"{role}({dtype}, {_quoted(self.extents, lanes)})", todo))
        return Marked(name, struct.name, members=tuple(marked))

    def _mark_array(self, parameter: FunctionParameter, name: str, dtype: str) -> Marked:
        uses = accesses(self._facts.scanned, self._kernel, parameter.name)
        if parameter.type.is_const or (uses.reads and not uses.writes and not uses.handed_to):
            role, doubt = "In", ""
        elif uses.reads:
            role, doubt = "InOut", f"InOut or Out? line {uses.read_line} reads it"
        elif uses.handed_to:
            role, doubt = "InOut", f"InOut or Out? line {uses.handed_line} hands it to {uses.handed_to}"
        else:
            role, doubt = "Out", "Out or InOut?"
        guessed = guess_shape(parameter.name, uses, self._extents_in_cuda, role != "In")
        if guessed != ("1",):
            bound = bound_of(self._facts.scanned, self._kernel, uses.index, self._extents_in_cuda)
            guessed = (bound,) if bound else guessed
        shape = [renamed(extent, self._names) for extent in guessed]
        shape += [size for size in self._fixed if size in uses.words and size not in shape and shape != ["1"]]
        todo = ("shape", doubt) if doubt else ("shape",)
        if parameter.name in self._index_words(parameter.name) and not dtype.startswith(("f", "bf", '"')):
            todo = (*todo, "values=, since it indexes another array")
        lanes = parameter.type.lanes(self._facts.aliases)
        optional = may_be_null(self._facts.scanned, self._kernel, parameter.name)
        extents = _quoted(shape, lanes) + (", optional=True" if optional else "")
        return Marked(name, f"{role}({dtype}, {extents})", todo)

    def _index_words(self, apart_from: str) -> frozenset[str]:
        """Return the words that other arrays are indexed with."""
        arrays = [p.name for p in self._parameters if p.type.pointers and p.name != apart_from]
        used = (accesses(self._facts.scanned, self._kernel, name).words for name in arrays)
        return frozenset().union(*used)

    def _sizes_of_structs(self, parameters: Sequence[FunctionParameter]) -> list[str]:
        structs = (self._struct(p.type) for p in parameters)
        members = [member for struct in structs if struct is not None for member in struct.members]
        return [python_name(m.name, is_size=True) for m in members if self._is_size(m)]

    def _struct(self, type_: CudaType) -> StructType | None:
        if type_.pointers:
            return None
        base = self._facts.aliases.get(type_.base, type_.base)
        return struct_type(self._facts.scanned, self._facts.structs, base, self._pattern.arguments)

    def _dtype(self, type_: CudaType) -> str | None:
        types = {python_name(name, is_size=True) for name in type_names(self._kernel)}
        name = python_name(type_.base, is_size=True)
        if type_.base in type_names(self._kernel):
            return f'"{name}"' if name in self._pattern.types and name in types else None
        return type_.dtype(self._facts.aliases)

    def _is_size(self, parameter: FunctionParameter) -> bool:
        dtype = None if parameter.type.pointers else self._dtype(parameter.type)
        is_vector = parameter.type.lanes(self._facts.aliases) > 1
        if dtype is None or is_vector or self._struct(parameter.type) is not None:
            return False
        return scalar_marker(parameter.name, dtype, "n")[0] == dtype


def _quoted(extents: Sequence[str], lanes: int = 1) -> str:
    """Return extents as Python text; a shape counts elements, of which a vector packs several."""
    if lanes > 1:
        innermost = extents[-1]
        whole = str(lanes * int(innermost)) if innermost.isdigit() else f"{lanes} * {innermost}"
        extents = [*extents[:-1], whole]
    return ", ".join(extent if extent.isdigit() else f'"{extent}"' for extent in extents)


def type_names(kernel: KernelDeclaration) -> set[str]:
    """Return the template parameters that are types."""
    return {parameter.name for parameter in kernel.template if parameter.is_type}
