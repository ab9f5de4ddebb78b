"""What the bench of the gate's rates makes of its decisions, and a run of it on a made-up GPU."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up_gpu import MadeUpGpu

from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.paired import t_quantile
from pytest_cudaopt.run import run

sys.path.insert(0, str(Path(__file__).parent / "bench"))

import gate_figures
import gate_rates
from gate_figures import Decision, Rates
from slowed import steps_for

pytest_plugins = ["made_up_gpu_fixtures"]

SAME, SLOWER, UNSURE = GateVerdict.SAME, GateVerdict.SLOWER, GateVerdict.UNSURE


def decisions(verdict: GateVerdict, number: int, took_s: float = 0.1) -> list[Decision]:
    return [Decision(Gated("baseline", verdict, "", 1.0, 0.999, 1.001, blocks=10), took_s)] * number


def made(equal: list[Decision], slowed: list[Decision], slowdown: float = 1.03) -> Rates:
    return Rates("1 us", "batch", slowdown, len(equal) + len(slowed), equal, slowed)


def test_rates_as_promised_break_nothing() -> None:
    kept = made(decisions(SAME, 74) + decisions(UNSURE, 1), decisions(SLOWER, 95) + decisions(UNSURE, 5))
    assert kept.failures() == []
    assert gate_figures.summary([kept] * 4) == [
        "0 of 300 equal versions failed: a rate of 0.99% at most (95 %)",
        "every promise is kept",
    ]


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (
            made(decisions(SAME, 74) + decisions(SLOWER, 1), decisions(SLOWER, 9)),
            "1 of 75 equal versions failed",
        ),
        (
            made(decisions(SAME, 75), decisions(SLOWER, 94) + decisions(SAME, 6)),
            "94 of 100 slower versions found",
        ),
        (
            made(decisions(SAME, 75), decisions(SLOWER, 9, took_s=0.6)),
            "0.60 s for a decision, expected 0.5 s at most",
        ),
        (made(decisions(SAME, 75), decisions(SLOWER, 9), slowdown=1.0325), "slower by 3.25%, not by 3 %"),
        (
            Rates("1 us", "batch", 1.03, 85, decisions(SAME, 75), decisions(SLOWER, 9)),
            "the budget ended after 84 of 85 decisions",
        ),
    ],
)
def test_a_broken_promise_of_the_gate_is_told(broken: Rates, complaint: str) -> None:
    assert broken.failures() == [f"1 us: {complaint}"]
    assert f"BROKEN 1 us: {complaint}" in gate_figures.summary([broken])


def test_every_decision_that_is_not_as_it_should_be_is_shown_up_to_five_of_a_kind() -> None:
    told = made(decisions(SAME, 9) + decisions(UNSURE, 7), decisions(SLOWER, 3) + decisions(SAME, 1))
    assert told.surprises() == ["    A/A unsure: "] * 5 + ["    A/B same: "]


def test_the_spread_is_what_the_bounds_stand_on() -> None:
    block_sd = 0.002
    reach = t_quantile(0.995, 9) * block_sd / math.sqrt(10)
    gated = Gated("baseline", SAME, "", 1.01, 1.01 * math.exp(-reach), 1.02, blocks=10)
    assert Decision(gated, 0.1).block_sd == pytest.approx(block_sd)
    assert decisions(UNSURE, 1)[0].block_sd is None


def test_both_kinds_of_decisions_are_spread_over_the_whole_time() -> None:
    order = gate_rates.in_turn(75, 100)
    assert (order.count(False), order.count(True)) == (75, 100)
    assert all(order[at : at + 7].count(True) in (3, 4, 5) for at in range(0, 168, 7))


@pytest.mark.parametrize(
    ("shape", "noise"),
    [
        (lambda extra: 1 + extra / 60_000, 0.0),
        # The first steps are hidden behind other work.
        (lambda extra: 1 + max(extra - 800, 0) / 60_000, 0.0),
        (lambda extra: 1 + 0.02 * (extra > 100) + extra / 600_000, 0.0),
        # One step is an eighth of a percent.
        (lambda extra: 1 + extra / 800, 0.0002),
        (lambda extra: 1 + extra / 60_000, 0.0005),
        # Much more, and much less, per step than expected.
        (lambda extra: 1 + extra / 6_000, 0.0002),
        (lambda extra: 1 + extra / 6_000_000, 0.0002),
    ],
)
def test_steps_are_found_that_make_a_kernel_slower_by_three_percent(shape: object, noise: float) -> None:
    chance = np.random.default_rng(2)
    tried = []

    def ratio_at(steps: int) -> float:
        tried.append(steps)
        return float(shape(steps - 64) + chance.normal(0, noise))  # type: ignore[operator]

    steps, ratio = steps_for(ratio_at, 64, 900, 1.03, 0.002)
    assert abs(ratio - 1.03) <= 0.002
    assert abs(shape(steps - 64) - 1.03) <= 0.004  # type: ignore[operator]
    assert len(tried) <= 10


def test_where_no_steps_do_the_nearest_is_told() -> None:
    assert steps_for(lambda steps: 1.0 if steps < 70 else 1.1, 64, 900, 1.03, 0.002)[1] == 1.0


# The digits of a name are the nanoseconds that the made-up GPU takes for it.
TIMED = """\
// @launch grid=(1) block=(32)
// @tune STEPS = 64000
#define NAMED(ns) NAMED_(ns)
#define NAMED_(ns) takes_##ns##_ns
namespace NAMED(STEPS) {
__global__ void delay(const float* x, float* y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = n == -STEPS ? STEPS : x[threadIdx.x];
}
}  // namespace NAMED(STEPS)
using NAMED(STEPS)::delay;
"""
WORKLOADS = (gate_rates.Workload("3 us", 32, 3000), gate_rates.Workload("64 us", 32, 64000))


def run_made_up(gpu: MadeUpGpu, **how: float) -> int:
    source = gpu.folder / "delay.cu"
    source.write_text(TIMED)
    gpu.change(noise_ticks=20)
    with open_device("cuda:0", environ=os.environ) as device:
        equal, slowed = int(how.get("equal", 6)), int(how.get("slowed", 4))
        return gate_rates.run(device, equal, slowed, how.get("budget_s", 600.0), WORKLOADS, source)


def test_a_run_on_a_made_up_gpu_prints_its_table_and_keeps_its_promises(
    gpu: MadeUpGpu, shared_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    # How long a decision takes here says nothing.
    monkeypatch.setattr(gate_figures, "MOST_S", 60.0)
    code = run_made_up(gpu)
    lines = capsys.readouterr().out.splitlines()
    assert code == 0, lines
    assert [line[:15].split() for line in lines[3:5]] == [["3", "us", "batch"], ["64", "us", "cold"]]
    assert all(line[15:47].split() == ["0", "0", "3", "0"] and "4 of 4" in line for line in lines[3:5])
    assert lines[5].startswith("0 of 6 equal versions failed")
    assert lines[6] == "every promise is kept"


def test_a_run_that_is_cut_short_says_so(
    gpu: MadeUpGpu, shared_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    assert run_made_up(gpu, budget_s=0.0) == 1
    assert "BROKEN 64 us: the budget ended after 2 of 7 decisions" in capsys.readouterr().out


def test_the_kernel_of_the_bench_is_slower_by_what_its_last_block_does(sim: Device) -> None:
    counted = []
    for steps in (64, 264):
        bench = gate_rates.Bench(gate_rates.SOURCE, gate_rates.Workload("1 us", 1 << 10), sim)
        compiled, launch = bench.version(steps, 0)
        result = run(bench.prepared, compiled, launch, sim, Budget())
        assert result.fault is None
        assert result.outputs is not None
        assert np.array_equal(result.outputs["y"], bench.prepared.arguments.arrays["x"])
        assert result.counters is not None
        counted.append(result.counters)
    one_block, all_blocks = (
        [counters[name] for counters in counted] for name in ("max_block_instructions", "lane_instructions")
    )
    # Eight warps of 32 lanes in a block.
    assert 200 * 8 <= one_block[1] - one_block[0] < 300 * 8
    assert 32 * (one_block[1] - one_block[0]) == all_blocks[1] - all_blocks[0]
