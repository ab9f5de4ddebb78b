"""Judge a candidate at a case beyond what is declared: it owes what the starting kernel can do there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_cudaopt.agreement import compare_outputs
from pytest_cudaopt.by_chance import other_draws
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import Checked, check_case, explained, no_launch
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import (
    CudaoptError,
    DeclarationError,
    ExpressionError,
    ReferenceFault,
    ReferenceRaised,
)
from pytest_cudaopt.evaluation import Budget, CaseOutcome, CaseStatus, Comparison
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.neighbours import undetermined_signs
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.properties import Property
from pytest_cudaopt.stricter import stricter
from pytest_cudaopt.tripwire import Tripwire
from pytest_cudaopt.validate import compare_marked
from pytest_cudaopt.witness import Observed, determined_outputs, fault_of_start, has_faulted, observe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A hang costs a GPU's process, and no trial takes so long otherwise.
_TRIAL_TIMEOUT_S = 10.0
# Right kernels take milliseconds at larger sizes, and the others bind nobody.
_LARGER_TIMEOUT_S = 0.5
# What a block may execute on `sim`, and how many times what one did at the declared cases.
_LEAST_TRIAL_INSTRUCTIONS = 5_000_000
_TRIAL_FACTOR = 50
# Some seconds' worth.
_MOST_THREADS_ON_SIM = 1 << 27


@dataclass(frozen=True)
class Tested:
    """How a trial ended: an outcome, or why it binds nobody.

    `took_long` says that the candidate did not end in time, where nobody has said how long it may take.
    """

    outcome: CaseOutcome | None
    why: str = ""
    took_long: bool = False


@dataclass(frozen=True)
class Challenger:
    """A compiled candidate beside the starting kernel it is held against.

    `tripwires` are what a scan of its code found that the start's has not.
    """

    kernel: Kernel
    candidate: Candidate
    compiled: Compiled
    witness: Candidate
    device: Device
    budget: Budget
    tripwires: tuple[Tripwire, ...] = ()
    is_start: bool = False

    def owes(self, asked: Property) -> bool:
        """Whether it must have the property, if the start has."""
        return self.kernel.obligations.binds(asked)

    def requires(self, asked: Property) -> bool:
        """Whether it must have the property, whatever the start has."""
        required = self.kernel.obligations.required
        return asked in required or (self.is_start and asked is Property.FUZZED_SIZES)

    def stand(self, asked: Property, case: Case) -> Tested:
        """Judge the candidate at `case`; what the start or the reference cannot do there binds nobody.

        Raises as `pipeline.evaluate` does, except where only the case is to blame.
        """
        required = self.requires(asked)
        if asked is Property.LARGER_SIZES and (threads := self._threads(case)) > _MOST_THREADS_ON_SIM:
            return Tested(None, f"at {case}: its launch has {threads} threads, too many for sim")
        if asked.is_risky and not required and not self.observed(asked, case).holds:
            return Tested(None, self.observed(asked, case).why)
        if not required and (fault := self._fault_of_start(case)) is not None:
            return Tested(None, f"at {case}: the starting kernel fails there: {fault.message}")
        try:
            checked = self.check(case, _LARGER_TIMEOUT_S if asked is Property.LARGER_SIZES else None)
        except (ReferenceFault, DeclarationError, ExpressionError) as error:
            # At sizes of the contract a reference may raise, but not leave outputs unwritten.
            raised = not isinstance(error, ReferenceFault) or isinstance(error, ReferenceRaised)
            if asked is Property.FUZZED_SIZES and not raised:
                raise
            return Tested(None, f"at {case}: {error.short}")
        wrong = _beyond_tolerance(checked, asked, {}) if checked.passed else ()
        if checked.passed and not wrong:
            return Tested(checked.outcome)
        if checked.outcome.status is CaseStatus.UNSUPPORTED:
            return Tested(None, f"at {case}: {checked.outcome.findings[0].message}")
        if asked is Property.LARGER_SIZES and _takes_long(checked):
            # How much longer a right kernel may take there, nobody has said.
            return Tested(None, f"at {case}: {checked.outcome.findings[0].message}", took_long=True)
        refused = no_launch(self.kernel, self.candidate, case, checked.outcome.finding)
        observed = self.observed(asked, case)
        if refused is not None and not observed.holds:
            return Tested(None, f"at {case}: {refused}")
        if not observed.holds and not required:
            return Tested(None, f"at {case}: {observed.why}")
        outcome = _with_slack(checked, asked, observed)
        if outcome.status is not CaseStatus.PASSED and not required and (why := self._luck(asked, case)):
            return Tested(None, f"at {case}: {why}")
        return Tested(outcome)

    def check(self, case: Case, most_s: float | None = None) -> Checked:
        """Check the candidate, on a GPU within `most_s`; raises as `check_case` does."""
        budget = self.budget
        if most_s is not None and self.device.is_gpu:
            budget = replace(budget, launch_timeout_s=min(most_s, budget.launching_timeout_s))
        return check_case(self.kernel, self.candidate, self.compiled, case, self.device, budget)

    def explained(self, failed: CaseOutcome) -> CaseOutcome:
        """Return a failure of the candidate with what `sim` says of one on a GPU."""
        prepared = prepare(self.kernel, failed.case, self.device)
        return explained(failed, prepared, self.compiled, self.device, self.budget)

    def check_start(self, case: Case) -> Checked | None:
        """Check the starting kernel; None if it does not compile."""
        compiled = compile_candidate(self.kernel, self.witness, self.device, self.budget, (case,))
        if isinstance(compiled, CompileFailure):
            return None
        return check_case(self.kernel, self.witness, compiled, case, self.device, self.budget)

    def observed(self, asked: Property, case: Case) -> Observed:
        """Return what the start does at `case`, asked once and remembered."""
        return observe(self.kernel, self.witness, case, self.device, self.budget, asked)

    def _luck(self, asked: Property, case: Case) -> str:
        """Return why the start is right at `case` by chance; nothing if it is right at other draws too."""
        for other in other_draws(self.kernel, asked, case):
            observed = self.observed(asked, other)
            if not observed.holds:
                return f"the starting kernel is right there by chance: at {other} {observed.why}"
        return ""

    def _fault_of_start(self, case: Case) -> Finding | None:
        """Return what ends the start at `case`, asked of `sim` once a GPU's process was lost to it."""
        if not self.device.is_gpu or not has_faulted(self.kernel, self.witness, self.device):
            return None
        return fault_of_start(self.kernel, self.witness, case, self.device, self.budget)

    def _threads(self, case: Case) -> int:
        """Return how many threads the candidate's launch would have on `sim`; 0 if nobody can say."""
        if self.device.is_gpu:
            return 0
        with suppress(CudaoptError):
            launch = self.candidate.configure(self.kernel.all_sizes(case))
            return math.prod(launch.grid) * math.prod(launch.block)
        return 0


def trial_budget(budget: Budget, device: Device, checked: Iterable[CaseOutcome]) -> Budget:
    """Bound each trial by what the declared cases took: they are small, and there are many."""
    if device.is_gpu:
        return replace(budget, launch_timeout_s=min(_TRIAL_TIMEOUT_S, budget.launching_timeout_s))
    if budget.block_instructions is not None:
        return budget
    counted = [int(one.counters["max_block_instructions"]) for one in checked if one.counters]
    most = max(_LEAST_TRIAL_INSTRUCTIONS, _TRIAL_FACTOR * max(counted, default=0))
    return replace(budget, block_instructions=most)


def _takes_long(checked: Checked) -> bool:
    finding = checked.outcome.finding
    return finding is not None and finding.kind is FindingKind.TIMEOUT


def _with_slack(checked: Checked, asked: Property, observed: Observed) -> CaseOutcome:
    """Judge again what failed, now that it is known how well the start does."""
    outcome = checked.outcome
    if outcome.status is CaseStatus.FAULT or checked.expected is None or checked.outputs is None:
        return replace(outcome, lost=asked)
    agreement = compare_outputs(
        checked.prepared.kernel, checked.expected, checked.outputs, slack=observed.slack
    )
    if not agreement.holds and not outcome.note:
        determined = determined_outputs(checked)
        agreement = compare_outputs(
            checked.prepared.kernel, checked.expected, determined, slack=observed.slack
        )
    # A launch that went wrong the second time only has other outputs than those of the first.
    if agreement.holds or outcome.note:
        wrong = _beyond_tolerance(checked, asked, observed.failing)
        if not wrong and agreement.holds:
            return replace(outcome, status=CaseStatus.PASSED, comparisons=agreement.comparisons)
        if wrong:
            note = f"right within its tolerance, but not {asked.meaning}"
            return replace(outcome, status=CaseStatus.LOST, comparisons=wrong, note=note, lost=asked)
    # At sizes of the contract nothing is inherited: wrong is wrong.
    status = CaseStatus.WRONG if asked is Property.FUZZED_SIZES else CaseStatus.LOST
    return replace(outcome, status=status, comparisons=agreement.comparisons, lost=asked)


def _beyond_tolerance(
    checked: Checked, asked: Property, excused: Mapping[str, NDArray[np.bool_]]
) -> tuple[Comparison, ...]:
    """Return a comparison for each output that lacks what the property asks for beyond tolerances."""
    expected, outputs = checked.expected, checked.outputs
    if expected is None or outputs is None:
        return ()
    found = []
    for output in expected.arguments.outputs:
        if output.name not in expected.arrays:
            continue
        wanted, got = expected.arrays[output.name], outputs[output.name]
        wrong = stricter(asked, output, wanted, got)
        if wrong is None:
            continue
        start = excused.get(output.name)
        standing = wrong if start is None else wrong & ~start
        if asked is Property.SIGNED_ZEROS and standing.any():
            standing &= ~undetermined_signs(checked.prepared.kernel, expected, output)
        if standing.any():
            found.append(compare_marked(output, standing, wanted, got, ""))
    return tuple(found)
