"""Check one case: launch, and compare what was written with the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_cudaopt.agreement import compare_launches
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import Compiled
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError, ReferenceUnsupported
from pytest_cudaopt.evaluation import Budget, CaseOutcome, CaseStatus
from pytest_cudaopt.expectation import Expectation
from pytest_cudaopt.finding import NOT_JUDGED, Finding, FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.outputs import Outputs
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure, fault_on_sim, run


@dataclass(frozen=True, eq=False)
class Checked:
    """How a case ended; with what was launched, and what the launch wrote, as far as it came."""

    outcome: CaseOutcome
    prepared: PreparedCase
    compiled: Compiled
    launch: LaunchConfiguration | None = None
    expected: Expectation | None = None
    outputs: Outputs | None = None

    @property
    def passed(self) -> bool:
        return self.outcome.status is CaseStatus.PASSED


def check_case(
    kernel: Kernel, candidate: Candidate, compiled: Compiled, case: Case, device: Device, budget: Budget
) -> Checked:
    """Launch `case` on poisoned outputs and compare; raises as `pipeline.evaluate` does.

    What went wrong on a GPU is not explained yet: `explained` does that.
    """
    prepared = prepare(kernel, case, device)
    try:
        # A reference that raises is reported as such, whatever the kernel does.
        expected = prepared.expected
    except ReferenceUnsupported as error:
        finding = Finding(FindingKind.UNSUPPORTED_INSTRUCTION, str(error))
        return Checked(faulty(kernel, case, finding), prepared, compiled)
    launch = configure(candidate, prepared, compiled, device)
    if isinstance(launch, Finding):
        return Checked(faulty(kernel, case, launch), prepared, compiled, expected=expected)
    result = run(prepared, compiled, launch, device, budget)
    if result.fault is not None or result.outputs is None:
        fault = replace(faulty(kernel, case, result.fault, launch), printed=result.printed)
        return Checked(fault, prepared, compiled, launch, expected)
    agreement = compare_launches(kernel, expected, result.outputs, result.outputs_again)
    outcome = CaseOutcome(
        case,
        kernel.id_of(case),
        CaseStatus.PASSED,
        launch,
        agreement.comparisons,
        counters=result.counters,
        printed=result.printed,
    )
    if not agreement.holds:
        outcome = replace(outcome, status=CaseStatus.WRONG, note=agreement.note)
    return Checked(outcome, prepared, compiled, launch, expected, result.outputs_again or result.outputs)


def explained(
    outcome: CaseOutcome, prepared: PreparedCase, compiled: Compiled, device: Device, budget: Budget
) -> CaseOutcome:
    """Return a failure with what `sim` says of it: the place of a GPU's fault, or the one it did not notice.

    It executes the launch once more, which is worth it for what a person will see, and for nothing else.
    """
    if outcome.launch is None or outcome.status not in _EXPLAINED:
        return outcome
    seen = fault_on_sim(outcome.finding, prepared, compiled, outcome.launch, device, budget)
    if seen is None:
        return outcome
    # A fault on one device is one on the other, whatever the other noticed.
    return replace(outcome, status=CaseStatus.FAULT, findings=(seen,))


_EXPLAINED = (CaseStatus.WRONG, CaseStatus.FAULT, CaseStatus.LOST)


def faulty(
    kernel: Kernel, case: Case, finding: Finding | None, launch: LaunchConfiguration | None = None
) -> CaseOutcome:
    """Return the outcome of a case that a fault ended, or that could not be judged."""
    not_judged = finding is not None and finding.kind in NOT_JUDGED
    status = CaseStatus.UNSUPPORTED if not_judged else CaseStatus.FAULT
    return CaseOutcome(
        case, kernel.id_of(case), status, launch, findings=() if finding is None else (finding,)
    )


def no_launch(kernel: Kernel, candidate: Candidate, case: Case, finding: Finding | None) -> str | None:
    """Return why the launch rule or the device allows no launch at these sizes, if that is all there is."""
    if finding is None or finding.kind is not FindingKind.INVALID_LAUNCH:
        return None
    try:
        launch = candidate.configure(kernel.all_sizes(case))
    except CudaoptError:
        return finding.message
    # A rule that forgets elements launches nothing where there are few of them.
    return None if launch.is_empty else finding.message
