"""Fuzzing: judge a kernel at cases nobody listed, and find the smallest one that fails.

Somebody else says which cases there are and what they are worth; hypothesis picks and shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import hypothesis
from hypothesis import strategies
from hypothesis.database import ExampleDatabase

from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.draw_sizes import Pick
from pytest_cudaopt.errors import CudaoptError, DeclarationError

_T = TypeVar("_T")

# hypothesis likes to draw numbers that it found in the modules that happen to be loaded: another selection of
# tests would draw other ones. Nobody writes numbers this large.
_FAR_FROM_ANY_CONSTANT = 1 << 80
# Cases judged to make a failing one smaller.
_MOST_SHRUNK = 80


@dataclass(frozen=True)
class Judged(Generic[_T]):
    """What one drawn case is worth: an answer, or why it says nothing of the kernel.

    `stops` says of a failure that smaller cases are not worth looking for; `whatever_sizes` of a discarded
    case that no other sizes would mend it.
    """

    answer: _T | None
    failed: bool = False
    stops: bool = False
    discarded: str = ""
    whatever_sizes: bool = False


@dataclass(frozen=True)
class Fuzzed(Generic[_T]):
    """What came of it: how many cases were judged, and the smallest that failed, if any.

    `discarded` counts draws that say nothing of the kernel; `why` is the first reason, and `whatever_sizes`
    says that every one was a fault of the declaration, which no sizes mend.
    """

    judged: int
    discarded: int = 0
    why: str = ""
    whatever_sizes: bool = False
    failed: tuple[Case, _T] | None = None

    @property
    def summary(self) -> str:
        """How many cases were drawn, in a few words."""
        dropped = f", {self.discarded} discarded" if self.discarded else ""
        return f"{self.judged + self.discarded} drawn{dropped}"


def all_discarded(kernel: Kernel, fuzzed: Fuzzed[_T]) -> DeclarationError:
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


def fuzz(
    draw: Callable[[Pick], Case],
    judge: Callable[[Case], Judged[_T]],
    examples: int,
    seed: int,
    remembered_as: str = "",
) -> Fuzzed[_T]:
    """Have `examples` drawn cases judged, and the first that fails made smaller; raises what `judge` does.

    A case that failed is kept in the database of hypothesis' current profile under the name
    `remembered_as`, and judged before all others next time; not so without a name.
    """
    fuzzer = _Fuzzer(judge)
    fuzzer.run(draw, examples, seed, _database(remembered_as))
    return fuzzer.result


def examples_of_profile() -> int | None:
    """Return the `max_examples` of the hypothesis profile that somebody chose; None without one.

    Nobody chose the profiles that hypothesis itself loads, on a machine of a CI service another one.
    """
    chosen = hypothesis.settings.get_current_profile_name() not in _OF_HYPOTHESIS
    return int(hypothesis.settings().max_examples) if chosen else None


_OF_HYPOTHESIS = ("default", "ci")


class _Named(ExampleDatabase):
    """The part of a database that belongs to one name: all our tests are one function to hypothesis."""

    def __init__(self, inner: ExampleDatabase, name: str) -> None:
        super().__init__()
        self._inner = inner
        self._name = name.encode() + b"\0"

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._inner.fetch(self._name + key)

    def save(self, key: bytes, value: bytes) -> None:
        self._inner.save(self._name + key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        self._inner.delete(self._name + key, value)


def _database(name: str) -> ExampleDatabase | None:
    inner: ExampleDatabase | None = hypothesis.settings().database
    return _Named(inner, name) if name and inner is not None else None


@dataclass
class _Fuzzer(Generic[_T]):
    judge: Callable[[Case], Judged[_T]]
    judged: dict[Case, Judged[_T]] = field(default_factory=dict)
    failed: tuple[Case, _T] | None = None
    error: CudaoptError | None = None
    shrunk: int = 0

    @property
    def result(self) -> Fuzzed[_T]:
        discarded = [one for one in self.judged.values() if one.discarded]
        return Fuzzed(
            judged=len(self.judged) - len(discarded),
            discarded=len(discarded),
            why=discarded[0].discarded if discarded else "",
            whatever_sizes=bool(discarded) and all(one.whatever_sizes for one in discarded),
            failed=self.failed,
        )

    def run(
        self,
        draw_case: Callable[[Pick], Case],
        examples: int,
        seed: int,
        database: ExampleDatabase | None = None,
    ) -> None:
        @strategies.composite
        def cases(draw: strategies.DrawFn) -> Case:
            return draw_case(lambda low, high: _pick(draw, low, high))

        # Outermost, since a seed takes the database away.
        @hypothesis.settings(_SETTINGS, max_examples=examples, database=database)
        @hypothesis.seed(seed)
        @hypothesis.given(cases())
        def every_case_holds(case: Case) -> None:
            self._look_at(case)

        with suppress(_Failed):
            every_case_holds()
        if self.error is not None:
            raise self.error

    def _look_at(self, case: Case) -> None:
        """Have a case judged once; raise _Failed for one that failed, which hypothesis then makes smaller."""
        if case not in self.judged:
            if self.error is not None or self.shrunk > _MOST_SHRUNK:
                return
            self.shrunk += self.failed is not None
            try:
                self.judged[case] = self.judge(case)
            except CudaoptError as error:
                self.error = error
                return
        found = self.judged[case]
        if not found.failed or found.answer is None:
            return
        # The last one that hypothesis looks at is the smallest.
        self.failed = case, found.answer
        if found.stops:
            self.shrunk = _MOST_SHRUNK + 1
        raise _Failed


class _Failed(Exception):
    """A case failed."""


_SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=(hypothesis.Phase.reuse, hypothesis.Phase.generate, hypothesis.Phase.shrink),
    report_multiple_bugs=False,
    print_blob=False,
    verbosity=hypothesis.Verbosity.quiet,
)


def _pick(draw: strategies.DrawFn, low: int, high: int) -> int:
    far = strategies.integers(_FAR_FROM_ANY_CONSTANT + low, _FAR_FROM_ANY_CONSTANT + high)
    return draw(far) - _FAR_FROM_ANY_CONSTANT
