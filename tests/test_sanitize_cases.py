"""Which cases are sanitized: small ones, the smallest in any case, and draws that repeat."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernels import axpy

from pytest_cudaopt import case
from pytest_cudaopt.sanitize_cases import drawn_cases, small_cases

CASES = [case(n=100), case(n=1), case(n=1000)]


@pytest.mark.parametrize(("most", "left"), [(2000, [100, 1, 1000]), (1999, [100, 1]), (2, [1]), (0, [1])])
def test_cases_are_small_by_all_their_arrays_and_the_smallest_always_is(
    most: int, left: list[int], tmp_path: Path
) -> None:
    kernel = axpy(tmp_path, cases=CASES)
    assert [one.by_name["n"] for one in small_cases(kernel, kernel.cases, most)] == left


def test_no_cases_are_none(tmp_path: Path) -> None:
    assert small_cases(axpy(tmp_path), (), 1000) == ()


def test_draws_depend_on_the_declaration_or_the_seed_alone(tmp_path: Path) -> None:
    kernel = axpy(tmp_path, cases=CASES)
    start = kernel.start()
    drawn = drawn_cases(kernel, start, 3, None)
    assert len(drawn) == 3
    assert drawn == drawn_cases(kernel, start, 3, None)
    assert drawn_cases(kernel, start, 3, 1) == drawn_cases(kernel, start, 3, 1)
    assert drawn_cases(kernel, start, 3, 1) != drawn_cases(kernel, start, 3, 2)


def test_draws_keep_the_contract(tmp_path: Path) -> None:
    kernel = axpy(tmp_path, cases=[case(n=64)], choices={"n": (64, 128)})
    assert {one.by_name["n"] for one in drawn_cases(kernel, kernel.start(), 8, None)} <= {64, 128}
