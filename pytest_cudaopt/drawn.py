"""What drawn cases are worth to a kernel that is judged by its declaration alone."""

from __future__ import annotations

from collections.abc import Callable

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.checked import no_launch
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import CudaoptError, DeclarationError, ExpressionError, ReferenceRaised
from pytest_cudaopt.evaluation import Evaluation, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.fuzz import Judged
from pytest_cudaopt.values import WrongArray

# What no other sizes mend.
_WHATEVER_SIZES = (NotImplementedError, TypeError, NameError, AttributeError, ImportError, WrongArray)


def judged_by(
    kernel: Kernel, candidate: Candidate, check: Callable[[Case], Evaluation]
) -> Callable[[Case], Judged[Evaluation]]:
    """Return what says of a case what `check` does, but for cases the declaration is to blame for.

    Those are a reference that raises, and a launch that its rule or the device does not allow.
    """

    def judge(case: Case) -> Judged[Evaluation]:
        try:
            evaluation = check(case)
        except (ReferenceRaised, DeclarationError, ExpressionError) as error:
            why = f"at {case}: {error.short}"
            return Judged(None, discarded=why, whatever_sizes=_is_whatever_sizes(error))
        if (refused := no_launch(kernel, candidate, case, evaluation.finding)) is not None:
            return Judged(None, discarded=f"at {case}: {refused}")
        # Neither gets better by trying more, and a timeout takes its time each time.
        timed_out = evaluation.finding is not None and evaluation.finding.kind is FindingKind.TIMEOUT
        stops = timed_out or evaluation.status in (Status.COMPILE_ERROR, Status.NOT_JUDGED)
        return Judged(evaluation, failed=evaluation.status is not Status.ACCEPTED, stops=stops)

    return judge


def _is_whatever_sizes(error: BaseException) -> bool:
    """Whether `error` goes back to a mistake that has nothing to do with the sizes drawn."""
    cause: BaseException | None = error
    # Ours say where; what they were raised from says what it is.
    while isinstance(cause, CudaoptError) and not isinstance(cause, WrongArray):
        cause = cause.__cause__
    return isinstance(cause, _WHATEVER_SIZES)
