"""The latency model against silicon and against itself, through the harness."""

from __future__ import annotations

import pytest
from bench.latency_model import VARIANTS, Variant, model, ordered_pairs, ranks, spearman

from pytest_cudaopt.device import Device
from pytest_cudaopt.protocol import SimOptions

# The other families need hundreds of megabytes and measure the same paths of the model.
LARGEST_BYTES = 1 << 28


def variant(family: str, name: str) -> Variant:
    return next(v for v in VARIANTS if (v.family, v.name) == (family, name))


@pytest.mark.parametrize("family", ["sgemm", "softmax", "transpose", "sizes"])
def test_variants_that_differ_by_half_on_silicon_are_modelled_in_that_order(family: str, sim: Device) -> None:
    variants = [v for v in VARIANTS if v.family == family and sum(v.arrays) <= LARGEST_BYTES]
    times = [(model(sim, v).median_ns / 1000, v.silicon_us) for v in variants]
    right, total = ordered_pairs(times)
    assert total >= 3
    assert right == total, times
    assert spearman(*zip(*times, strict=True)) >= 0.85
    assert all(0.6 < modelled / silicon < 1.6 for modelled, silicon in times), times


@pytest.mark.parametrize(
    ("name", "bound"),
    [("padded tile", "dram"), ("tile", "lsu"), ("naive 32x8", "l2")],
)
def test_the_bound_names_what_a_transpose_suffers_from(name: str, bound: str, sim: Device) -> None:
    assert model(sim, variant("transpose", name)).bound == bound


@pytest.mark.parametrize("sim_options", [SimOptions(threads=7), SimOptions(threads=2, isa="x86-64")])
def test_threads_and_instruction_set_of_the_host_change_nothing(sim_options: SimOptions, sim: Device) -> None:
    softmax = variant("softmax", "block 256")
    assert model(sim, softmax, sim_options) == model(sim, softmax, SimOptions(threads=1))


def test_equal_values_share_their_mean_rank() -> None:
    assert ranks([3.0, 1.0, 3.0]) == [1.5, 0.0, 1.5]


def test_spearman_is_one_in_order_and_minus_one_reversed() -> None:
    assert spearman([1.0, 2.0, 9.0], [4.0, 5.0, 6.0]) == 1
    assert spearman([1.0, 2.0, 9.0], [6.0, 5.0, 4.0]) == -1


def test_only_pairs_far_apart_on_silicon_are_judged() -> None:
    assert ordered_pairs([(1.0, 10.0), (2.0, 14.0), (3.0, 30.0)]) == (2, 2)
    assert ordered_pairs([(4.0, 10.0), (3.0, 30.0)]) == (0, 1)
