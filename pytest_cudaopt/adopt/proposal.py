"""From what is known of a kernel to the declaration proposed for it. What is guessed carries a TODO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_cudaopt.adopt.declarations import FunctionParameter, KernelDeclaration
from pytest_cudaopt.adopt.launches import Guess, guess_launch
from pytest_cudaopt.adopt.mappings import default_launch
from pytest_cudaopt.adopt.marking import FileFacts, Marked, Marker, type_names
from pytest_cudaopt.adopt.names import python_name, renamed
from pytest_cudaopt.adopt.shapes import large_case, small_case
from pytest_cudaopt.adopt.templates import Pattern
from pytest_cudaopt.adopt.types import read_type_text


@dataclass(frozen=True)
class Proposal:
    """A declaration before it is text. `launch` is None where the file has a rule of its own.

    `absent` names the arrays that one more case leaves out.
    """

    function: str
    pattern: Pattern
    line: int
    parameters: tuple[Marked, ...]
    sizes: tuple[str, ...]
    launch: Guess | None
    cases: tuple[Mapping[str, int], ...]
    has_own_name: bool
    absent: tuple[str, ...] = ()


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
    marker = Marker(facts, kernel, pattern, parameters, names)
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
        absent=_absent(marked),
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
        if type_.dtype(facts.aliases) is None and type_.base not in type_names(kernel) and signature:
            compiled = read_type_text(signature[at])
            type_ = compiled if compiled.dtype(facts.aliases) is not None else type_
        resolved.append(FunctionParameter(parameter.name or f"p{at}", type_, parameter.spelling))
    return resolved


def _absent(marked: Sequence[Marked]) -> tuple[str, ...]:
    """Return the optional arrays; a case needs an output, so one is kept if all of them are optional."""
    outputs = [one for one in marked if one.marker.startswith(("Out(", "InOut("))]
    optional = [one for one in marked if "optional=True" in one.marker]
    kept = outputs[:1] if all(one in optional for one in outputs) else []
    return tuple(one.name for one in optional if one not in kept)
