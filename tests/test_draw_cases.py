"""Which cases fuzzing draws: whole ones, cheap enough, and only of instances that are compiled."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel, work
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.draw_cases import draws_of

SOURCE = """// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 96
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "pad.cu").write_text(SOURCE)
    return str(tmp_path / "pad.cu")


def declare(source: str, cases: Iterable[Case], **declared: Any) -> Kernel:
    @kernel(source, cases=cases, derive={"ld": "n + pad"}, **declared)
    def padded(x=In(f32, "ld"), y=Out(f32, "ld"), n=i32, pad=i32):
        y[...] = x

    return padded


def drawn(declared: Kernel, count: int = 60) -> list[Case]:
    draw = draws_of(declared, declared.start())
    return [draw(random.Random(seed).randint) for seed in range(count)]  # noqa: S311


def test_a_drawn_case_has_every_size_a_seed_and_nothing_of_a_measurement(source: str) -> None:
    cases = drawn(declare(source, [case(n=300, pad=4, measure=True, weight=2.0, id="big", seed=1)]))

    assert {tuple(name for name, _ in one.sizes) for one in cases} == {("n", "pad")}
    assert {(one.measure, one.label, one.weight) for one in cases} == {(False, None, 1.0)}
    assert len({one.seed for one in cases}) > 50
    assert len({one.sizes for one in cases}) > 40


def test_no_draw_holds_more_elements_than_sim_runs_at_once(source: str) -> None:
    cases = drawn(declare(source, [case(n=10_000_000, pad=4), case(n=3, pad=1)]))

    assert max(2 * sum(one.by_name.values()) for one in cases) <= 1 << 16


def test_no_draw_launches_more_threads_than_sim_runs_at_once(tmp_path: Path) -> None:
    (tmp_path / "pad.cu").write_text("// @launch grid=(n, n) block=(256)\n")
    cases = drawn(declare(str(tmp_path / "pad.cu"), [case(n=5000, pad=4), case(n=3, pad=1)]))

    assert max(one.by_name["n"] for one in cases) == 32


def test_no_draw_has_more_declared_work_than_sim_does_at_once(source: str) -> None:
    declared = declare(source, [case(n=5000, pad=4), case(n=3, pad=1)], work=work(flops="n * n * 1024"))

    assert max(one.by_name["n"] for one in drawn(declared)) == 256


def test_a_kernel_of_large_cases_only_is_drawn_up_to_the_smallest_of_them(source: str) -> None:
    cases = drawn(declare(source, [case(n=200_000, pad=0)], where=["n >= 100000"], domain={"pad": (0, 9)}))

    assert min(one.by_name["n"] for one in cases) >= 100_000
    assert max(one.by_name["n"] + one.by_name["pad"] for one in cases) <= 200_000


def test_sizes_where_nothing_else_is_found_are_those_of_the_smallest_case(source: str) -> None:
    where = ["n * n == 1018081"]
    cases = drawn(declare(source, [case(n=1009, pad=2)], where=where), 5)

    assert {one.sizes for one in cases} == {(("n", 1009), ("pad", 2))}
    assert len({one.seed for one in cases}) == 5


def test_sizes_of_a_template_are_drawn_as_they_are_declared_together(source: str) -> None:
    declared = declare(
        source,
        [case(n=64, pad=1), case(n=128, pad=3)],
        entry="padded<{n}, {pad}>",
        choices={"n": (64, 128, 256)},
    )

    assert {one.sizes for one in drawn(declared)} == {(("n", 64), ("pad", 1)), (("n", 128), ("pad", 3))}


def test_a_derived_size_of_a_template_keeps_what_it_derives_from(source: str) -> None:
    declared = declare(source, [case(n=64, pad=1), case(n=128, pad=3)], entry="padded<{ld}>")

    assert {one.sizes for one in drawn(declared)} == {(("n", 64), ("pad", 1)), (("n", 128), ("pad", 3))}


def test_multiples_of_a_tunable_and_their_neighbours_are_drawn(source: str) -> None:
    values = {one.by_name["n"] for one in drawn(declare(source, [case(n=1000, pad=9)]), 300)}

    assert {95, 96, 97, 191, 192, 193} <= values
