"""A case measured on a GPU against an earlier version: what is compared, and what fails nobody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_kernels import AXPY, axpy
from pretend_gpu import pretend

from pytest_cudaopt import case, gate_case
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget, Latency, LatencyKind, Plan, SamplingMode
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.recorded import Recorded
from pytest_cudaopt.run import configure
from pytest_cudaopt.timed_case import TimedCase

NOW = Latency(LatencyKind.MEASURED, 6200.0, SamplingMode.COLD)
THEN = Recorded(LatencyKind.MEASURED, 6000.0, SamplingMode.COLD)
SLOWER = Gated("baseline", GateVerdict.SLOWER, "measured side by side")


class Bench:
    """A kernel as it is on a pretended GPU, and what was asked of the measurement beside an earlier one."""

    def __init__(self, folder: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kernel = axpy(folder, cases=[case(n=100, measure=True)])
        self.gpu, _ = pretend(sim)
        self.answer: Gated | Finding = SLOWER
        self.measured: list[Any] = []
        monkeypatch.setattr(gate_case, "gate_measured", self._measure)

    def _measure(self, prepared: Any, earlier: Any, current: Any, *rest: Any) -> Gated | Finding:
        self.measured.append((earlier, current))
        return self.answer

    def gate(self, source: str | None, why_not: str = "", recorded: Recorded | None = None) -> Gated:
        """Gate the kernel against `source`, of which `recorded` is known."""
        kernel, plan = self.kernel, Plan((), self.kernel.cases)
        start, prepared = kernel.start(), prepare(kernel, kernel.cases[0], self.gpu)
        compiled = compile_candidate(kernel, start, self.gpu, Budget())
        assert isinstance(compiled, Compiled)
        launch = configure(start, prepared, compiled, self.gpu)
        assert isinstance(launch, LaunchConfiguration)
        earlier = None if source is None else kernel.candidate(source, kernel.source)
        known = {} if recorded is None else {"n100": recorded}
        current = TimedCase(start, compiled, prepared, launch, NOW)
        incumbent = Incumbent("baseline", earlier, why_not, known)
        return gate_case.gate_case(current, incumbent, self.gpu, plan)


@pytest.fixture
def bench(tmp_path: Path, sim: Device, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, sim, monkeypatch)


def test_both_versions_are_measured_side_by_side(bench: Bench) -> None:
    assert bench.gate(AXPY.replace("a * x[i]", "x[i] * a")) == SLOWER
    ((earlier, current),) = bench.measured
    assert earlier[0].module.cubin_file != current[0].module.cubin_file


def test_the_very_same_source_is_not_measured(bench: Bench) -> None:
    assert bench.gate(AXPY).verdict is GateVerdict.SAME
    assert bench.measured == []


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (AXPY.replace("float a", "double a"), "does not compile as declared now"),
        (AXPY.replace("block=(BLOCK)", "block=(2048)"), "has no launch here"),
        (None, "cannot be rebuilt: its signature was another"),
    ],
    ids=["signature", "launch", "not-kept"],
)
def test_a_version_that_cannot_be_rebuilt_fails_nobody(bench: Bench, source: str | None, why: str) -> None:
    assert source != AXPY
    gated = bench.gate(source, "" if source else "its signature was another")
    assert (gated.verdict, gated.warns) == (GateVerdict.UNSURE, True)
    assert f"not compared with the baseline: it {why}" in gated.reason
    assert bench.measured == []


def test_a_fault_while_timing_fails_nobody_either(bench: Bench) -> None:
    bench.answer = Finding(FindingKind.TIMEOUT, "it took too long")
    gated = bench.gate(AXPY.replace("a * x[i]", "x[i] * a"))
    assert (gated.verdict, gated.warns) == (GateVerdict.UNSURE, True)
    assert "cannot be timed: it took too long" in gated.reason


def test_what_was_recorded_is_a_screen_and_no_more(bench: Bench) -> None:
    gated = bench.gate(None, "gone", THEN)
    assert (gated.verdict, gated.ratio) == (GateVerdict.UNSURE, pytest.approx(6200 / 6000))
    assert gated.reason.endswith("by what was recorded 3.3 % slower, 6.00 us -> 6.20 us")
    # A batch is never compared with a cold launch.
    other = bench.gate(None, "gone", replace(THEN, mode=SamplingMode.BATCH))
    assert other.ratio is None
