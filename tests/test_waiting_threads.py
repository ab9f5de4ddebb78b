"""Threads, lanes and blocks that wait for each other, compiled from CUDA and executed on the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import waiting_kernels as kernels
from harness_client import COMPILE, LOAD, Json, Served, launch, module, request
from ptx_runner import Array

from pytest_cudaopt.toolchain import find_toolchain

ORDERS: tuple[Json, ...] = (
    {},
    {"order": "reverse"},
    *({"order": "random", "order_seed": seed} for seed in range(3)),
)
ZERO = "00000000"


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served() as served:
        yield served


def answered(
    harness: Served,
    folder: Path,
    source: str,
    *,
    grid: int,
    block: int,
    words: int = 1,
    orders: tuple[Json, ...] = ORDERS,
    shared_bytes: int = 0,
    cooperative: bool = False,
    **sim: int,
) -> Json:
    """Launch `k` once per order, each time on zeros, and read `y` into a file per order."""
    steps: list[Json] = [COMPILE, LOAD]
    include = list(find_toolchain().include)
    arguments = ({"buffer": "y"}, {"buffer": "state"})
    for i, order in enumerate(orders):
        steps += [{"do": "fill", "buffer": name, "pattern": ZERO} for name in ("y", "state")]
        launched = launch("k", *arguments, grid=grid, block=block) | order
        steps += [launched | {"shared_bytes": shared_bytes, "cooperative": cooperative}]
        steps += [{"do": "read", "buffer": "y", "file": f"n0-{i}.bin"}]
    return harness.ask(
        request(
            *steps,
            directory=str(folder),
            sim=sim,
            modules=[module(source, "k", options=["-std=c++17", "-lineinfo"], include=include)],
            buffers=[
                {"name": "y", "bytes": 4 * words, "element_bytes": 4},
                {"name": "state", "bytes": max(8 * (grid + 1), 4 * words), "element_bytes": 4},
            ],
        )
    )


def outputs(harness: Served, folder: Path, source: str, **how: Any) -> list[Array]:
    answer = answered(harness, folder, source, **how)
    assert answer["status"] == "ok", answer["fault"]["message"]
    return [np.fromfile(folder / f"n0-{i}.bin", dtype=np.uint32) for i in range(len(ORDERS))]


def fault_of(harness: Served, folder: Path, source: str, **how: Any) -> Json:
    answer = answered(harness, folder, source, orders=({},), **how)
    assert answer["status"] == "fault"
    fault: Json = answer["fault"]
    return fault


def line_of(source: str, text: str) -> int:
    return next(i for i, line in enumerate(source.splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    "source",
    [kernels.SPIN_LOCK, kernels.TRY_LOCK, kernels.TICKET_LOCK, kernels.LOCK_AROUND_SYNCWARP],
    ids=["spin", "try", "ticket", "around-syncwarp"],
)
def test_every_thread_has_its_turn_under_a_lock(harness: Served, tmp_path: Path, source: str) -> None:
    for y in outputs(harness, tmp_path, source, grid=3, block=96):
        assert y.tolist() == [sum(range(3 * 96))]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_scan_that_looks_back_over_200_blocks_ends_in_any_order(
    harness: Served, tmp_path: Path, threads: int
) -> None:
    expected = np.cumsum(np.arange(200 * 64), dtype=np.uint32)
    for y in outputs(
        harness, tmp_path, kernels.LOOK_BACK, grid=200, block=64, words=200 * 64, threads=threads
    ):
        np.testing.assert_array_equal(y, expected)


def test_a_barrier_of_the_grid_by_hand_works_within_what_runs_at_once(
    harness: Served, tmp_path: Path
) -> None:
    for y in outputs(
        harness, tmp_path, kernels.GRID_BARRIER, grid=132, block=64, words=132, shared_bytes=200_000
    ):
        np.testing.assert_array_equal(y, 3 * np.roll(np.arange(132), -1))


def test_a_barrier_of_more_blocks_than_run_at_once_never_ends(harness: Served, tmp_path: Path) -> None:
    fault = fault_of(
        harness, tmp_path, kernels.GRID_BARRIER, grid=133, block=64, words=133, shared_bytes=200_000
    )
    assert (fault["kind"], fault["file"]) == ("no_progress", "k.cu")
    assert fault["line"] == line_of(kernels.GRID_BARRIER, "while")
    assert "132 of 133 blocks run, as many as the GPU holds at once" in fault["message"]


def test_a_warp_may_wait_for_a_flag_of_another(harness: Served, tmp_path: Path) -> None:
    for y in outputs(harness, tmp_path, kernels.FLAG, grid=1, block=128):
        assert y.tolist() == [1]


def test_who_waits_for_a_flag_nobody_sets_is_named_with_who_waits_for_them(
    harness: Served, tmp_path: Path
) -> None:
    source = kernels.FLAG_NEVER_SET
    fault = fault_of(harness, tmp_path, source, grid=1, block=128)
    assert fault["kind"] == "no_progress"
    spin, barrier = line_of(source, "while"), line_of(source, "if (threadIdx.x == 0) y") - 1
    assert f"96 threads go round at k.cu:{spin}" in fault["message"]
    assert f"32 threads wait at barrier 0 (32 of 128 have arrived) at k.cu:{barrier}" in fault["message"]


@pytest.mark.parametrize("name", kernels.UNIFORM_BARRIERS)
def test_a_barrier_of_all_threads_that_have_not_returned_is_no_divergence(
    harness: Served, tmp_path: Path, name: str
) -> None:
    source = kernels.around_a_barrier(kernels.UNIFORM_BARRIERS[name])
    first, *others = outputs(harness, tmp_path, source, grid=1, block=128, words=128)
    for y in others:
        np.testing.assert_array_equal(y, first)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", kernels.PASSED_BARRIERS)
def test_going_past_a_barrier_of_others_is_a_divergence_at_its_line(
    harness: Served, tmp_path: Path, name: str, order: Json
) -> None:
    source = kernels.around_a_barrier(kernels.PASSED_BARRIERS[name])
    answer = answered(harness, tmp_path, source, grid=1, block=128, words=128, orders=(order,))
    assert answer["status"] == "fault"
    assert answer["fault"]["kind"] == "barrier_divergence"
    assert answer["fault"]["line"] == line_of(source, "__syncthreads")


def test_lanes_shuffle_with_those_in_the_other_way_of_a_branch(harness: Served, tmp_path: Path) -> None:
    t = np.arange(64)
    expected = np.where(t % 32 < 16, (t ^ 16) ** 2 * 2, (t ^ 16) + 1000 + 3)
    for y in outputs(harness, tmp_path, kernels.SHUFFLE_IN_BOTH_WAYS, grid=1, block=64, words=64):
        np.testing.assert_array_equal(y, expected)


def test_lanes_named_by_a_shuffle_that_only_others_execute_are_absent(
    harness: Served, tmp_path: Path
) -> None:
    source = kernels.SHUFFLE_IN_ONE_WAY
    for order in ORDERS:
        answer = answered(harness, tmp_path, source, grid=1, block=64, words=64, orders=(order,))
        assert answer["fault"]["kind"] == "absent_lane"
        assert answer["fault"]["line"] == line_of(source, "__shfl")


def test_a_cooperative_grid_waits_for_itself_in_any_order(harness: Served, tmp_path: Path) -> None:
    i = np.arange(40 * 64, dtype=np.uint32)
    expected = np.zeros_like(i)
    for _ in range(3):
        expected = (expected + i)[::-1]
    how = {"grid": 40, "block": 64, "words": 40 * 64}
    for y in outputs(harness, tmp_path, kernels.GRID_SYNC, cooperative=True, **how):
        np.testing.assert_array_equal(y, expected)
