"""How often the gate errs on a GPU: equal versions that fail, and slower ones that pass.

Run `python tests/bench/gate_rates.py [--decisions 300] [--slower 100] [--budget-s 420]` with the package
installed, on a GPU. A/A: two modules of the same kernel, which a second kernel beside it makes different
files. A/B: the second takes 3 % longer, found by measuring. Every decision is one of `gate_measured`. Exits 1
if one of the A/A decisions fails, fewer than 95 % of the A/B ones do, a decision takes longer than 0.5 s
(median), or the budget ends before all are made.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate_figures import SLOWER, TITLE, USUAL, WITHIN, Decision, Rates, summary
from slowed import steps_for

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.compile import CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gate_measured import Arm, gate_measured
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.paired import estimate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure

SOURCE = Path(__file__).parent / "kernels" / "delay.cu"
CALIBRATION_BLOCKS = 100
# Four cycles at 1980 MHz; where it is not, the second try knows better.
NS_PER_STEP = 2.0


@dataclass(frozen=True)
class Workload:
    """A copy of `n` floats; both versions take `steps` at least."""

    name: str
    n: int
    steps: int = 64


WORKLOADS = (
    Workload("1 us", 1 << 10),
    Workload("4 us", 1 << 21),
    Workload("60 us", 25 << 20),
    Workload("240 us", 100 << 20),
)


class Bench:
    """One workload on a device: its versions, and decisions between them."""

    def __init__(self, source: Path, workload: Workload, device: Device) -> None:
        self.workload = workload
        self.kernel: Kernel = declare(source, workload.n)
        self.device = device
        self.prepared: PreparedCase = prepare(self.kernel, self.kernel.cases[0], device)
        self.mode, self.median_ns = "", 0.0

    def version(self, steps: int, number: int) -> Arm:
        """Compile a version; `number` makes it another module."""
        start = self.kernel.start()
        source = f'{start.source}\nextern "C" __global__ void version_{number}() {{}}\n'
        candidate = replace(start, source=source).with_tunables({"STEPS": steps})
        compiled = compile_candidate(self.kernel, candidate, self.device, Budget())
        if isinstance(compiled, CompileFailure):
            raise SystemExit(f"{self.workload.name}: {compiled.finding.message}")
        launch = configure(candidate, self.prepared, compiled, self.device)
        if isinstance(launch, Finding):
            raise SystemExit(f"{self.workload.name}: {launch.message}")
        return compiled, launch

    def ratio_at(self, steps: int) -> float:
        """Measure the time at `steps` over that at the workload's own, in many blocks."""
        arms = (self.version(self.workload.steps, 0), self.version(steps, 1))
        timed = interleave(self.prepared, arms, self.device, Budget(), blocks=CALIBRATION_BLOCKS)
        if not isinstance(timed, Interleaved):
            raise SystemExit(f"{self.workload.name}: {timed.message}")
        self.mode = timed.mode.value
        self.median_ns = timed.arms[0].median_ns
        return estimate(timed.block_samples_ns(0), timed.block_samples_ns(1)).ratio

    def slower(self) -> tuple[Arm, float]:
        """Return a version that takes 3 % longer, and how much longer it took when it was found."""
        self.ratio_at(self.workload.steps)
        first = round((SLOWER - 1) * self.median_ns / NS_PER_STEP)
        steps, ratio = steps_for(self.ratio_at, self.workload.steps, first, SLOWER, WITHIN)
        return self.version(steps, 1), ratio

    def decide(self, earlier: Arm, current: Arm) -> Decision:
        began = time.perf_counter()
        gated = gate_measured(self.prepared, earlier, current, self.device, Budget(), USUAL, "baseline")
        took_s = time.perf_counter() - began
        if not isinstance(gated, Gated):
            raise SystemExit(f"{self.workload.name}: {gated.message}")
        if not gated.blocks and gated.verdict is GateVerdict.SAME:
            raise SystemExit(f"{self.workload.name}: not measured, {gated.reason}")
        return Decision(gated, took_s)


def declare(source: Path, n: int) -> Kernel:
    @kernel(str(source), cases=[case(n=n, measure=True)], entry="delay")
    def delay(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    return delay


def in_turn(equal: int, slowed: int) -> list[bool]:
    """Return in which order to take decisions, True for A/B: both kinds spread over all of it."""
    places = [((i + 0.5) / equal, False) for i in range(equal)]
    places += [((i + 0.5) / slowed, True) for i in range(slowed)]
    return [is_slowed for _, is_slowed in sorted(places)]


def rates(bench: Bench, equal: int, slowed: int, until: float) -> Rates:
    """Take the decisions of a workload, `until` then; one of each kind in any case."""
    slower, slowdown = bench.slower()
    first, second = (bench.version(bench.workload.steps, number) for number in (0, 1))
    made = Rates(bench.workload.name, bench.mode, slowdown, equal + slowed)
    for is_slowed in in_turn(equal, slowed):
        if time.perf_counter() > until and made.equal and made.slowed:
            break
        if is_slowed:
            made.slowed.append(bench.decide(first, slower))
        else:
            made.equal.append(bench.decide(first, second))
            # Whatever one module has over the other may count for neither version.
            first, second = second, first
    return made


def run(
    device: Device,
    equal: int,
    slowed: int,
    budget_s: float,
    workloads: Sequence[Workload] = WORKLOADS,
    source: Path = SOURCE,
) -> int:
    """Print a line for each workload; return 1 if a promise is broken. `equal` decisions are all together."""
    ends = time.perf_counter() + budget_s
    all_made: list[Rates] = []
    sys.stdout.write(f"{device.description}\n{TITLE}\n")
    for number, workload in enumerate(workloads):
        now = time.perf_counter()
        until = now + (ends - now) / (len(workloads) - number)
        share = equal // len(workloads) + (number < equal % len(workloads))
        all_made.append(rates(Bench(source, workload, device), share, slowed, until))
        sys.stdout.write("\n".join([all_made[-1].line(), *all_made[-1].surprises()]) + "\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join(summary(all_made)) + "\n")
    return 1 if any(made.failures() for made in all_made) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=300, help="A/A decisions of all kernels together")
    parser.add_argument("--slower", type=int, default=100, help="A/B decisions of each kernel")
    parser.add_argument("--budget-s", type=float, default=420.0, help="begin no decision after so long")
    options = parser.parse_args()
    with open_device("cuda:0") as device:
        return run(device, options.decisions, options.slower, options.budget_s)


if __name__ == "__main__":
    sys.exit(main())
