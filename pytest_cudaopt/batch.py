"""Batch invariance: a row's result has the same bits whatever other rows are in the batch, and however many.

Asked for by `kernel(batch="rows")`. A launch on all rows is compared with launches on some of the same rows:
no reference is needed, and a tolerance would hide what is asked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.arguments import bind
from pytest_cudaopt.buffers import stored_arrays
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import faulty
from pytest_cudaopt.contents import write_arrays
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.declared_batch import batch_axes
from pytest_cudaopt.differential import Challenger, Tested
from pytest_cudaopt.evaluation import CaseOutcome, CaseStatus, Comparison
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.finding import NOT_JUDGED, Finding
from pytest_cudaopt.outputs import Outputs
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.properties import Property
from pytest_cudaopt.run import configure, run
from pytest_cudaopt.trials import is_affordable, keeps_contract, largest_case
from pytest_cudaopt.validate import compare_marked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_cudaopt.arguments import Arguments

# Elements of all arrays, and how much larger than the largest cheap case a batch is too.
_MOST_ELEMENTS = 1 << 18
_GROWTH = 4


@dataclass(frozen=True)
class Part:
    """Of the rows of `whole`, those from `first` on, as many as `case` has."""

    whole: Case
    case: Case
    first: int


def parts_of(kernel: Kernel, start: Candidate, seed: int) -> tuple[Part, ...]:
    """Return the batches to take apart: of the largest cheap case, and of a larger one where that is cheap.

    One row, two, half and all but one, each wherever `seed` says.
    """
    size = kernel.batch
    if size is None:
        return ()
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    return tuple(
        Part(whole, _with_rows(whole, size, rows), rng.randint(0, whole.by_name[size] - rows))
        for whole in _wholes(kernel, start, size, rng)
        for rows in sorted({1, 2, whole.by_name[size] // 2, whole.by_name[size] - 1})
        if 0 < rows < whole.by_name[size] and _keeps(kernel, _with_rows(whole, size, rows))
    )


def stand(challenger: Challenger, part: Part) -> Tested:
    """Judge the candidate at a part of a batch; raises as `pipeline.evaluate` does."""
    kernel, size = challenger.kernel, challenger.kernel.batch
    assert size is not None  # noqa: S101 - there are no parts otherwise
    whole = prepare(kernel, part.whole, challenger.device)
    together = _launched(challenger, whole)
    if isinstance(together, CaseOutcome):
        return _unless_not_judged(together)
    arguments = _arguments_of(kernel, size, part, whole.arguments)
    prepared = _prepared(challenger, part, arguments)
    try:
        apart = _launched(challenger, prepared)
    finally:
        prepared.remove_files()
    if isinstance(apart, CaseOutcome):
        return _unless_not_judged(apart)
    comparisons = _other_bits(kernel, size, part, arguments, (together, apart))
    outcome = CaseOutcome(part.whole, kernel.id_of(part.whole), CaseStatus.PASSED)
    if not comparisons:
        return Tested(outcome)
    rows, of = part.case.by_name[size], part.whole.by_name[size]
    which = f"{part.first}..{part.first + rows - 1} of {of}"
    note = f"other bits where {size}={rows} than where the same are {which}"
    return Tested(
        replace(
            outcome,
            status=CaseStatus.LOST,
            comparisons=comparisons,
            note=note,
            lost=Property.BATCH_INVARIANT,
        )
    )


def _wholes(kernel: Kernel, start: Candidate, size: str, rng: random.Random) -> Iterator[Case]:
    largest = replace(largest_case(kernel, start), seed=rng.getrandbits(32))
    yield largest
    grown = _with_rows(largest, size, _GROWTH * largest.by_name[size] + rng.randint(1, 3))
    if _keeps(kernel, grown) and is_affordable(kernel, start, grown, _MOST_ELEMENTS):
        yield grown


def _keeps(kernel: Kernel, case: Case) -> bool:
    return keeps_contract(kernel, case.by_name)


def _with_rows(case: Case, size: str, rows: int) -> Case:
    return replace(case, sizes=tuple((name, rows if name == size else value) for name, value in case.sizes))


def _arguments_of(kernel: Kernel, size: str, part: Part, whole: Arguments) -> Arguments:
    """Return the arguments of the part: the rows of arrays that have rows, everything else as it is."""
    axes = batch_axes(whole.parameters, size)
    rows = part.case.by_name[size]
    kept: dict[str, NDArray[Any]] = dict(whole.arrays)
    for name in whole.arrays.keys() & axes.keys():
        kept[name] = _rows_of(whole.arrays[name], axes[name], part.first, rows)
        kept[name].setflags(write=False)
    drawn = bind(kernel, part.case, kept)
    scalars = {
        p.name: whole.scalars[p.name] for p in kernel.parameters if p.name in whole.scalars and not p.is_size
    }
    return replace(drawn, scalars={**drawn.scalars, **scalars})


def _rows_of(array: NDArray[Any], axis: int, first: int, rows: int) -> NDArray[Any]:
    return np.ascontiguousarray(np.take(array, range(first, first + rows), axis=axis))


def _prepared(challenger: Challenger, part: Part, arguments: Arguments) -> PreparedCase:
    device = challenger.device
    stem = device.new_request("batch").nonce
    files = write_arrays(stored_arrays(arguments, arguments.arrays), device.scratch, stem)
    return PreparedCase(challenger.kernel, part.case, arguments, files, device.scratch, stem, _unasked)


def _unasked(arguments: Arguments, files: Mapping[str, Path]) -> Expectation:
    raise AssertionError("bits are compared with another launch's")


def _launched(challenger: Challenger, prepared: PreparedCase) -> Outputs | CaseOutcome:
    """Return what a launch wrote, or how it ended."""
    kernel = challenger.kernel
    launch = configure(challenger.candidate, prepared, challenger.compiled, challenger.device)
    if isinstance(launch, Finding):
        return replace(faulty(kernel, prepared.case, launch), lost=Property.BATCH_INVARIANT)
    result = run(prepared, challenger.compiled, launch, challenger.device, challenger.budget)
    if result.outputs is None:
        ended = faulty(kernel, prepared.case, result.fault, launch)
        return replace(ended, lost=Property.BATCH_INVARIANT)
    return result.outputs


def _unless_not_judged(ended: CaseOutcome) -> Tested:
    finding = ended.finding
    if finding is not None and finding.kind in NOT_JUDGED:
        return Tested(None, f"at {ended.case}: {finding.message}")
    return Tested(ended)


def _other_bits(
    kernel: Kernel, size: str, part: Part, arguments: Arguments, launched: tuple[Outputs, Outputs]
) -> tuple[Comparison, ...]:
    """Return a comparison for each output some of whose rows have other bits alone than among the others."""
    together, apart = launched
    axes = batch_axes(arguments.parameters, size)
    found = []
    for output in arguments.outputs:
        if output.name not in axes:
            continue
        got = apart[output.name]
        wanted = _rows_of(together[output.name], axes[output.name], part.first, part.case.by_name[size])
        differs = _bits(wanted) != _bits(got)
        marked = differs.reshape(*got.shape, -1).any(axis=-1)
        if marked.any():
            found.append(compare_marked(output, marked, wanted, got, ""))
    return tuple(found)


def _bits(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
