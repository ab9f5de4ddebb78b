"""Counters of several versions side by side."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.optimize.counters_table import table

OCCUPANCY = {"blocks_per_sm": 4, "warps_per_sm": 32, "limited_by": "registers"}


def modelled(median_ns: float, **counters: Any) -> Latency:
    terms = (("fp32", 3000.0), ("fp64", 0.0), ("latency", 4000.0), ("launch", 1000.0))
    return Latency(
        LatencyKind.MODELLED, median_ns, terms_ns=terms, occupancy=OCCUPANCY, counters={**counters}
    )


def rows(*latencies: Latency) -> dict[str, list[str]]:
    """Return the cells of each row by its name."""
    titles = {f"version {number}": latency for number, latency in enumerate(latencies)}
    lines = [line.split("  ") for line in table(titles, 132).splitlines()[1:]]
    return {first: [part.strip() for part in parts if part.strip()] for first, *parts in lines}


def test_versions_stand_side_by_side() -> None:
    found = rows(modelled(6000.0, barriers=256), modelled(6000.0, barriers=0))
    assert found["total"] == ["6.00 us", "6.00 us"]
    assert found["barriers"] == ["256", "0"]
    assert found["term fp32, ns"] == ["3000 (-1000)", "3000 (-1000)"]


def test_what_is_zero_everywhere_has_no_row() -> None:
    found = rows(modelled(6000.0, barriers=0, warp_instructions={"fp32": 7, "tensor": 0}))
    assert found["warp_instructions.fp32"][0] == "7"
    assert {"barriers", "warp_instructions.tensor", "term fp64, ns"} & set(found) == set()


def test_a_meaning_is_told_once() -> None:
    latency = modelled(6000.0, warp_instructions={"fp32": 7, "integer": 8}, shared_wavefronts=9)
    text = table({"": latency}, 132)
    assert text.count("instructions issued, once per warp") == 1
    assert "passes through the banks" in text


@pytest.mark.parametrize(
    ("blocks", "held"), [(132, "8 (grid)"), (133, "16 (grid)"), (9999, "32 (registers)")]
)
def test_a_grid_with_few_blocks_is_what_limits_the_warps(blocks: int, held: str) -> None:
    assert rows(modelled(6000.0, blocks=blocks))["warps per SM"] == [held]


def test_a_measured_latency_has_its_doubts_beside_it() -> None:
    measured = Latency(LatencyKind.MEASURED, 6000.0, notes=("the clock fell",))
    assert "the clock fell" in table({"": measured}, 132)


def test_what_declared_work_needs_is_no_gain() -> None:
    lines = table({"": modelled(6000.0)}, 132, {"fp32": 3000.0}).splitlines()
    (row,) = [line for line in lines if line.startswith("term fp32")]
    assert "3000 (-0)" in row
