"""Which trials a kernel gets beyond its declared cases: known beforehand, and within its contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import In, InOut, Out, Scalar, case, f32, i32, indices, integers, kernel
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.families import Family
from pytest_cudaopt.properties import Property
from pytest_cudaopt.trials import Trial, available_families, trials_of

RULE = "// @launch grid=(cdiv(rows * cols, 64)) block=(64)\n"
CASES = (case(rows=4, cols=32), case(rows=8, cols=40, measure=True, weight=2.0, id="big"))
SIZES = (Property.EMPTY_SIZES, Property.LARGER_SIZES)


def declare(folder: Path, *, cases: tuple[Case, ...] = CASES, rule: str = RULE, **declared: Any) -> Kernel:
    (folder / "add.cu").write_text(rule)

    @kernel(str(folder / "add.cu"), cases=cases, **declared)
    def add(
        a=In(f32, "rows", "cols"),
        b=In(f32, "rows", "cols"),
        at=In(i32, "rows", values=indices("rows")),
        y=Out(f32, "rows", "cols"),
        rows=i32,
        cols=i32,
    ):
        y[...] = a + b

    return add


def trials(made: Kernel, seed: int = 1) -> tuple[Trial, ...]:
    return trials_of(made, made.start(), seed)


def asked(found: tuple[Trial, ...], *properties: Property) -> list[Case]:
    return [one.case for one in found if one.property in properties]


def test_they_follow_from_the_declaration_and_the_seed(tmp_path: Path) -> None:
    made = declare(tmp_path)

    assert trials(made, 1) == trials(declare(tmp_path), 1)
    assert {one.case.seed for one in trials(made, 1)}.isdisjoint({one.case.seed for one in trials(made, 2)})


def test_cases_have_a_seed_and_nothing_of_a_measurement(tmp_path: Path) -> None:
    for one in trials(declare(tmp_path)):
        assert one.case.seed is not None
        assert (one.case.measure, one.case.label, one.case.weight) == (False, None, 1.0)


def test_every_family_that_some_array_has_is_tried(tmp_path: Path) -> None:
    made = declare(tmp_path)

    families = {one.case.values for one in trials(made)} - {None}

    assert families == set(available_families(made))
    assert families >= {Family.HUGE, Family.NAN, Family.SIGNED_ZEROS, Family.NEGATIVE, Family.CONSTANT}
    # No array of the kernel holds integers of any value.
    assert Family.WIDE not in families


def test_families_follow_from_what_arrays_hold(tmp_path: Path) -> None:
    (tmp_path / "count.cu").write_text("// @launch grid=(1) block=(64)\n")

    @kernel(str(tmp_path / "count.cu"), cases=[case(n=64)])
    def count(x=In(i32, "n", values=integers(0, 9)), y=Out(i32, 1), n=i32):
        y[0] = (x == 3).sum()

    families = set(available_families(count))

    assert families >= {Family.WIDE, Family.NEGATIVE, Family.DUPLICATES}
    assert families.isdisjoint({Family.HUGE, Family.NAN, Family.SIGNED_ZEROS})


def test_each_trial_of_a_family_asks_for_its_property(tmp_path: Path) -> None:
    for one in trials(declare(tmp_path)):
        assert one.case.values is None or one.property is one.case.values.property


def test_each_array_gets_a_family_alone_and_with_the_others(tmp_path: Path) -> None:
    nan = [one.case for one in trials(declare(tmp_path)) if one.case.values is Family.NAN]

    # Both float arrays alone, both together, at the smallest case; then at larger and drawn sizes.
    assert [one.by_name for one in nan[:3]] == [{"rows": 4, "cols": 32}] * 3
    assert sorted(one.seed % 3 for one in nan[:3] if one.seed is not None) == [0, 1, 2]
    assert len(nan) == 5
    assert nan[3].by_name["rows"] > 8


@pytest.mark.parametrize("seed", range(20))
def test_they_keep_the_contract(tmp_path: Path, seed: int) -> None:
    made = declare(
        tmp_path,
        domain={"cols": ("rows", 512)},
        choices={"rows": (2, 4, 8)},
        where=["cols % rows == 0"],
    )

    found = trials(made, seed)

    assert found
    for one in found:
        sizes = one.case.by_name
        assert sizes["rows"] in (2, 4, 8)
        assert sizes["rows"] <= sizes["cols"] <= 512
        assert sizes["cols"] % sizes["rows"] == 0


def test_a_bound_of_a_size_is_not_left_and_a_free_size_is(tmp_path: Path) -> None:
    free = declare(tmp_path)
    bound = declare(tmp_path, domain={"rows": (1, 100), "cols": (1, 100)})

    sizes = [one.by_name for one in asked(trials(free), Property.LARGER_SIZES)]
    assert max(one["rows"] for one in sizes) > 65_536
    assert max(one["cols"] for one in sizes) > 65_536
    assert next(one["rows"] for one in sizes if one["rows"] > 8) in range(4 * 8 + 1, 4 * 8 + 4)
    assert [one for one in asked(trials(free), Property.EMPTY_SIZES) if one.by_name["rows"] == 0]
    assert asked(trials(bound), *SIZES) == []


def test_empty_sizes_keep_the_conditions_too(tmp_path: Path) -> None:
    made = declare(tmp_path, where=["rows >= 1"])

    empty = asked(trials(made), Property.EMPTY_SIZES)

    assert [one.by_name["cols"] for one in empty] == [0]
    assert all(one.by_name["rows"] >= 1 for one in empty)


def test_what_is_too_large_to_try_is_left_out(tmp_path: Path) -> None:
    affordable = asked(trials(declare(tmp_path)), Property.LARGER_SIZES)
    many_threads = "// @launch grid=(rows, cols) block=(1024)\n"
    fewer = asked(trials(declare(tmp_path, rule=many_threads)), Property.LARGER_SIZES)

    elements = [3 * one.by_name["rows"] * one.by_name["cols"] + one.by_name["rows"] for one in affordable]
    assert max(elements) <= 1 << 23
    assert all(one.by_name["rows"] * one.by_name["cols"] * 1024 <= 1 << 25 for one in fewer)
    assert 0 < len(fewer) < len(affordable)


def test_addresses_are_tried_only_if_that_is_required(tmp_path: Path) -> None:
    plain, required = declare(tmp_path), declare(tmp_path, required=["unaligned", "aliasing"])
    addresses = (Property.UNALIGNED, Property.ALIASING)

    assert asked(trials(plain), *addresses) == []
    assert [dict(one.misaligned) for one in asked(trials(required), Property.UNALIGNED)] == [
        {"a": 1},
        {"b": 1},
        {"at": 1},
        {"y": 1},
    ]
    # `at` has another shape and dtype than the output.
    assert [dict(one.alias) for one in asked(trials(required), Property.ALIASING)] == [{"y": "a"}, {"y": "b"}]


def test_what_is_updated_in_place_lies_over_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "axpy.cu").write_text("// @launch grid=(1) block=(64)\n")

    @kernel(str(tmp_path / "axpy.cu"), cases=[case(n=64)], required=["aliasing"])
    def axpy(x=In(f32, "n"), y=InOut(f32, "n"), n=i32, a=Scalar(f32, 2.0)):
        y[...] = a * x + y

    assert asked(trials(axpy), Property.ALIASING) == []
