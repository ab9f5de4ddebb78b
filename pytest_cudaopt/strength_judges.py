"""The judges of mutants on a device: the declared cases, and the stages of the ladder beyond them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_cudaopt.arguments import all_elements
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.draw_cases import declared_seed
from pytest_cudaopt.errors import DeclarationError, ExpressionError, LaunchError, ReferenceRaised
from pytest_cudaopt.evaluation import SANITIZE_ELEMENTS, Budget, Evaluation, Plan, Stage, Status
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.machine_code import machine_code
from pytest_cudaopt.pipeline import checker, evaluate
from pytest_cudaopt.plans import CANDIDATE_EXAMPLES
from pytest_cudaopt.sanitize_cases import DRAWN, drawn_cases, small_cases
from pytest_cudaopt.strength import Answer, answer_of, first_of

# A mutant may take this many times the kernel's instructions before it counts as hung.
_BUDGET_FACTOR = 50
_LEAST_INSTRUCTIONS = 1_000_000
# A GPU counts no instructions.
_LAUNCH_TIMEOUT_S = 10.0
_SIZES_NOT_FOR_IT = (ReferenceRaised, DeclarationError, ExpressionError)


@dataclass(frozen=True)
class Judges:
    """What judges the mutants of `kernel` on `device`; `examples` and `seed` are those of fuzzing."""

    kernel: Kernel
    device: Device
    budget: Budget
    examples: int
    seed: int | None = None
    sanitize_elements: int = SANITIZE_ELEMENTS

    def code_of(self, candidate: Candidate) -> str | None:
        """Return a digest of the compiled code, None if there is none."""
        compiled = compile_candidate(self.kernel, candidate, self.device, self.budget)
        if isinstance(compiled, CompileFailure):
            return None
        assert compiled.module.cubin_file is not None  # noqa: S101 - compiling asks for it
        return machine_code(Path(compiled.module.cubin_file).read_bytes())

    def start(self) -> Evaluation:
        """Judge the kernel itself on its declared cases."""
        plan = Plan((Stage.COMPILE, Stage.CHECK), self._declared, budget=self.budget)
        return evaluate(self.kernel, self.kernel.start(), plan, self.device)

    def bounded_by(self, start: Evaluation) -> Judges:
        """Return judges for which a mutant hangs that takes much longer than `start` took."""
        if self.device.is_gpu:
            launch_s = min(self.budget.timeout_s, _LAUNCH_TIMEOUT_S)
            return replace(self, budget=replace(self.budget, launch_timeout_s=launch_s))
        counted = [one.counters["max_block_instructions"] for one in start.outcomes if one.counters]
        most = max(_LEAST_INSTRUCTIONS, _BUDGET_FACTOR * max(map(int, counted), default=0))
        return replace(self, budget=replace(self.budget, block_instructions=most))

    def declared(self, candidate: Candidate) -> Answer | None:
        """Check the declared cases, the smallest first, up to the first that fails."""
        plan = Plan((Stage.COMPILE, Stage.CHECK), self._declared, budget=self.budget, stop_at_first=True)
        return answer_of(evaluate(self.kernel, candidate, plan, self.device), Stage.CHECK)

    def ladder(self, candidate: Candidate) -> Answer | None:
        """Ask the stages beyond the declared cases, the cheapest first."""
        return first_of(self._stages(candidate))

    @property
    def _declared(self) -> tuple[Case, ...]:
        kernel = self.kernel
        return tuple(sorted(kernel.cases, key=lambda case: all_elements(kernel, kernel.all_sizes(case))))

    def _stages(self, candidate: Candidate) -> Iterator[Answer | None]:
        if self.sanitize_elements:
            small = small_cases(self.kernel, self._declared, self.sanitize_elements)
            yield from self._sanitized(candidate, small)
        if self.examples:
            yield self._climbed(candidate)
        if self.sanitize_elements:
            drawn = drawn_cases(self.kernel, self.kernel.start(), DRAWN, self.seed)
            yield from self._sanitized(candidate, drawn)

    def _sanitized(self, candidate: Candidate, cases: tuple[Case, ...]) -> Iterator[Answer | None]:
        plan = Plan((Stage.COMPILE, Stage.SANITIZE), (), budget=self.budget)
        check = checker(self.kernel, candidate, plan, self.device)
        for case in cases:
            try:
                evaluation = check(case)
            except _SIZES_NOT_FOR_IT:
                continue
            # A launch that the rule or the device does not allow says nothing at drawn sizes.
            invalid = evaluation.finding is not None and (
                evaluation.finding.kind is FindingKind.INVALID_LAUNCH and case not in self.kernel.cases
            )
            yield None if invalid else answer_of(evaluation, Stage.SANITIZE)

    def _climbed(self, candidate: Candidate) -> Answer | None:
        """Hold the mutant against the kernel itself, beyond the declared cases."""
        start = self.kernel.start()
        plan = Plan(
            (Stage.COMPILE, Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.CONTRACT),
            self._declared,
            budget=self.budget,
            stop_at_first=True,
            fuzz_examples=CANDIDATE_EXAMPLES * self.examples,
            fuzz_seed=declared_seed(self.kernel) if self.seed is None else self.seed,
            witness=start,
            is_start=candidate.digest == start.digest,
        )
        try:
            evaluation = evaluate(self.kernel, candidate, plan, self.device)
        except LaunchError as error:
            return Answer("fuzz", Status.FAULT, str(error))
        failed = next((outcome for outcome in evaluation.outcomes if outcome.lost is not None), None)
        stage = evaluation.tried[-1].stage if evaluation.tried else Stage.CHECK
        answer = answer_of(evaluation, stage)
        return answer if answer is None or failed is None else replace(answer, case=failed.case)
