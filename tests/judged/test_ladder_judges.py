"""The whole ladder on the corpus: what is faulty is refused, what is right is not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from corpus import FAULTY, GIVES_UP_INFINITIES, RIGHT, candidate_of
from faulty_table import Faulty
from ladder_table import STAGES, climb, plan_of

from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Stage
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.properties import Obligations, Property

SEED, EXAMPLES = 1, 50
# Refused only where the declaration asks for the property, or by hardware.
ON_DEMAND = [one for one in FAULTY.values() if one.needs]
# No launch that this machine can hold shows them wrong.
MISSED = {
    "transpose/bug_index_int32": "wrong beyond 2^31 elements of an output, two arrays of 8.6 GB",
}
BY_DEFAULT = [one for one in FAULTY.values() if not one.needs and one.name not in MISSED]


@pytest.mark.parametrize("faulty", BY_DEFAULT, ids=lambda one: one.name)
def test_a_faulty_kernel_is_refused(faulty: Faulty, sim: Device) -> None:
    climbed = climb(faulty.name, sim, SEED, EXAMPLES)
    assert climbed.rung is not None
    assert not climbed.evaluation.accepted


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_that_differs_from_the_start_is_accepted(name: str, sim: Device) -> None:
    climbed = climb(name, sim, SEED, EXAMPLES)
    assert climbed.evaluation.accepted, climbed.evaluation.reason


@pytest.mark.parametrize("name", GIVES_UP_INFINITIES)
def test_algebra_that_infinities_do_not_obey_is_refused_unless_they_are_given_up(
    name: str, sim: Device
) -> None:
    kernel, candidate = candidate_of(name)
    strict = replace(kernel, obligations=Obligations())
    evaluation = evaluate(strict, candidate, plan_of(strict, SEED), sim)
    assert [one.lost for one in evaluation.outcomes if one.lost] == [Property.NON_FINITE]


def test_what_is_missed_is_known() -> None:
    assert set(MISSED) <= set(FAULTY)
    assert {one.name for one in ON_DEMAND} == {
        "bias_gelu/bug_two_passes",
        "bias_gelu/bug_vector_unaligned",
        "ema/hack_idle_processors",
    }


@pytest.mark.parametrize(
    ("name", "required"),
    [("bias_gelu/bug_two_passes", "aliasing"), ("bias_gelu/bug_vector_unaligned", "unaligned")],
)
def test_what_binds_on_demand_is_refused_if_it_is_required(name: str, required: str, sim: Device) -> None:
    kernel, candidate = candidate_of(name)
    asking = replace(kernel, obligations=replace(kernel.obligations, required=frozenset({required})))
    evaluation = evaluate(asking, candidate, plan_of(asking, SEED, EXAMPLES), sim)
    assert str(next(one.lost for one in evaluation.outcomes if one.lost)) == required
    assert evaluate(asking, asking.start(), plan_of(asking, SEED, EXAMPLES), sim).accepted


@pytest.mark.parametrize(
    ("stages", "name"),
    [
        ({Stage.PROBE}, "softmax/hack_cached_result"),
        ({Stage.PROBE}, "sum/bug_ticket_not_reset"),
        ({Stage.CONTRACT}, "gemv/bug_rows_on_grid_y"),
        ({Stage.CONTRACT}, "relu/bug_narrow_row_index"),
        ({Stage.SANITIZE}, "dot/bug_fence_missing"),
        # Both draw sizes, and what a check sees they see again.
        ({Stage.FUZZ, Stage.CONTRACT}, "top_k/bug_two_per_lane"),
        ({Stage.FUZZ, Stage.CONTRACT}, "scan/bug_carry_in_last_thread"),
        ({Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.CONTRACT, Stage.SANITIZE}, "relu/hack_noop"),
    ],
    ids=lambda one: one if isinstance(one, str) else "+".join(sorted(one)),
)
def test_without_its_stages_a_faulty_kernel_slips_through(stages: set[Stage], name: str, sim: Device) -> None:
    kernel, candidate = candidate_of(name)
    plan = plan_of(kernel, SEED, EXAMPLES)
    others = tuple(one for one in STAGES if one not in stages)
    assert evaluate(kernel, candidate, replace(plan, stages=others), sim).accepted
    assert not evaluate(kernel, candidate, plan, sim).accepted
