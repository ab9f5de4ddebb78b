"""Fuzzing: judge a kernel at sizes and contents nobody listed, and find the smallest case that fails.

Cases come from `draw_cases`, what they are worth from the judge; hypothesis picks and shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import hypothesis
from hypothesis import strategies

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.draw_cases import declared_seed, draws_of
from pytest_cudaopt.errors import CudaoptError, DeclarationError, ExpressionError, ReferenceRaised
from pytest_cudaopt.evaluation import Evaluation, Plan, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import checker
from pytest_cudaopt.values import WrongArray

# hypothesis likes to draw numbers that it found in the modules that happen to be loaded: another selection of
# tests would draw other ones. Nobody writes numbers this large.
_FAR_FROM_ANY_CONSTANT = 1 << 80
# What no other sizes mend.
_WHATEVER_SIZES = (NotImplementedError, TypeError, NameError, AttributeError, ImportError, WrongArray)
# Cases judged to make a failing one smaller.
_MOST_SHRUNK = 80


@dataclass(frozen=True)
class Fuzzed:
    """What came of it: how many cases were judged, and the smallest that failed or was not judged, if any.

    `discarded` counts draws that say nothing of the kernel: a reference that raises, a launch that its rule
    or the device does not allow; `why` is the first reason, and `whatever_sizes` says that every one was a
    fault of the declaration, which no sizes mend.
    """

    judged: int
    discarded: int = 0
    why: str = ""
    whatever_sizes: bool = False
    failed: tuple[Case, Evaluation] | None = None

    @property
    def summary(self) -> str:
        """How many cases were drawn, in a few words."""
        dropped = f", {self.discarded} discarded" if self.discarded else ""
        return f"{self.judged + self.discarded} drawn{dropped}"


def all_discarded(kernel: Kernel, fuzzed: Fuzzed) -> DeclarationError:
    """Return the error of a kernel whose every draw was discarded: nothing was judged."""
    if fuzzed.whatever_sizes:
        expected = "a reference and values= that work"
        got = f"{fuzzed.discarded} draws, none of which works; the first {fuzzed.why}"
        next_step = "Mend that: whatever the sizes drawn, it failed"
    else:
        expected = "sizes that its reference, its values and its launch rule accept"
        got = f"{fuzzed.discarded} draws, none of them such; the first {fuzzed.why}"
        next_step = "Say with domain=, where= or choices= which sizes the kernel is for"
    return DeclarationError(
        f"kernel '{kernel.name}', fuzzing",
        expected=expected,
        got=got,
        next_step=next_step,
        at=kernel.location,
    )


def _is_whatever_sizes(error: BaseException) -> bool:
    """Whether `error` goes back to a mistake that has nothing to do with the sizes drawn."""
    cause: BaseException | None = error
    # Ours say where; what they were raised from says what it is.
    while isinstance(cause, CudaoptError) and not isinstance(cause, WrongArray):
        cause = cause.__cause__
    return isinstance(cause, _WHATEVER_SIZES)


def fuzz(
    kernel: Kernel, candidate: Candidate, plan: Plan, device: Device, examples: int, seed: int | None
) -> Fuzzed:
    """Judge `candidate` at `examples` drawn cases; the plan's own cases are left out.

    A `seed` of None stands for one that depends on the declaration only. Raises as `evaluate` does, except
    where only a draw is to blame.
    """
    judge = _Fuzzer(kernel, candidate, checker(kernel, candidate, plan, device))
    judge.run(examples, declared_seed(kernel) if seed is None else seed)
    return judge.result


@dataclass
class _Fuzzer:
    kernel: Kernel
    candidate: Candidate
    check: Callable[[Case], Evaluation]
    evaluations: dict[Case, Evaluation] = field(default_factory=dict)
    discarded: dict[Case, str] = field(default_factory=dict)
    # Whether each of them was, whatever its sizes.
    mistaken: list[bool] = field(default_factory=list)
    failed: tuple[Case, Evaluation] | None = None
    error: CudaoptError | None = None
    shrunk: int = 0

    @property
    def result(self) -> Fuzzed:
        unjudged = ((c, e) for c, e in self.evaluations.items() if e.status is Status.NOT_JUDGED)
        return Fuzzed(
            judged=len(self.evaluations),
            discarded=len(self.discarded),
            why=next(iter(self.discarded.values()), ""),
            whatever_sizes=bool(self.mistaken) and all(self.mistaken),
            failed=self.failed or next(unjudged, None),
        )

    def run(self, examples: int, seed: int) -> None:
        make = draws_of(self.kernel, self.candidate)

        @strategies.composite
        def cases(draw: strategies.DrawFn) -> Case:
            return make(lambda low, high: _pick(draw, low, high))

        @hypothesis.seed(seed)
        @hypothesis.settings(_SETTINGS, max_examples=examples)
        @hypothesis.given(cases())
        def every_case_holds(case: Case) -> None:
            self._judge(case)

        with suppress(_Failed):
            every_case_holds()
        if self.error is not None:
            raise self.error

    def _judge(self, case: Case) -> None:
        """Judge a case once; raise _Failed for one that failed, which hypothesis then makes smaller."""
        if case not in self.evaluations and case not in self.discarded:
            if self.error is not None or self.shrunk > _MOST_SHRUNK:
                return
            self.shrunk += self.failed is not None
            self._judge_new(case)
        evaluation = self.evaluations.get(case)
        if evaluation is None or evaluation.status in (Status.ACCEPTED, Status.NOT_JUDGED):
            return
        # The last one that hypothesis looks at is the smallest.
        self.failed = case, evaluation
        # Neither gets better by trying more, and a timeout takes its time each time.
        timed_out = evaluation.finding is not None and evaluation.finding.kind is FindingKind.TIMEOUT
        if evaluation.status is Status.COMPILE_ERROR or timed_out:
            self.shrunk = _MOST_SHRUNK + 1
        raise _Failed

    def _judge_new(self, case: Case) -> None:
        try:
            evaluation = self.check(case)
        except (ReferenceRaised, DeclarationError, ExpressionError) as error:
            got = (error.got or "").splitlines()
            self._discard(
                case, f"{error.what}: {got[0] if got else error.expected}", _is_whatever_sizes(error)
            )
        except CudaoptError as error:
            self.error = error
        else:
            why = _no_launch(self.kernel, self.candidate, case, evaluation)
            if why is None:
                self.evaluations[case] = evaluation
            else:
                self._discard(case, why, False)

    def _discard(self, case: Case, why: str, is_mistaken: bool) -> None:
        self.discarded[case] = f"at {case}: {why}"
        self.mistaken.append(is_mistaken)


class _Failed(Exception):
    """A case failed."""


_SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    report_multiple_bugs=False,
    print_blob=False,
    verbosity=hypothesis.Verbosity.quiet,
)


def _pick(draw: strategies.DrawFn, low: int, high: int) -> int:
    far = strategies.integers(_FAR_FROM_ANY_CONSTANT + low, _FAR_FROM_ANY_CONSTANT + high)
    return draw(far) - _FAR_FROM_ANY_CONSTANT


def _no_launch(kernel: Kernel, candidate: Candidate, case: Case, evaluation: Evaluation) -> str | None:
    """Return why the launch rule or the device allows no launch at these sizes, if that is all there is."""
    finding = evaluation.finding
    if finding is None or finding.kind is not FindingKind.INVALID_LAUNCH:
        return None
    try:
        launch = candidate.configure(kernel.all_sizes(case))
    except CudaoptError:
        return finding.message
    # A rule that forgets elements launches nothing where there are few of them.
    return None if launch.is_empty else finding.message
