"""Mutants: a kernel's starting candidate with one mistake each, as a person or a model makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.mutate import conditions, launches, places, values
from pytest_cudaopt.mutate.edits import Edit, MutantKind
from pytest_cudaopt.mutate.functions import executed
from pytest_cudaopt.mutate.tokens import read

MOST = 60
_COMMENT = re.compile(r"\s//.*$")
_GRID_AXIS = re.compile(r"\bgridDim\.([xyz])\b")
_LAUNCH_LINE = re.compile(r"^\s*//\s*@launch\b")


@dataclass(frozen=True)
class Mutant:
    """One mistake: `before` and `after` are the changed lines without their indentation.

    `line` is the first of them in the kernel's file, or 0 for a launch rule that stands in the declaration.
    """

    kind: MutantKind
    line: int
    before: str
    after: str
    candidate: Candidate


def mutants(candidate: Candidate, kernel: Kernel, most: int = MOST) -> tuple[Mutant, ...]:
    """Return at most `most` mutants of `candidate`, in the order of their lines.

    Where there are more, every kind keeps its share of them, spread over the source.
    """
    every: dict[MutantKind, list[Mutant]] = {kind: [] for kind in MutantKind}
    known = {(candidate.source, tuple(candidate.launch.directives()))}
    for mutant in (*_of_source(candidate, kernel), *_of_launch(candidate, kernel)):
        text = (mutant.candidate.source, tuple(mutant.candidate.launch.directives()))
        if text not in known:
            known.add(text)
            every[mutant.kind].append(mutant)
    shares = _shares([len(found) for found in every.values()], most)
    kept = [one for found, share in zip(every.values(), shares, strict=True) for one in _spread(found, share)]
    return tuple(sorted(kept, key=lambda one: one.line))


def by_turns(found: Iterable[Mutant]) -> tuple[Mutant, ...]:
    """Return the same mutants so that every kind has its turn early."""
    kinds: dict[MutantKind, list[Mutant]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    return tuple(one for turn in zip_longest(*kinds.values()) for one in turn if one is not None)


def _of_source(candidate: Candidate, kernel: Kernel) -> Iterator[Mutant]:
    code = read(candidate.source)
    functions = executed(code, kernel.entry)
    sizes = next((one.sizes for one in functions if one.is_kernel), ())
    for function in functions:
        for edit in (
            *conditions.mutations(code, function),
            *values.mutations(code, function),
            *places.mutations(code, function, sizes),
        ):
            yield _mutant(candidate, edit)


def _mutant(candidate: Candidate, edit: Edit) -> Mutant:
    source = candidate.source
    first = source.rfind("\n", 0, edit.start) + 1
    last = source.find("\n", edit.end)
    last = len(source) if last < 0 else last
    after = source[first : edit.start] + edit.new + source[edit.end : last]
    return Mutant(
        edit.kind,
        source.count("\n", 0, edit.start) + 1,
        _shown(source[first:last]),
        _shown(after),
        # Lines keep their numbers.
        replace(candidate, source=edit.apply(source)),
    )


def _shown(lines: str) -> str:
    """Return lines as one, without comments at their ends."""
    return " ".join(word for line in lines.split("\n") for word in _COMMENT.sub("", line).split())


def _of_launch(candidate: Candidate, kernel: Kernel) -> Iterator[Mutant]:
    rule = candidate.launch
    lines = [n for n, line in enumerate(candidate.source.splitlines(), 1) if _LAUNCH_LINE.match(line)]
    declared = [{**kernel.all_sizes(case), **candidate.chosen} for case in kernel.cases]
    written = rule.directives()
    strided = frozenset(_GRID_AXIS.findall(candidate.source))
    for number, changed in launches.mutated(rule, declared, strided):
        line = lines[number] if len(lines) == len(written) else 0
        after = changed.directives()[number]
        changed_candidate = replace(candidate, launch=changed)
        yield Mutant(MutantKind.CHANGED_LAUNCH, line, written[number], after, changed_candidate)


def _shares(available: Sequence[int], most: int) -> list[int]:
    """Share out `most` places, evenly as far as there is something to fill them."""
    shares = [0] * len(available)
    while sum(shares) < min(most, sum(available)):
        for at, number in enumerate(available):
            if shares[at] < number and sum(shares) < most:
                shares[at] += 1
    return shares


def _spread(found: Sequence[Mutant], number: int) -> list[Mutant]:
    """Return `number` of them, evenly spaced."""
    if number >= len(found):
        return list(found)
    return [found[(2 * at + 1) * len(found) // (2 * number)] for at in range(number)]
