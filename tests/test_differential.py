"""What a candidate owes at a case nobody declared: what the starting kernel does there, and no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_kernels import AXPY, axpy
from pretend_gpu import pretend

from pytest_cudaopt import case, differential, witness
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.differential import Challenger
from pytest_cudaopt.errors import ReferenceFault
from pytest_cudaopt.evaluation import Budget, CaseStatus
from pytest_cudaopt.properties import Property
from pytest_cudaopt.witness import observe

CASES = (case(n=100),)
HUGE = case(n=100, values="huge", seed=1)
NAN = case(n=100, values="nan", seed=1)
OTHER_SIZE = case(n=90, seed=1)
# All are off by more than the usual tolerance, which is 1e-5.
OFF_BY_1, OFF_BY_3, OFF_BY_9 = (("a * x[i]", f"a * x[i] * 1.000{by}f") for by in (1, 3, 9))
SWALLOWS_NAN = ("a * x[i]", "(isnan(x[i]) ? 0.0f : a * x[i])")
SWALLOWS_EVEN_NAN = ("a * x[i]", "(isnan(x[i]) && i % 2 == 0 ? 0.0f : a * x[i])")
ONLY_HUGE = ("y[i] =", "y[i] = fabsf(x[i]) > 1e6f ? a * x[i] * 1.0001f :")
Stand = Callable[..., differential.Tested]


@pytest.fixture
def stand(tmp_path: Path, sim: Device) -> Stand:
    """Return what judges a candidate, given by edits of the source, beside a start given so."""

    def run(
        asked: Property,
        one: Any,
        *edits: tuple[str, str],
        start: tuple[tuple[str, str], ...] = (),
        **declared: Any,
    ) -> differential.Tested:
        made = axpy(tmp_path, *start, **{"cases": CASES, **declared})
        return challenger(made, sim, *edits).stand(asked, one)

    return run


def challenger(made: Kernel, device: Device, *edits: tuple[str, str]) -> Challenger:
    source = AXPY
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    candidate = made.candidate(source, Path("candidate.cu"))
    compiled = compile_candidate(made, candidate, device, Budget())
    assert isinstance(compiled, Compiled), compiled
    is_start = candidate.digest == made.start().digest
    return Challenger(made, candidate, compiled, made.start(), device, Budget(), is_start=is_start)


def status(tested: differential.Tested) -> CaseStatus | None:
    return None if tested.outcome is None else tested.outcome.status


@pytest.mark.parametrize("one", [HUGE, NAN, OTHER_SIZE])
def test_a_right_candidate_is_right_there(stand: Stand, one: Any) -> None:
    assert status(stand(Property.MAGNITUDES, one)) is CaseStatus.PASSED


def test_what_only_the_start_can_do_is_lost(stand: Stand) -> None:
    tested = stand(Property.NON_FINITE, NAN, SWALLOWS_NAN)

    assert tested.outcome is not None
    assert (tested.outcome.status, tested.outcome.lost) == (CaseStatus.LOST, Property.NON_FINITE)


def test_what_the_start_does_by_chance_binds_nobody(stand: Stand) -> None:
    drawn = [case(n=100, values="nan", seed=seed) for seed in range(20)]

    tested = [stand(Property.NON_FINITE, one, SWALLOWS_NAN, start=(SWALLOWS_EVEN_NAN,)) for one in drawn]

    assert [one.outcome for one in tested] == [None] * len(drawn)
    # At some of them the start is right: all its NaN stand at odd places.
    assert any("is right there by chance" in one.why for one in tested), [one.why for one in tested]


def test_what_the_start_cannot_do_either_binds_nobody(stand: Stand) -> None:
    tested = stand(Property.NON_FINITE, NAN, SWALLOWS_NAN, start=(SWALLOWS_NAN,))

    assert tested.outcome is None
    assert "the starting kernel fails there" in tested.why


def test_what_is_required_binds_although_the_start_cannot_do_it(stand: Stand) -> None:
    tested = stand(Property.NON_FINITE, NAN, SWALLOWS_NAN, start=(SWALLOWS_NAN,), required=["non_finite"])

    assert status(tested) is CaseStatus.LOST


def test_a_candidate_may_be_right_where_the_start_is_not(stand: Stand) -> None:
    assert status(stand(Property.NON_FINITE, NAN, start=(SWALLOWS_NAN,))) is CaseStatus.PASSED


def test_where_a_mistake_ends_processes_the_start_is_asked_before(stand: Stand) -> None:
    # The property of places that no declared draw has, asked of a case that the start is wrong at.
    tested = stand(Property.INTEGER_RANGE, NAN, start=(SWALLOWS_NAN,))

    # Right as it is, nobody needs to know.
    assert tested.outcome is None


def test_at_sizes_of_the_contract_wrong_is_wrong(stand: Stand) -> None:
    assert status(stand(Property.FUZZED_SIZES, OTHER_SIZE, OFF_BY_1)) is CaseStatus.WRONG


def test_the_start_itself_is_held_to_the_sizes_of_its_contract(stand: Stand) -> None:
    same = stand(Property.FUZZED_SIZES, OTHER_SIZE, OFF_BY_1, start=(OFF_BY_1,))
    another = stand(Property.FUZZED_SIZES, OTHER_SIZE, OFF_BY_9, start=(OFF_BY_1,))

    assert status(same) is CaseStatus.WRONG
    assert another.outcome is None


@pytest.mark.parametrize(("edit", "passes"), [(OFF_BY_3, True), (OFF_BY_9, False)])
def test_a_candidate_may_be_off_by_four_times_what_the_start_is(
    stand: Stand, edit: tuple[str, str], passes: bool
) -> None:
    # Within the tolerance both are not far from it; the candidate's error is beyond it.
    loose = {"rtol": 1.5e-4, "atol": 0.0}
    tested = stand(Property.MAGNITUDES, HUGE, edit, start=(OFF_BY_1,), **loose)

    assert status(tested) is (CaseStatus.PASSED if passes else CaseStatus.LOST)
    assert status(stand(Property.MAGNITUDES, HUGE, edit, rtol=1.5e-4, atol=0.0)) is CaseStatus.LOST


def test_a_property_beyond_tolerances_is_asked_of_what_is_within_them(stand: Stand) -> None:
    flat = ("a * x[i] + 1.0f", "a * x[i] + 1.0f + (x[i] == 0.0f ? 0.0f : 0.001f)")
    whole = case(n=100, values="small_integers", seed=1)
    loose = {"rtol": 1e-2, "atol": 1e-2, "reference": lambda x, y, n, a: 2 * x}
    doubled = ("a * x[i] + 1.0f", "2.0f * x[i]")
    off = (doubled[0], "2.001f * x[i]")

    tested = stand(Property.EXACT_INTEGERS, whole, off, start=(doubled,), **loose)
    assert tested.outcome is not None
    assert tested.outcome.note == "right within its tolerance, but not to the last bits on small integers"
    assert status(stand(Property.EXACT_INTEGERS, whole, off, start=(off,), **loose)) is CaseStatus.PASSED
    assert status(stand(Property.EXACT_INTEGERS, whole, doubled, start=(flat,), **loose)) is CaseStatus.PASSED


def only_finite(x: Any, y: Any, n: int, a: float) -> Any:
    assert (x == x).all(), "no NaN"
    return a * x + 1


def leaves_nan(x: Any, y: Any, n: int, a: float) -> None:
    y[x == x] = a * x[x == x] + 1


def leaves_the_end(x: Any, y: Any, n: int, a: float) -> None:
    y[: n // 100 * 100] = a * x[: n // 100 * 100] + 1


@pytest.mark.parametrize("reference", [only_finite, leaves_nan])
def test_what_the_reference_is_not_for_binds_nobody(stand: Stand, reference: Callable[..., Any]) -> None:
    tested = stand(Property.NON_FINITE, NAN, reference=reference)

    assert tested.outcome is None
    assert tested.why.startswith(f"at {NAN}: reference of kernel 'axpy'")


def test_at_sizes_of_the_contract_a_reference_writes_every_output(stand: Stand) -> None:
    with pytest.raises(ReferenceFault, match="left unwritten"):
        stand(Property.FUZZED_SIZES, OTHER_SIZE, reference=leaves_the_end)


def test_a_fault_loses_the_property_and_stays_a_fault(stand: Stand) -> None:
    tested = stand(Property.MAGNITUDES, HUGE, ("i < n", "i <= n"))

    assert tested.outcome is not None
    assert (tested.outcome.status, tested.outcome.lost) == (CaseStatus.FAULT, Property.MAGNITUDES)


def test_sizes_that_the_rule_has_no_launch_for_bind_nobody_if_the_start_has_none_either(stand: Stand) -> None:
    few = ("grid=(cdiv(n, BLOCK))", "grid=(cdiv(n, BLOCK)) shared=(4 * n * n)")
    large = case(n=4000, seed=1)

    assert stand(Property.LARGER_SIZES, large, few, start=(few,)).outcome is None
    assert status(stand(Property.LARGER_SIZES, large, few)) is CaseStatus.FAULT
    assert status(stand(Property.LARGER_SIZES, large, start=(few,))) is CaseStatus.PASSED


def test_the_start_is_asked_once_for_each_trial(
    tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    check = witness.check_case

    def counting(*given: Any) -> Any:
        asked.append(given[3])
        return check(*given)

    monkeypatch.setattr(witness, "check_case", counting)
    made = axpy(tmp_path, cases=CASES)
    for edit in (SWALLOWS_NAN, ONLY_HUGE, SWALLOWS_NAN):
        one = challenger(made, sim, edit)
        one.stand(Property.NON_FINITE, NAN)
        one.stand(Property.MAGNITUDES, HUGE)

    # The other draws of NaN are those that tell chance from ability.
    assert [one for one in asked if one in (NAN, HUGE)] == [NAN, HUGE]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(
    ("start", "one", "why"),
    [
        (("x[i]", "z[i]"), HUGE, 'identifier "z" is undefined'),
        (SWALLOWS_NAN, NAN, "the starting kernel fails there: case n100-nan: "),
        (("i < n", "i <= n"), OTHER_SIZE, "the starting kernel fails there: case n90: kernel 'axpy' reads "),
    ],
)
def test_a_start_that_cannot_answer_says_why(
    tmp_path: Path, sim: Device, start: tuple[str, str], one: Any, why: str
) -> None:
    made = axpy(tmp_path, start, cases=CASES)
    observed = observe(made, made.start(), one, sim, Budget(), None)

    assert not observed.holds
    assert why in observed.why


def test_what_the_start_misses_becomes_slack(tmp_path: Path, sim: Device) -> None:
    def slack(*edits: tuple[str, str]) -> float:
        made = axpy(tmp_path, *edits, cases=CASES, rtol=1.5e-4, atol=0.0)
        return observe(made, made.start(), HUGE, sim, Budget(), Property.MAGNITUDES).slack["y"].times

    assert slack() == 1.0
    assert slack(OFF_BY_1) == pytest.approx(4 * 1e-4 / 1.5e-4, rel=0.01)


def test_once_the_start_cost_a_gpu_its_process_sim_is_asked_first(tmp_path: Path, sim: Device) -> None:
    overruns = ("i < n", "i < n + n % 2")
    gpu, harness = pretend(sim)
    one = challenger(axpy(tmp_path, overruns, cases=CASES), gpu, overruns, ("a * x[i]", "x[i] * a"))

    def asked(n: int) -> tuple[differential.Tested, list[str]]:
        before = len(harness.asked)
        tested = one.stand(Property.FUZZED_SIZES, case(n=n, seed=1))
        return tested, [request.device for request in harness.asked[before:] if "check" in request.id]

    first, on = asked(91)
    assert (first.outcome, on.count("cuda:0")) == (None, 2)
    second, on = asked(93)
    assert (second.outcome, on) == (None, ["sim"])
    assert "the starting kernel fails there" in second.why
    # Where it does not fail, the candidate is judged as ever.
    third, on = asked(94)
    assert (status(third), on) == (CaseStatus.PASSED, ["sim", "cuda:0"])
