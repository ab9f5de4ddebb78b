"""What a modelled latency would be without one of its terms."""

from __future__ import annotations

import math

import pytest

from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.optimize.model_terms import gains

# (busy, waiting) = (3, 4) us: 5 us apart, 7 us in a plain sum.
TERMS = {"fp32": 3000.0, "latency": 4000.0, "l2": 0.0, "blocks": 100.0, "tail": 50.0, "launch": 1000.0}


def modelled(median_ns: float, **terms: float) -> Latency:
    return Latency(LatencyKind.MODELLED, median_ns, terms_ns=tuple({**TERMS, **terms}.items()))


def gain_of(latency: Latency, name: str, least: dict[str, float] | None = None) -> float:
    return next(term.gain_ns for term in gains(latency, least) if term.name == name)


@pytest.mark.parametrize(
    ("median_ns", "name", "gain_ns"),
    [
        # Drifted apart: the root of the squares' sum.
        (6050.0, "latency", 2000.0),
        (6050.0, "fp32", 1000.0),
        # Half in step: half way to the plain sum.
        (7050.0, "latency", 3000.0),
        (7050.0, "tail", 50.0),
        (7050.0, "blocks", 0.0),
    ],
)
def test_a_gain_is_what_the_latency_loses_without_the_term(
    median_ns: float, name: str, gain_ns: float
) -> None:
    assert gain_of(modelled(median_ns), name) == pytest.approx(gain_ns)


def test_the_largest_gain_is_first_and_the_launch_is_none() -> None:
    assert [term.name for term in gains(modelled(6050.0))][:3] == ["latency", "fp32", "tail"]
    assert "launch" not in [term.name for term in gains(modelled(6050.0))]


def test_of_l2_and_dram_only_the_larger_one_counts() -> None:
    both = modelled(1000.0 + 50.0 + 5000.0, fp32=0.0, l2=2000.0, dram=3000.0)
    assert gain_of(both, "l2") == 0.0
    assert gain_of(both, "dram") == pytest.approx(5000.0 - math.hypot(2000.0, 4000.0))


def test_what_overlaps_counts_by_the_cube_root_of_the_cubes_sum() -> None:
    busy = 3000.0 * math.cbrt(2.0)
    equal = modelled(1000.0 + 50.0 + busy, issue=3000.0, latency=0.0)
    assert gain_of(equal, "issue") == pytest.approx(busy - 3000.0)


def test_where_starting_blocks_decides_nothing_else_is_a_gain() -> None:
    latency = modelled(1000.0 + 50.0 + 9000.0, blocks=9000.0)
    assert gain_of(latency, "fp32") == 0.0
    assert gain_of(latency, "blocks") == pytest.approx(9000.0 - 6000.0)


def test_a_term_that_cannot_be_less_is_no_gain() -> None:
    assert gain_of(modelled(6050.0), "fp32", {"fp32": 3000.0}) == 0.0
    assert gain_of(modelled(6050.0), "fp32", {"fp32": 9000.0}) == 0.0
    assert 0.0 < gain_of(modelled(6050.0), "fp32", {"fp32": 2000.0}) < 1000.0


def test_a_measured_latency_has_no_terms() -> None:
    assert gains(Latency(LatencyKind.MEASURED, 5.0)) == ()
