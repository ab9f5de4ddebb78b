"""What is blamed for a longer modelled latency, and at which line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.line_counters import LineCounters
from pytest_cudaopt.modelled_causes import causes

# Of a kernel that waits for nothing in particular.
TERMS = {
    "issue": 100.0,
    "fp32": 50.0,
    "integer": 40.0,
    "lsu": 80.0,
    "l2": 60.0,
    "dram": 90.0,
    "latency": 70.0,
}
COUNTERS: Mapping[str, int] = {
    "blocks": 10,
    "global_load_requests": 100,
    "global_load_sectors": 400,
    "shared_requests": 100,
    "shared_wavefronts": 100,
}
PIPES = {"fp32": 400, "integer": 400, "memory": 200}


def latency(
    counters: Mapping[str, int] | None = None,
    pipes: Mapping[str, int] | None = None,
    lines: tuple[LineCounters, ...] = (),
    warps_per_sm: int = 64,
    bound: str = "issue",
    **terms: float,
) -> Latency:
    instructions = {**PIPES, **(pipes or {})}
    return Latency(
        LatencyKind.MODELLED,
        1000.0,
        bound=bound,
        terms_ns=tuple({**TERMS, **terms}.items()),
        occupancy={"blocks_per_sm": 8, "warps_per_sm": warps_per_sm, "limited_by": "shared"},
        counters={
            **COUNTERS,
            "lane_instructions": 32 * sum(instructions.values()),
            "warp_instructions": instructions,
            **(counters or {}),
        },
        by_line=lines,
    )


def line(number: int, **counters: Any) -> LineCounters:
    return LineCounters("k.cu", number, counters)


def loads(number: int, requests: int, sectors: int) -> LineCounters:
    return line(number, global_load_requests=requests, global_load_sectors=sectors)


@pytest.mark.parametrize(
    ("after", "blamed"),
    [
        (latency({"global_load_sectors": 3194}, l2=900.0), "global load sectors per request 4 -> 31.9"),
        (latency({"shared_wavefronts": 3200}, lsu=900.0), "shared wavefronts per request 1 -> 32"),
        (
            latency({"shared_requests": 400, "shared_wavefronts": 400}, lsu=320.0),
            "shared requests 100 -> 400",
        ),
        (latency({"local_requests": 500}, lsu=320.0), "local requests 0 -> 500"),
        (latency({"atomic_requests": 9}, atomics=320.0), "atomic requests 0 -> 9"),
        (latency({"barriers": 90}, latency=700.0), "barriers 0 -> 90"),
        (latency({"blocks": 9000}, blocks=700.0), "blocks 10 -> 9,000"),
        (latency(pipes={"fp64": 800}, fp64=700.0), "fp64 instructions 0 -> 800"),
        (latency({"lane_instructions": 16000}, issue=300.0), "active lanes per instruction 32 -> 16"),
        (
            latency({"lane_instructions": 16000, "divergent_branches": 50}, issue=300.0),
            "divergent branches 0 -> 50",
        ),
        (latency(warps_per_sm=16, latency=300.0), "warps per SM (limited by shared) 64 -> 16"),
        (latency(latency=300.0), "the model's term 'latency' in ns 70 -> 300"),
    ],
)
def test_the_counter_that_became_worse_is_named(after: Latency, blamed: str) -> None:
    assert str(causes(latency(), after)[0]) == blamed


def test_nothing_is_blamed_where_nothing_grew() -> None:
    assert causes(latency(), latency()) == ()
    # More requests that made no term longer.
    assert causes(latency(), latency({"shared_requests": 400, "shared_wavefronts": 400})) == ()


def test_what_makes_the_longest_term_longer_comes_first() -> None:
    counted = {"global_load_sectors": 800, "shared_wavefronts": 800}
    by_memory = causes(latency(), latency(counted, l2=5000.0, lsu=100.0, bound="l2"))
    by_banks = causes(latency(), latency(counted, l2=70.0, lsu=5000.0, bound="lsu"))
    assert by_memory[0].counter == "global load sectors per request"
    assert by_banks[0].counter == "shared wavefronts per request"


def test_what_bounds_counts_twice() -> None:
    counted = {"global_load_sectors": 800, "shared_wavefronts": 340}
    named = [
        causes(latency(), latency(counted, l2=360.0, lsu=330.0, bound=bound))[0].counter
        for bound in ("l2", "lsu")
    ]
    assert named == ["global load sectors per request", "shared wavefronts per request"]


def test_instructions_that_doubled_because_warps_parted_are_not_more_work() -> None:
    twice = {"fp32": 800, "integer": 800, "memory": 400}
    parted = latency({"lane_instructions": 32000, "divergent_branches": 9}, twice, issue=300.0)
    worked = latency(None, {"fp32": 1400}, issue=300.0)
    assert [one.counter for one in causes(latency(), parted)] == [
        "divergent branches",
        "active lanes per instruction",
    ]
    assert [one.counter for one in causes(latency(), worked)] == ["fp32 instructions"]


def test_ten_times_next_to_nothing_is_no_cause() -> None:
    few = {
        "local_requests": 1,
        "divergent_branches": 1,
        "global_load_requests": 400,
        "global_load_sectors": 1600,
    }
    blamed = causes(latency(), latency(few, lsu=320.0, latency=300.0))
    assert [one.counter for one in blamed] == ["global load requests"]


def test_at_most_three_are_named_and_small_changes_are_not() -> None:
    pipes = {"fp32": 1600, "integer": 1600, "special": 900, "half": 900, "fp64": 900}
    named = causes(latency(), latency(pipes=pipes, issue=900.0))
    assert len(named) == 3
    assert causes(latency(), latency({"shared_requests": 104, "shared_wavefronts": 104}, lsu=85.0)) == causes(
        latency(), latency(lsu=85.0)
    )


def test_the_line_is_the_one_that_counts_too_much_not_the_one_that_counts_most() -> None:
    before = latency(lines=(loads(5, 50, 200), loads(6, 50, 200)))
    # Line 6 has moved to 9; 8 is the one that lost its coalescing, with a tenth of the requests.
    after = latency(
        {"global_load_requests": 110, "global_load_sectors": 720},
        lines=(loads(5, 50, 200), loads(8, 10, 320), loads(9, 50, 200)),
        l2=900.0,
    )
    cause = causes(before, after)[0]
    assert (cause.counter, cause.file, cause.line) == ("global load sectors per request", "k.cu", 8)


def test_a_line_that_counts_as_before_is_not_to_blame() -> None:
    strided = loads(3, 10, 320)
    before = latency({"global_load_sectors": 1000}, lines=(strided, loads(7, 10, 40)))
    after = latency({"global_load_sectors": 1900}, lines=(strided, loads(7, 10, 300)), l2=900.0)
    assert causes(before, after)[0].line == 7
    # Without what was before, the worst line is all one can tell.
    assert causes(latency({"global_load_sectors": 1000}), after)[0].line == 3


def test_a_line_that_is_there_twice_now_is_to_blame_once() -> None:
    strided = {"requests": 10, "sectors": 320}
    before = latency(lines=(loads(3, **strided), loads(7, 90, 360)))
    lines = (loads(3, **strided), loads(7, 90, 360), loads(9, **strided))
    after = latency({"global_load_requests": 110, "global_load_sectors": 1000}, lines=lines, l2=900.0)
    assert causes(before, after)[0].line == 9


def test_a_line_without_the_counter_is_never_to_blame() -> None:
    strided = loads(3, 10, 320)
    before = latency({"global_load_requests": 20}, lines=(strided, loads(7, 10, 40)))
    lines = (strided, line(8, barriers=3))
    after = latency({"global_load_requests": 10, "global_load_sectors": 320}, lines=lines, l2=900.0)
    assert causes(before, after)[0].line == 3


def test_without_counters_by_line_no_line_is_named() -> None:
    cause = causes(latency(), latency({"global_load_sectors": 3200}, l2=900.0))[0]
    assert (cause.file, cause.line) == ("", None)
