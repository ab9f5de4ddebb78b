"""The verdict on two modelled latencies."""

from __future__ import annotations

import pytest

from pytest_cudaopt.evaluation import Latency, LatencyKind, SamplingMode
from pytest_cudaopt.gate_modelled import gate_modelled, recorded_of, thresholds_of
from pytest_cudaopt.gated import Cause, GateVerdict, Thresholds
from pytest_cudaopt.recorded import Recorded

THRESHOLDS = Thresholds()


def recorded(median_ns: float, **counters: int) -> Recorded:
    return Recorded(LatencyKind.MODELLED, median_ns, counters=counters)


@pytest.mark.parametrize(
    ("current_ns", "verdict", "warns"),
    [
        (1000.0, GateVerdict.SAME, False),
        (1090.0, GateVerdict.SAME, False),
        (1100.0, GateVerdict.UNSURE, True),
        (1490.0, GateVerdict.UNSURE, True),
        (1500.0, GateVerdict.SLOWER, False),
        (4000.0, GateVerdict.SLOWER, False),
        (910.0, GateVerdict.SAME, False),
        (909.0, GateVerdict.FASTER, False),
    ],
)
def test_the_ratio_decides(current_ns: float, verdict: GateVerdict, warns: bool) -> None:
    gated = gate_modelled(recorded(1000.0), recorded(current_ns), THRESHOLDS, "baseline")
    assert (gated.verdict, gated.warns) == (verdict, warns)
    assert gated.fails is (verdict is GateVerdict.SLOWER)
    assert (gated.against, gated.before_ns, gated.after_ns) == ("baseline", 1000.0, current_ns)
    assert gated.ratio == current_ns / 1000.0


def test_equal_numbers_are_the_same_counters() -> None:
    gated = gate_modelled(recorded(1000.0, barriers=3), recorded(1000.0, barriers=3), THRESHOLDS, "baseline")
    assert gated.reason == "the same counters and modelled latency"
    other = gate_modelled(recorded(1000.0, barriers=3), recorded(1000.0, barriers=4), THRESHOLDS, "baseline")
    assert other.verdict is GateVerdict.SAME
    assert other.reason == "modelled latency is 1 times the earlier one, 1.00 us -> 1.00 us"


def test_equal_counters_do_not_hide_a_lost_occupancy() -> None:
    gated = gate_modelled(recorded(1000.0, barriers=3), recorded(2000.0, barriers=3), THRESHOLDS, "baseline")
    assert gated.fails


def test_the_reason_names_the_causes_where_somebody_has_to_look() -> None:
    causes = (Cause("global load sectors per request", 4.0, 31.94, "softmax.cu", 12),)
    gated = gate_modelled(recorded(1000.0), recorded(2500.0), THRESHOLDS, "baseline", causes)
    assert gated.reason == (
        "modelled latency is 2.5 times the earlier one, 1.00 us -> 2.50 us: "
        "global load sectors per request 4 -> 31.9 at softmax.cu:12"
    )
    assert gated.causes == causes
    assert "softmax" not in gate_modelled(recorded(1000.0), recorded(500.0), THRESHOLDS, "a", causes).reason


@pytest.mark.parametrize("measured_first", [True, False])
def test_modelled_and_measured_never_meet(measured_first: bool) -> None:
    measured = Recorded(LatencyKind.MEASURED, 1000.0, SamplingMode.COLD)
    pair = (measured, recorded(1000.0)) if measured_first else (recorded(1000.0), measured)
    with pytest.raises(ValueError, match="a modelled latency, got a measured one"):
        gate_modelled(*pair, THRESHOLDS, "baseline")


def test_nothing_fails_where_the_gate_only_warns() -> None:
    thresholds = thresholds_of("warn", THRESHOLDS)
    gated = gate_modelled(recorded(1000.0), recorded(9000.0), thresholds, "baseline")
    assert (gated.verdict, gated.warns) == (GateVerdict.UNSURE, True)
    assert thresholds_of("fail", THRESHOLDS) == THRESHOLDS


def test_a_latency_is_recorded_with_three_digits_and_flat_counters() -> None:
    counters = {"blocks": 4, "warp_instructions": {"fp32": 7, "memory": 2}}
    kept = recorded_of(Latency(LatencyKind.MODELLED, 12345.6, counters=counters))
    assert kept == Recorded(
        LatencyKind.MODELLED,
        12300.0,
        counters={"blocks": 4, "warp_instructions.fp32": 7, "warp_instructions.memory": 2},
    )
