"""Races and reads of unwritten memory are found at their line, and mended kernels are silent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from checked_launches import Planted, findings
from harness_client import Served
from racing_kernels import BETWEEN_BLOCKS, SILENT, UNWRITTEN, WITHIN_A_BLOCK

PLANTED = (*WITHIN_A_BLOCK, *BETWEEN_BLOCKS, *UNWRITTEN)
by_name = pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
orders = pytest.mark.parametrize("order", ["forward", "reverse", "random"])


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as client:
        yield client


@orders
@by_name
def test_a_mistake_is_found_at_its_line(planted: Planted, order: str, served: Served, tmp_path: Path) -> None:
    found = findings(served, tmp_path, planted, order=order)
    assert {one["line"]: one["kind"] for one in found if one["line"] in planted.marks()} == planted.marks(), (
        found
    )


@orders
@by_name
def test_what_is_mended_is_silent(planted: Planted, order: str, served: Served, tmp_path: Path) -> None:
    assert findings(served, tmp_path, planted, "MENDED", order=order) == []


@orders
@pytest.mark.parametrize("planted", SILENT, ids=lambda planted: planted.name)
def test_a_right_kernel_is_silent(planted: Planted, order: str, served: Served, tmp_path: Path) -> None:
    assert findings(served, tmp_path, planted, order=order) == []


def test_a_race_names_both_threads_and_both_lines(served: Served, tmp_path: Path) -> None:
    (found,) = findings(served, tmp_path, WITHIN_A_BLOCK[0])
    assert (found["buffer"], found["space"], found["access"]) == ("tile", "shared", "read")
    assert (found["line"], found["other"]["line"], found["other"]["access"]) == (8, 4, "write")
    reader, writer = found["thread"][0], found["other"]["thread"][0]
    assert 63 - reader == found["element"] == writer
    assert found["message"] == (
        f"kernel 'k' reads tile[{writer}] at k.cu:8, block (0,0,0), thread ({reader},0,0), which thread "
        f"({writer},0,0) of that block writes at k.cu:4; no __syncthreads() orders the two"
    )


def test_a_race_between_blocks_names_both_blocks(served: Served, tmp_path: Path) -> None:
    (found,) = findings(served, tmp_path, BETWEEN_BLOCKS[0])
    assert (found["block"], found["other"]["block"]) == ([1, 0, 0], [0, 0, 0])
    assert found["times"] == 64
    assert found["message"].endswith("nothing orders blocks within a launch but atomics with fences")
