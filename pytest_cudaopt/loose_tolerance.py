"""Ask whether a declared tolerance means anything: what it would let pass that is no result of the kernel's.

A substitute is held against the reference by the very comparison that judges kernels: the results in one
precision less, zeros, the results of other inputs. Nothing is launched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_cudaopt.criterion import Criterion, criterion
from pytest_cudaopt.dtypes import BY_NAME, DType
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.rounding import round_to, spacing, stored
from pytest_cudaopt.substitutes import FEW, Substitutes, lower_precisions, through
from pytest_cudaopt.validate import compare

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LooseKind(StrEnum):
    """What would pass."""

    ROUNDED_OUTPUTS = "rounded_outputs"
    ROUNDED_INPUTS = "rounded_inputs"
    ZEROS = "zeros"
    OTHER_INPUTS = "other_inputs"
    ANY_INPUTS = "any_inputs"


@dataclass(frozen=True)
class LooseTolerance:
    """One output whose tolerance lets something pass at one case.

    `tight` is a tolerance that would notice it, and that a right kernel can meet; None where no tolerance
    would, since the outputs are the same whatever the inputs are.
    """

    kind: LooseKind
    output: str
    case_id: str
    message: str
    tight: Criterion | None = None

    def __str__(self) -> str:
        return f"{self.case_id}: {self.message}"


# Units in the last place that a right kernel may need: as the defaults of the dtypes.
_LEAST_ULP = 8.0


def loose_tolerances(cases: Iterable[PreparedCase]) -> tuple[LooseTolerance, ...]:
    """Return what the tolerances of a kernel's cases would let pass, at most one per kind, output and case.

    Outputs that `accept=` judges are left out. A few elements may lie near anything by chance: they count
    only if no case as large notices, or has more of them. That an output does not depend on its inputs is
    said only if it does at none of the cases: short rows are often constant.
    Raises what the reference raises on the cases' own inputs.
    """
    judged = [_judge(prepared) for prepared in cases]
    return tuple(
        one
        for of_case in judged
        for one in of_case.found
        if not any(other.excuses(one, of_case) for other in judged)
    )


@dataclass(frozen=True)
class _Judged:
    """What was found at a case of so many `elements`.

    `outputs` are compared there; those in `few` have few elements, those in `dependent` are known to depend
    on the inputs.
    """

    elements: int
    outputs: frozenset[str]
    few: frozenset[str]
    dependent: frozenset[str]
    found: tuple[LooseTolerance, ...]

    def excuses(self, one: LooseTolerance, of_case: _Judged) -> bool:
        """Whether this case shows that what was found at another is nothing but chance."""
        if one.kind is LooseKind.ANY_INPUTS:
            return one.output in self.dependent
        here = {found.kind for found in self.found if found.output == one.output}
        if one.output not in self.outputs or LooseKind.ANY_INPUTS in here:
            return False
        if self is of_case or one.output not in of_case.few or self.elements < of_case.elements:
            return False
        return one.output not in self.few or one.kind not in here


def _judge(prepared: PreparedCase) -> _Judged:
    of_case = Substitutes.of(prepared)
    outputs = [_Output(of_case, parameter) for parameter in of_case.judged]
    return _Judged(
        elements=sum(math.prod(shape) for shape in prepared.arguments.shapes.values()),
        outputs=frozenset(one.name for one in outputs if one.elements),
        few=frozenset(one.name for one in outputs if one.elements < FEW),
        dependent=frozenset(one.name for one in outputs if one.is_dependent),
        found=tuple(found for one in outputs for found in one.too_loose()),
    )


class _Output:
    """One output of a case, its tolerance, and what that lets pass."""

    def __init__(self, case: Substitutes, parameter: Parameter) -> None:
        self._case = case
        self._parameter = parameter
        self._expected = case.expected.arrays[parameter.name]
        unwritten = case.expected.unwritten.get(parameter.name)
        self._compared = None if unwritten is None else ~unwritten
        kernel = case.prepared.kernel
        self._declared = criterion(parameter, kernel.tolerance, case.expected.arguments.sizes)
        self._right = self._stored(self._expected)
        self._others = [self._stored(one.arrays[self.name]) for one in case.others]

    @property
    def is_dependent(self) -> bool:
        """Whether other inputs are known to give another result."""
        return any(self._differing(other) for other in self._others)

    @property
    def _is_constant(self) -> bool:
        """Whether other inputs are known to give the same result, which is not to leave things alone."""
        is_known = bool(self._others) and self.elements > 0
        return is_known and not self.is_dependent and not self._is_left_alone

    def too_loose(self) -> Iterator[LooseTolerance]:
        """Yield what would pass."""
        if self._is_constant:
            yield self._found(LooseKind.ANY_INPUTS, "the result does not depend on the inputs", None)
            return
        if self._declared.exact:
            return
        yield from self._zeros()
        yield from self._other_inputs()
        yield from self._one_precision_less()

    def _zeros(self) -> Iterator[LooseTolerance]:
        zeros = np.zeros_like(self._right)
        if self._passes(zeros, self._declared):
            yield from self._noticeable(LooseKind.ZEROS, "zeros", zeros)

    def _other_inputs(self) -> Iterator[LooseTolerance]:
        others = self._others
        if others and all(self._passes(one, self._declared) for one in others):
            yield from self._noticeable(LooseKind.OTHER_INPUTS, "the result of other inputs", others[0])

    def _one_precision_less(self) -> Iterator[LooseTolerance]:
        """Yield the coarsest precision that passes, of the results and of the inputs."""
        exact, dtype = self._expected.astype(np.float64), self._parameter.dtype
        lower = lower_precisions(self._parameter, self._case.expected.arguments)
        outputs = {name: through(exact, dtype, BY_NAME[name]) for name in lower}
        inputs = {
            name: self._stored(self._case.rounded[name].arrays[self.name])
            for name in lower
            if name in self._case.rounded
        }
        telling = {
            name: one
            for name, one in outputs.items()
            if self._tells(one) or (self._differing(one) and self._worst_passes(BY_NAME[name]))
        }
        yield from self._coarsest(LooseKind.ROUNDED_OUTPUTS, "the result", telling)
        telling = {name: one for name, one in inputs.items() if self._tells(one)}
        yield from self._coarsest(LooseKind.ROUNDED_INPUTS, "the result of inputs", telling)

    def _coarsest(
        self, kind: LooseKind, what: str, by_precision: dict[str, NDArray[Any]]
    ) -> Iterator[LooseTolerance]:
        passing = [name for name, one in by_precision.items() if self._passes(one, self._declared)]
        if passing:
            substitutes = [by_precision[name] for name in passing]
            yield from self._noticeable(kind, f"{what} rounded to {passing[0]}", *substitutes)

    def _tells(self, substitute: NDArray[Any]) -> bool:
        return self._differing(substitute) >= FEW

    def _worst_passes(self, to: DType) -> bool:
        """Whether the largest error that rounding can make passes, whatever these numbers happen to be."""
        exact = self._expected.astype(np.float64)
        with np.errstate(all="ignore"):
            moved = exact + np.sign(exact) * spacing(to, exact) / 2
        return self._passes(round_to(self._parameter.dtype, moved), self._declared)

    def _noticeable(
        self, kind: LooseKind, what: str, named: NDArray[Any], *finer: NDArray[Any]
    ) -> Iterator[LooseTolerance]:
        """Yield the finding, if a tolerance that a right kernel can meet would notice what is `named`.

        It is one that notices the `finer` ones too, if such a kernel can meet that as well.
        """
        noticing = [tight for tight in self._tighter() if not self._passes(named, tight)]
        best = (tight for tight in noticing if not any(self._passes(one, tight) for one in finer))
        if noticing:
            yield self._found(kind, what, next(best, noticing[0]))

    def _tighter(self) -> Iterator[Criterion]:
        """Yield tolerances that are tighter by powers of ten, down to what the dtype's default stands for."""
        dtype, declared = self._parameter.dtype, self._declared
        if not dtype.is_float:
            yield Criterion()
            return
        # The default's absolute part is meant for numbers around 1.
        least = Criterion(dtype.rtol, dtype.atol * min(1.0, self._largest), _LEAST_ULP)
        scale = 1.0
        while True:
            scale /= 10
            tight = Criterion(
                max(declared.rtol * scale, min(declared.rtol, least.rtol)),
                max(declared.atol * scale, min(declared.atol, least.atol)),
                max(declared.ulp * scale, min(declared.ulp, least.ulp)),
            )
            yield tight
            if tight.rtol <= least.rtol and tight.atol <= least.atol and tight.ulp <= least.ulp:
                return

    def _found(self, kind: LooseKind, what: str, tight: Criterion | None) -> LooseTolerance:
        name = self.name
        if tight is None:
            message = f"'{name}': {what}, so no comparison can tell whether they were read"
        else:
            now = _spelled(self._declared)
            message = f"'{name}': {what} would pass {now}; {_spelled(tight)} would notice it"
        prepared = self._case.prepared
        return LooseTolerance(kind, name, prepared.kernel.id_of(prepared.case), message, tight)

    def _passes(self, substitute: NDArray[Any], judged_by: Criterion) -> bool:
        return compare(self._parameter, self._expected, substitute, judged_by, self._compared).matches

    def _stored(self, values: NDArray[Any]) -> NDArray[Any]:
        dtype = self._parameter.dtype
        if dtype.is_float:
            return round_to(dtype, values.astype(np.float64))
        return stored(dtype, values)

    def _differing(self, substitute: NDArray[Any]) -> int:
        """Return how many elements are not those of a right result."""
        with np.errstate(invalid="ignore"):
            right, other = self._right.astype(np.float64), substitute.astype(np.float64)
            differ = (right != other) & ~(np.isnan(right) & np.isnan(other))
        return int(np.count_nonzero(differ if self._compared is None else differ & self._compared))

    @property
    def name(self) -> str:
        return self._parameter.name

    @property
    def elements(self) -> int:
        """How many are compared."""
        return self._right.size if self._compared is None else int(np.count_nonzero(self._compared))

    @property
    def _is_left_alone(self) -> bool:
        """Whether the reference leaves an InOut as it finds it."""
        before = self._case.expected.arguments.arrays.get(self.name)
        return before is not None and self._differing(before) == 0

    @property
    def _largest(self) -> float:
        known = np.abs(self._expected.astype(np.float64))
        return float(np.max(known, initial=0.0, where=np.isfinite(known)))


def _spelled(tolerance: Criterion) -> str:
    ulp = (f"ulp={tolerance.ulp:.2g}",) if tolerance.ulp else ()
    return ", ".join((f"rtol={tolerance.rtol:.2g}", f"atol={tolerance.atol:.2g}", *ulp))
