"""Clusters and cooperative grids through the border to a GPU, on a driver made up for tests."""

from __future__ import annotations

import pytest
from harness_client import Json
from made_up_gpu import MadeUpGpu, latency, launch, request

pytest_plugins = ["made_up_gpu_fixtures"]

ATTRIBUTES: Json = {"grid": [4, 1, 1], "cluster": [2, 1, 1], "cooperative": True}


def test_attributes_of_a_launch_reach_the_driver(gpu: MadeUpGpu) -> None:
    gpu.ask(request(gpu, "copies", launch("copies", 8, **ATTRIBUTES), launch("copies", 8, grid=[4, 1, 1])))
    with_them, without = gpu.launches("copies")
    assert " grid=4 block=32 shared=0 cluster=2x1x1 cooperative " in with_them
    assert "cluster" not in without
    assert "cooperative" not in without


@pytest.mark.parametrize(
    ("entry", "changes", "message"),
    [
        ("copies", {"grid": [5, 1, 1]}, "cluster is (2,1,1), which does not divide the grid (5,1,1)"),
        ("clusters_of_4", {}, "the kernel is compiled for clusters of (4,1,1) blocks"),
        ("copies", {"grid": [10_000, 1, 1]}, "10000 blocks, 8448 are resident at once (64 on each of 132"),
    ],
)
def test_attributes_the_gpu_cannot_have_are_an_invalid_launch(
    gpu: MadeUpGpu, entry: str, changes: Json, message: str
) -> None:
    fault = gpu.ask(request(gpu, entry, launch(entry, 8, **{**ATTRIBUTES, **changes})))["fault"]
    assert fault["kind"] == "invalid_launch"
    assert message in fault["message"]


@pytest.mark.parametrize("mode", ["cold", "batch"])
def test_timed_launches_have_the_attributes_too(gpu: MadeUpGpu, mode: str) -> None:
    latency(gpu, "copies", mode=mode, **ATTRIBUTES)
    timed_launches = gpu.launches("copies")
    assert timed_launches
    assert all(" cluster=2x1x1 cooperative " in line for line in timed_launches)
