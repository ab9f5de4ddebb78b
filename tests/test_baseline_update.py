"""What becomes of a baseline after a verdict: who is recorded, who stays, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_baselines import (
    EMPTY,
    LARGE,
    SIM,
    SMALL,
    SOURCE,
    baseline_of,
    gated,
    scale_in,
    seen,
    version,
)

from pytest_cudaopt.baseline import Baseline, Held, version_of
from pytest_cudaopt.baseline_update import Change, Mode, Seen, updated, with_properties
from pytest_cudaopt.gated import GateVerdict

SAME, FASTER, SLOWER, UNSURE = GateVerdict


def after(old: Baseline | None, one: Seen, mode: Mode = Mode.UPDATE, accept_slower: bool = False) -> Change:
    return updated(old, one, mode, accept_slower, EMPTY)


def standing(baseline: Baseline | None, case_id: str = SMALL) -> list[tuple[str, float]]:
    """Return the sources a case stands on, by their number (0 is the first), and its medians."""
    assert baseline is not None
    numbers = {SOURCE: 0} | {version(number): number for number in range(1, 9)}
    return [(numbers[one.source], one.cases[case_id].seen.median_ns) for one in baseline.recorded_at(case_id)]


def test_the_first_is_written(tmp_path: Path) -> None:
    one = seen(scale_in(tmp_path), SMALL, 2_034.5)
    for mode in (Mode.UPDATE, Mode.UPDATE_NEW):
        change = after(None, one, mode)
        assert standing(change.baseline) == [(0, 2_030)]
        assert change.note == "baseline of n51 recorded"


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.OFF])
@pytest.mark.parametrize("has_one", [True, False])
def test_nothing_is_written_unless_asked_for(tmp_path: Path, mode: Mode, has_one: bool) -> None:
    one = seen(scale_in(tmp_path), SMALL, 2_000, [gated("baseline", FASTER, 0.5)] if has_one else [])
    assert after(baseline_of(one) if has_one else None, one, mode, accept_slower=True) == Change(None)


# Verdicts against baseline (version 1) and anchor (version 0), and what the case then stands on.
WITH_ANCHOR = [
    (SAME, SAME, None),
    (SAME, UNSURE, None),
    (SAME, FASTER, None),
    (FASTER, FASTER, [2]),
    (FASTER, SAME, [2, 0]),
    (FASTER, UNSURE, [2, 0]),
    (UNSURE, UNSURE, [2, 0]),
    (UNSURE, SAME, [2, 0]),
    (UNSURE, FASTER, [2, 1]),
    (SLOWER, FASTER, None),
    (FASTER, SLOWER, None),
    (SAME, SLOWER, None),
    (UNSURE, SLOWER, None),
]


@pytest.mark.parametrize(("to_baseline", "to_anchor", "expected"), WITH_ANCHOR)
def test_beside_an_anchor(
    tmp_path: Path, to_baseline: GateVerdict, to_anchor: GateVerdict, expected: list[int] | None
) -> None:
    old = with_anchor(tmp_path)
    verdicts = [gated("baseline", to_baseline), gated("anchor", to_anchor)]
    change = after(old, seen(scale_in(tmp_path, version(2)), SMALL, 1_500, verdicts))
    found = None if change.baseline is None else [number for number, _ in standing(change.baseline)]
    assert found == expected
    assert change.note.startswith("baseline of n51 ")


@pytest.mark.parametrize(
    ("verdict", "expected", "note"),
    [
        (SAME, None, "stays: the same"),
        (FASTER, [1], "recorded: 20.0 % faster than the baseline"),
        (UNSURE, [1, 0], "recorded; what was recorded before stays its anchor"),
        (SLOWER, None, "stays: 20.0 % slower than the baseline; --cudaopt-accept-slower would record it"),
    ],
)
def test_beside_a_baseline_alone(
    tmp_path: Path, verdict: GateVerdict, expected: list[int] | None, note: str
) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    ratio = {FASTER: 0.8, SLOWER: 1.2}.get(verdict)
    change = after(
        old, seen(scale_in(tmp_path, version(1)), SMALL, 1_600, [gated("baseline", verdict, ratio)])
    )
    found = None if change.baseline is None else [number for number, _ in standing(change.baseline)]
    assert found == expected
    assert change.note == f"baseline of n51 {note}"


def test_a_slower_one_is_written_when_it_is_accepted_and_the_anchor_goes_too(tmp_path: Path) -> None:
    verdicts = [gated("baseline", SLOWER, 1.5), gated("anchor", SLOWER, 1.7)]
    one = seen(scale_in(tmp_path, version(2)), SMALL, 3_000, verdicts)
    change = after(with_anchor(tmp_path), one, accept_slower=True)
    assert standing(change.baseline) == [(2, 3_000)]
    assert change.note == "baseline of n51 recorded although 50.0 % slower than the baseline"


def test_accepting_slower_ones_changes_nothing_about_others(tmp_path: Path) -> None:
    for to_baseline, to_anchor, _ in WITH_ANCHOR:
        if SLOWER not in (to_baseline, to_anchor):
            verdicts = [gated("baseline", to_baseline), gated("anchor", to_anchor)]
            one = seen(scale_in(tmp_path, version(2)), SMALL, 3_000, verdicts)
            old = with_anchor(tmp_path)
            assert after(old, one, accept_slower=True) == after(old, one)


def test_many_small_losses_leave_the_best_as_the_anchor(tmp_path: Path) -> None:
    baseline = baseline_of(seen(scale_in(tmp_path), SMALL, 1_000))
    for number in range(1, 6):
        verdicts = [gated("baseline", UNSURE), gated("anchor", UNSURE)][: len(baseline.versions)]
        one = seen(scale_in(tmp_path, version(number)), SMALL, 1_000 + 10 * number, verdicts)
        baseline = after(baseline, one).baseline or baseline
    assert standing(baseline) == [(5, 1_050), (0, 1_000)]
    assert len(baseline.versions) == 2


def test_what_was_not_gated_is_not_recorded_unasked(tmp_path: Path) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    for verdicts in ([], [gated("origin/main", FASTER, 0.5)]):
        now = seen(scale_in(tmp_path, version(1)), SMALL, 900, verdicts)
        assert after(old, now).note.startswith("baseline of n51 stays: it was not gated, and may be slower;")
        accepted = after(old, now, accept_slower=True)
        assert standing(accepted.baseline) == [(1, 900), (0, 2_000)]


def test_a_verdict_on_what_another_worker_has_replaced_decides_nothing(tmp_path: Path) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    now = seen(scale_in(tmp_path, version(1)), SMALL, 900, [gated("baseline", FASTER, 0.5)])
    then = version_of(scale_in(tmp_path, version(2)), scale_in(tmp_path, version(2)).start())
    for held, is_written in (({"baseline": then}, False), ({}, False), (None, True)):
        change = updated(old, replace(now, held=held), Mode.UPDATE, False, EMPTY)
        assert (change.baseline is not None) is is_written
        assert is_written or "recorded meanwhile" in change.note


def test_a_verdict_on_a_revision_refuses_nothing(tmp_path: Path) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    verdicts = [gated("baseline", FASTER, 0.9), gated("origin/main", SLOWER, 1.5)]
    change = after(old, seen(scale_in(tmp_path, version(1)), SMALL, 1_800, verdicts))
    assert standing(change.baseline) == [(1, 1_800)]


def test_update_new_records_only_cases_without_a_record(tmp_path: Path) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    declared = scale_in(tmp_path, version(1))
    known = seen(declared, SMALL, 1_000, [gated("baseline", FASTER, 0.5)])
    assert after(old, known, Mode.UPDATE_NEW) == Change(None)
    new = after(old, seen(declared, LARGE, 5_000), Mode.UPDATE_NEW).baseline
    assert (standing(new, LARGE), standing(new, SMALL)) == ([(1, 5_000)], [(0, 2_000)])


@pytest.mark.parametrize(
    ("change", "why"), [({"entry": "other"}, "signature"), ({"name": "renamed"}, "sizes or inputs")]
)
def test_a_record_of_something_else_is_replaced_by_update_alone(
    tmp_path: Path, change: dict[str, str], why: str
) -> None:
    declared = scale_in(tmp_path)
    old = baseline_of(seen(declared, SMALL, 2_000))
    # Contents follow from the kernel's name.
    one = seen(replace(declared, **change), SMALL, 9_000, [gated("baseline", UNSURE)])
    found = after(old, one)
    assert standing(found.baseline) == [(0, 9_000)]
    assert found.note == f"baseline of n51 recorded anew: its {why} changed"
    left = after(old, one, Mode.UPDATE_NEW)
    assert left == Change(
        None, f"baseline of n51 stays: its {why} changed; --cudaopt-baseline update records it anew"
    )


def test_a_case_that_got_slower_is_not_hidden_by_another_that_got_faster(tmp_path: Path) -> None:
    first = scale_in(tmp_path)
    old = baseline_of(seen(first, SMALL, 2_000), seen(first, LARGE, 8_000))
    declared = scale_in(tmp_path, version(1))
    faster = seen(declared, SMALL, 1_000, [gated("baseline", FASTER, 0.5)])
    slower = seen(declared, LARGE, 9_000, [gated("baseline", SLOWER, 1.125)])
    for order in itertools.permutations([faster, slower]):
        found = baseline_after(old, order)
        assert standing(found, SMALL) == [(1, 1_000)]
        assert standing(found, LARGE) == [(0, 8_000)]


def test_the_order_in_which_cases_are_recorded_decides_nothing(tmp_path: Path) -> None:
    first = scale_in(tmp_path)
    old = baseline_of(seen(first, SMALL, 2_000), seen(first, LARGE, 8_000))
    declared = scale_in(tmp_path, version(1))
    for verdicts in itertools.product([FASTER, UNSURE, SLOWER, SAME], repeat=2):
        several = [
            seen(declared, case_id, 1_000, [gated("baseline", verdict)])
            for case_id, verdict in zip((SMALL, LARGE), verdicts, strict=True)
        ]
        assert baseline_after(old, several) == baseline_after(old, several[::-1])


def test_recording_the_same_twice_changes_nothing(tmp_path: Path) -> None:
    old = baseline_of(seen(scale_in(tmp_path), SMALL, 2_000))
    one = seen(scale_in(tmp_path, version(1)), SMALL, 1_000, [gated("baseline", FASTER, 0.5)])
    once = after(old, one).baseline
    assert after(once, one).baseline is None


def test_a_version_that_comes_back_is_one_with_what_was_kept_of_it(tmp_path: Path) -> None:
    one = seen(scale_in(tmp_path), SMALL, 1_900, [gated("baseline", FASTER, 0.9), gated("anchor", SAME)])
    found = after(with_anchor(tmp_path), one).baseline
    assert standing(found) == [(0, 1_900)]


def test_counters_of_the_same_version_on_another_toolchain_are_counted_anew(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    old = baseline_of(seen(declared, SMALL, 2_000, machine=SIM))
    newer = replace(SIM, toolkit="13.1")
    same = [gated("baseline", SAME)]
    found = after(old, seen(declared, SMALL, 2_000, same, machine=newer))
    assert found.baseline is not None
    assert found.baseline.versions[0].cases[SMALL].machine == newer
    assert found.note == "baseline of n51 counted anew on another toolchain"
    other = seen(scale_in(tmp_path, version(1)), SMALL, 2_000, same, machine=newer)
    assert after(old, other).baseline is None


def test_a_time_of_the_same_version_with_another_driver_stays(tmp_path: Path) -> None:
    declared = scale_in(tmp_path)
    one = seen(declared, SMALL, 2_000)
    newer = replace(one.record.machine, driver="999.1")
    again = seen(declared, SMALL, 1_900, [gated("baseline", SAME)], machine=newer)
    assert after(baseline_of(one), again).baseline is None


HOLDS, FAILS = Held(holds=True), Held(holds=False, why="wrong")


@pytest.mark.parametrize(
    ("known", "probed", "mode", "is_written", "note"),
    [
        ({}, {"a": HOLDS}, Mode.UPDATE, True, "recorded"),
        ({}, {"a": FAILS}, Mode.UPDATE_NEW, True, "recorded"),
        ({}, {"a": HOLDS}, Mode.CHECK, False, None),
        ({"a": HOLDS}, {"a": Held(holds=True, why="said otherwise")}, Mode.UPDATE, False, None),
        ({"a": FAILS}, {"a": HOLDS}, Mode.UPDATE, True, "recorded"),
        ({"a": FAILS}, {"a": HOLDS}, Mode.UPDATE_NEW, False, None),
        ({"a": HOLDS}, {"a": HOLDS, "b": FAILS}, Mode.UPDATE, True, "recorded"),
        ({"a": HOLDS, "b": HOLDS}, {"a": FAILS, "b": FAILS}, Mode.UPDATE, False, "stays: a, b lost"),
        # What was not probed is not lost.
        ({"a": HOLDS, "b": HOLDS}, {"b": HOLDS}, Mode.UPDATE, True, "recorded"),
    ],
)
def test_properties_are_written_when_they_changed_and_none_was_lost(
    known: dict[str, Held], probed: dict[str, Held], mode: Mode, is_written: bool, note: str | None
) -> None:
    change = with_properties(replace(EMPTY, properties=known), probed, mode, False, EMPTY)
    assert (change.baseline is not None) is is_written
    assert change.note.startswith("" if note is None else f"baseline of properties {note}")
    assert bool(change.note) is (note is not None)


def test_a_lost_property_is_written_when_that_is_accepted() -> None:
    change = with_properties(replace(EMPTY, properties={"a": HOLDS}), {"a": FAILS}, Mode.UPDATE, True, EMPTY)
    assert change.baseline is not None
    assert change.baseline.properties == {"a": FAILS}
    assert change.note == "baseline of properties recorded although a lost"


def test_properties_stay_when_a_case_is_recorded(tmp_path: Path) -> None:
    old = replace(baseline_of(seen(scale_in(tmp_path), SMALL, 2_000)), properties={"a": HOLDS})
    faster = seen(scale_in(tmp_path, version(1)), SMALL, 1_000, [gated("baseline", FASTER)])
    found = after(old, faster).baseline
    assert found is not None
    assert found.properties == {"a": HOLDS}


def with_anchor(folder: Path) -> Baseline:
    """Return a baseline whose case stands on version 1, and on version 0 as its anchor."""
    first = seen(scale_in(folder), SMALL, 2_000)
    return baseline_of(first, seen(scale_in(folder, version(1)), SMALL, 2_020, [gated("baseline", UNSURE)]))


def baseline_after(old: Baseline, several: Sequence[Seen]) -> Baseline:
    for one in several:
        old = after(old, one).baseline or old
    return old
