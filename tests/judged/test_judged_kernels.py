"""The corpus the judge is tested with: faulty kernels are right at friendly cases, and wrong somewhere."""

from __future__ import annotations

import judged_given
import pytest
from corpus import FAULTY, FILES, MODULES, RIGHT, STARTS, candidate_of
from faulty_table import LIKELY_ROWS, NOT_HERE, Faulty, Rung
from triggers import TRIGGERS
from trying import BUDGET, wrong_at

from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.device import Device
from pytest_cudaopt.draw_cases import declared_seed, draws_of
from pytest_cudaopt.drawn import judged_by
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.fuzz import fuzz
from pytest_cudaopt.pipeline import checker, evaluate

# Where no launch on `sim`, or none that this machine can hold, shows them wrong.
NOT_SHOWN = {
    "ema/hack_idle_processors": "only hardware has multiprocessors",
    "transpose/bug_index_int32": "needs two arrays of 8.6 GB",
}

SEEN_AT_FRIENDLY_CASES = (Rung.COMPILE, Rung.CHECK, Rung.SANITIZE)

each_faulty = pytest.mark.parametrize("faulty", FAULTY.values(), ids=lambda one: one.name)


def judged(name: str, sim: Device, *stages: Stage) -> Evaluation:
    kernel, candidate = candidate_of(name)
    plan = Plan((Stage.COMPILE, *stages), kernel.cases, budget=BUDGET)
    return evaluate(kernel, candidate, plan, sim)


def told(evaluation: Evaluation) -> set[str]:
    return {evaluation.status.value, *(finding.kind.value for finding in evaluation.findings)}


def test_every_file_is_a_start_a_right_twin_or_in_a_table() -> None:
    assert sorted([*STARTS, *RIGHT, *FAULTY]) == sorted(FILES)
    assert sum(len(module.FAULTY) for module in MODULES) == len(FAULTY)


def test_every_likely_row_of_the_catalogue_has_a_kernel_or_a_reason_why_not() -> None:
    rows = {one.row for one in FAULTY.values()}
    assert LIKELY_ROWS - rows <= set(NOT_HERE)
    assert not rows & set(NOT_HERE)


def test_every_faulty_kernel_is_caught_at_friendly_cases_or_shown_wrong_at_a_trigger() -> None:
    shown = {*TRIGGERS, *NOT_SHOWN, "dot/bug_order_of_arrival"}
    own = {name: one for name, one in FAULTY.items() if one not in judged_given.FAULTY}
    assert sorted(
        [*shown, *(one.name for one in own.values() if one.today in SEEN_AT_FRIENDLY_CASES)]
    ) == sorted(own)


def test_right_twins_differ_from_the_start() -> None:
    for name in RIGHT:
        kernel, candidate = candidate_of(name)
        assert candidate.digest != kernel.start().digest
    assert len(RIGHT) >= 20


@pytest.mark.parametrize("name", [name for name in FILES if name not in FAULTY or FAULTY[name].row != 37])
def test_the_compiler_takes_it(name: str, sim: Device) -> None:
    kernel, candidate = candidate_of(name)
    assert isinstance(compile_candidate(kernel, candidate, sim, BUDGET), Compiled)


@each_faulty
def test_a_faulty_kernel_is_right_at_the_cases_of_an_author_unless_they_catch_it(
    faulty: Faulty, sim: Device
) -> None:
    evaluation = judged(faulty.name, sim, Stage.CHECK)
    if faulty.today in (Rung.COMPILE, Rung.CHECK) or faulty.name == "ema/hack_idle_processors":
        assert told(evaluation) & set(faulty.told), evaluation.reason
    else:
        assert evaluation.status is Status.ACCEPTED, evaluation.reason


@pytest.mark.parametrize(
    "name", [n for n, one in FAULTY.items() if one.today not in (Rung.COMPILE, Rung.CHECK)]
)
def test_the_checks_of_sim_find_in_a_faulty_kernel_what_the_table_says(name: str, sim: Device) -> None:
    evaluation = judged(name, sim, Stage.SANITIZE)
    if FAULTY[name].today is Rung.SANITIZE:
        assert told(evaluation) & set(FAULTY[name].told), evaluation.reason
    else:
        assert evaluation.status is Status.ACCEPTED, evaluation.reason


@pytest.mark.parametrize("name", TRIGGERS)
def test_at_its_trigger_a_faulty_kernel_is_wrong_and_all_others_are_right(name: str, sim: Device) -> None:
    operation = name.split("/")[0]
    kernel, candidate = candidate_of(name)
    assert wrong_at(kernel, candidate, TRIGGERS[name], sim) in FAULTY[name].told
    for other in (f"{operation}/start", *(right for right in RIGHT if right.startswith(f"{operation}/"))):
        assert wrong_at(kernel, candidate_of(other)[1], TRIGGERS[name], sim) == "", other


@pytest.mark.parametrize("name", [*STARTS, *RIGHT])
def test_a_right_kernel_passes_the_checks(name: str, sim: Device) -> None:
    evaluation = judged(name, sim, Stage.CHECK, Stage.SANITIZE)
    assert evaluation.status is Status.ACCEPTED, evaluation.reason
    assert not evaluation.findings


# Of relu nobody says that rows are no longer than what lies between them.
@pytest.mark.parametrize("name", [name for name in (*STARTS, *RIGHT) if name != "relu/start"])
def test_a_right_kernel_is_right_at_sizes_nobody_listed(name: str, sim: Device) -> None:
    kernel, candidate = candidate_of(name)
    check = checker(kernel, candidate, Plan((Stage.COMPILE, Stage.CHECK), (), budget=BUDGET), sim)
    judge = judged_by(kernel, candidate, check)
    fuzzed = fuzz(draws_of(kernel, candidate), judge, 10, declared_seed(kernel))
    assert fuzzed.failed is None
    assert fuzzed.judged


def test_only_the_order_of_arrival_changes_bits_of_the_dot_product(sim: Device) -> None:
    for name in FILES:
        if name.startswith("dot/") and (name in RIGHT or "start" in name or "arrival" in name):
            notes = [
                note
                for o in judged(name, sim, Stage.SANITIZE).outcomes
                if o.sanitized
                for note in o.sanitized.notes
            ]
            assert any("depend on the order" in note for note in notes) == ("arrival" in name)
