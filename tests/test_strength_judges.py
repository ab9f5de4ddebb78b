"""The strength of suites on the simulator: a friendly one lets mistakes through, a strong one does not."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from pathlib import Path

from judged_kernels import axpy

from pytest_cudaopt import case
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Status
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.mutate.mutants import mutants
from pytest_cudaopt.strength import Fate, Strength, strength
from pytest_cudaopt.strength_judges import Judges

EXAMPLES = Path(__file__).parent.parent / "example_kernels"
FRIENDLY = (case(n=256),)
STRONG = (case(n=256), case(n=1), case(n=1000), case(n=131), case(n=40_000))


def judges(kernel: Kernel, device: Device, examples: int = 10) -> Judges:
    free = Judges(kernel, device, Budget(), examples)
    return free.bounded_by(free.start())


def measured(kernel: Kernel, device: Device, kinds: Container[MutantKind] = MutantKind) -> Strength:
    asked = judges(kernel, device)
    found = [one for one in mutants(kernel.start(), kernel) if one.kind in kinds]
    return strength(kernel, found, asked.declared, asked.ladder, asked.code_of)


def with_cases(kernel: Kernel, cases: Iterable[Case]) -> Kernel:
    return replace(kernel, cases=tuple(cases))


def fate_of(found: Strength, after: str) -> Fate:
    (one,) = [one for one in found.judged if one.mutant.after == after]
    return one.fate


def test_a_friendly_case_misses_a_guard_that_the_ladder_asks_for(tmp_path: Path, sim: Device) -> None:
    found = measured(axpy(tmp_path, cases=FRIENDLY), sim)

    for dropped in ("if (true) {", "if (i <= n) {", "if (i < n / 4 * 4) {"):
        assert fate_of(found, dropped) is Fate.LADDER
    guard = next(one for one in found.judged if one.mutant.kind is MutantKind.DROPPED_GUARD)
    missing = found.missing_case(guard)
    assert missing is not None
    # Declared, it does what it is shown for.
    mended = judges(axpy(tmp_path, cases=[*FRIENDLY, missing]), sim)
    killed = mended.declared(guard.mutant.candidate)
    assert killed is not None
    assert (killed.is_kill, killed.case) == (True, missing)


def test_a_strong_suite_misses_nothing_that_any_stage_finds(tmp_path: Path, sim: Device) -> None:
    found = measured(axpy(tmp_path, cases=STRONG), sim)

    assert [one.mutant.after for one in found.judged if one.fate is Fate.LADDER] == []
    assert found.killed_by_declared() == found.killed_by_ladder() > 10
    # What is left needs more than 2^31 elements.
    survived = {one.mutant.kind for one in found.judged if one.fate is Fate.SURVIVED}
    assert survived <= {MutantKind.NARROWER_TYPE}


def test_without_the_ladder_only_the_declared_cases_kill(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path, cases=FRIENDLY)
    asked = replace(judges(kernel, sim, examples=0), sanitize_elements=0)
    (guard,) = [one for one in mutants(kernel.start(), kernel) if one.kind is MutantKind.DROPPED_GUARD]

    assert asked.declared(guard.candidate) is None
    assert asked.ladder(guard.candidate) is None
    assert judges(kernel, sim).ladder(guard.candidate) is not None


def test_a_tolerance_that_a_half_passes_lets_narrower_types_survive(tmp_path: Path, sim: Device) -> None:
    narrower = {MutantKind.NARROWER_TYPE}
    strict = measured(axpy(tmp_path, cases=STRONG), sim, narrower)
    loose = measured(axpy(tmp_path, cases=STRONG, rtol=1e-2), sim, narrower)
    rounded = "y[i] = __int_as_float(__float_as_int(a * x[i] + 1.0f) & 0xffffe000);"

    assert fate_of(strict, rounded) is Fate.DECLARED
    assert fate_of(loose, rounded) is Fate.SURVIVED


def test_code_that_compiles_to_the_same_is_recognised(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path)
    asked, start = judges(kernel, sim), kernel.start()
    same = {
        "a comment": start.source.replace("if (i", "/* here */ if (i"),
        "a name": start.source.replace("int i", "int k").replace("i < n", "k < n").replace("[i]", "[k]"),
        "a line": "\n" + start.source,
    }
    for source in same.values():
        assert asked.code_of(replace(start, source=source)) == asked.code_of(start)
    assert asked.code_of(replace(start, source=start.source.replace("<", "<="))) != asked.code_of(start)
    assert asked.code_of(replace(start, source=start.source.replace("int i", "int"))) is None


def test_a_mutant_that_never_ends_is_killed_by_its_instructions(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path, ("if (i < n) {", "for (; i < n; i += blockDim.x * gridDim.x) {"))
    start = kernel.start()
    hung = replace(start, source=start.source.replace("i += blockDim.x * gridDim.x", ""))
    asked = judges(kernel, sim)
    answer = asked.declared(hung)

    assert asked.budget.block_instructions is not None
    assert answer is not None
    assert (answer.status, answer.is_kill) == (Status.FAULT, True)


def test_races_that_no_result_shows_are_the_ladders(sim: Device) -> None:
    kernel = load_kernel(f"{EXAMPLES / 'test_softmax.py'}::softmax")
    found = measured(with_cases(kernel, [case(rows=4, cols=64)]), sim, {MutantKind.MISSING_BARRIER})

    assert {one.fate for one in found.judged} >= {Fate.DECLARED, Fate.LADDER}
    assert "sanitize" in {one.answer.stage for one in found.judged if one.answer and one.fate is Fate.LADDER}


def test_the_suite_of_an_example_is_stronger_than_its_friendliest_case(sim: Device) -> None:
    kernel = load_kernel(f"{EXAMPLES / 'test_sum.py'}::sum")
    small = [one for one in kernel.cases if not one.measure]
    strong, friendly = measured(with_cases(kernel, small), sim), measured(with_cases(kernel, small[:1]), sim)

    assert strong.killed_by_declared() / strong.of() > friendly.killed_by_declared() / friendly.of()
    assert friendly.killed_by_ladder() > friendly.killed_by_declared()
