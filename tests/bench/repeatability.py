"""How well a median repeats: ours, events around each launch, and `triton.testing.do_bench`, in one run.

Run `python tests/bench/repeatability.py [--repeats 20]` on a GPU, with the package, torch and triton there.
All methods time the same binary at the same sizes. What is compared is the spread of their medians over
repetitions. The methods take turns, so that each starts from the clocks and temperatures another's load left;
with `--directly` the repetitions of one follow each other. Exits 1 if ours is further apart than promised.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from same_binary import SameBinary

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget, Latency, Plan, Sampling, SamplingMode, Stage
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.measure import measure
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import Load, Measure
from pytest_cudaopt.run import configure

KERNELS = Path(__file__).parent / "kernels"
OURS, COLD, BATCH, PLAIN, DO_BENCH = "ours", "ours, cold", "ours, batch", "plain events", "do_bench"
WARMUP, SAMPLES = 10, 100


@dataclass(frozen=True)
class Workload:
    """A vector sum of `n` floats; `most_spread` is what our medians may differ by, as sd over mean."""

    name: str
    n: int
    most_spread: float
    least_gain: float = 1.0


WORKLOADS = (
    Workload("1 us", 1 << 10, 0.001, least_gain=10.0),
    Workload("60 us", 1 << 24, 0.003),
    Workload("240 us", 1 << 26, 0.0015),
)


@kernel(
    str(KERNELS / "vadd.cu"),
    cases=[case(n=workload.n, measure=True) for workload in WORKLOADS],
    launch="grid=(cdiv(n, 256)) block=(256)",
)
def vadd(a=In(f32, "n"), b=In(f32, "n"), c=Out(f32, "n"), n=i32):
    """Add two vectors."""
    c[...] = a + b


@dataclass
class Medians:
    """Medians in us by method, one for each repetition."""

    workload: Workload
    tick_us: float = 0.0
    by_method: dict[str, list[float]] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)
    sm_cycles: list[float] = field(default_factory=list)

    def add(self, method: str, median_us: float) -> None:
        self.by_method.setdefault(method, []).append(median_us)

    def spread(self, method: str) -> float:
        medians = self.by_method[method]
        return statistics.stdev(medians) / statistics.fmean(medians)

    @property
    def resolution(self) -> float:
        """The spread that rounding to the events' tick alone gives a median of single launches."""
        return self.tick_us / 12**0.5 / statistics.fmean(self.by_method[COLD])

    def failures(self) -> list[str]:
        """Say which promises are broken."""
        ours, plain, do_bench = (self.spread(method) for method in (OURS, PLAIN, DO_BENCH))
        found = []
        if ours > self.workload.most_spread:
            found.append(f"ours spreads by {ours:.3%}, expected at most {self.workload.most_spread:.3%}")
        if ours * self.workload.least_gain > plain:
            found.append(f"ours spreads by {ours:.3%}, expected {plain:.3%} / {self.workload.least_gain:g}")
        # Two spreads below the tick's own cannot be told apart.
        if ours > max(do_bench, self.resolution):
            found.append(f"ours spreads by {ours:.3%}, do_bench by {do_bench:.3%}")
        return [f"{self.workload.name}: {text}" for text in found]

    def lines(self) -> list[str]:
        ours = self.spread(OURS)
        lines = [f"{self.workload.name:<8}{'method':<14}{'median us':>11}{'spread':>9}{'x ours':>8}"]
        for method, medians in self.by_method.items():
            spread = self.spread(method)
            ratio = f"{spread / ours:.1f}" if ours else "-"
            lines.append(f"{'':<8}{method:<14}{statistics.median(medians):>11.3f}{spread:>9.3%}{ratio:>8}")
        if self.sm_cycles:
            spread = statistics.stdev(self.sm_cycles) / statistics.fmean(self.sm_cycles)
            lines.append(f"{'':<8}note: ours, counted in cycles of the SM clock, spreads by {spread:.3%}")
        return lines + [f"{'':<8}note: {note}" for note in sorted(self.notes)]


class Ours:
    """The package's measurements of a case; every one is a request of its own."""

    def __init__(self, device: Device, kernel: Kernel, workload: Workload) -> None:
        self._device = device
        candidate = kernel.start()
        compiled = compile_candidate(kernel, candidate, device, Budget())
        if isinstance(compiled, CompileFailure):
            raise SystemExit(f"vadd: {compiled.finding.message}")
        one = next(one for one in kernel.cases if one.by_name["n"] == workload.n)
        self.compiled: Compiled = compiled
        self.prepared: PreparedCase = prepare(kernel, one, device)
        launch = configure(candidate, self.prepared, compiled, device)
        if isinstance(launch, Finding):
            raise SystemExit(f"vadd: {launch.message}")
        self.launch: LaunchConfiguration = launch

    def chosen(self) -> Latency:
        """Measure as the package does, in the mode it chooses."""
        plan = Plan((Stage.MEASURE,), (self.prepared.case,), warmup=WARMUP, samples=SAMPLES)
        measured = measure(self.prepared, self.compiled, self.launch, self._device, plan)
        if isinstance(measured, Finding):
            raise SystemExit(f"vadd: {measured.message}")
        return measured.latency

    def sampling(self, mode: SamplingMode) -> Sampling:
        """Measure in one mode, whatever the package would choose."""
        step = launch_step(self.prepared, self.compiled, self.launch)
        request = base_request(self.prepared, self.compiled, "repeat", self._device, Budget(), guard_bytes=0)
        timed = Measure.of(step, warmup=WARMUP, samples=SAMPLES, mode=mode.value)
        answer = self._device.ask(replace(request, steps=(Load(step.module), timed)))
        latency = None if answer.fault else answer.step("measure").latency
        sampling = None if latency is None else getattr(latency, mode.value)
        if sampling is None:
            raise SystemExit(f"vadd, {mode}: {answer.fault or (latency and latency.batch_refused)}")
        return sampling


def measure_all(device: Device, workload: Workload, repeats: int, in_turn: bool) -> Medians:
    """Measure every method `repeats` times: one method after the other, or `in_turn`."""
    ours = Ours(device, vadd, workload)
    medians = Medians(workload)
    with SameBinary(ours.compiled, ours.launch, workload.n) as binary:
        methods: dict[str, Callable[[], float]] = {
            PLAIN: lambda: statistics.median(binary.plain_us(WARMUP, SAMPLES)),
            DO_BENCH: binary.do_bench_us,
        }
        for _ in range(repeats):
            chosen = ours.chosen()
            medians.tick_us = (chosen.tick_ns or 0.0) / 1000
            medians.add(OURS, chosen.median_ns / 1000)
            # The mode that counts is measured last, in blocks of the same number of samples.
            blocks = chosen.sm_clock_mhz[len(chosen.sm_clock_mhz) // 2 if chosen.batch else 0 :]
            medians.sm_cycles.append(chosen.median_ns / 1000 * statistics.fmean(blocks))
            cold = chosen.cold or ours.sampling(SamplingMode.COLD)
            batch = chosen.batch or ours.sampling(SamplingMode.BATCH)
            medians.add(COLD, cold.median_ns / 1000)
            medians.add(BATCH, batch.median_ns / 1000)
            medians.notes.update(chosen.notes)
            if in_turn:
                add_others(medians, methods, 1)
        if not in_turn:
            add_others(medians, methods, repeats)
    return medians


def add_others(medians: Medians, methods: Mapping[str, Callable[[], float]], repeats: int) -> None:
    for method, median_us in methods.items():
        for _ in range(repeats):
            medians.add(method, median_us())


def main() -> int:
    """Print a table for each kernel; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--directly", action="store_true", help="repeat one method after the other")
    parser.add_argument("--only", choices=[workload.name for workload in WORKLOADS])
    options = parser.parse_args()
    failures: list[str] = []
    with open_device("cuda:0") as device:
        sys.stdout.write(f"{device.description}; {options.repeats} repetitions of each median\n")
        for workload in (w for w in WORKLOADS if options.only in (None, w.name)):
            medians = measure_all(device, workload, options.repeats, in_turn=not options.directly)
            failures += medians.failures()
            sys.stdout.write("\n".join(medians.lines()) + "\n")
            sys.stdout.flush()
    sys.stdout.write("".join(f"BROKEN {failure}\n" for failure in failures) or "every promise is kept\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
