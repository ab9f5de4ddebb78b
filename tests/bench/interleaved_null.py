"""How often the interleaved measurement errs: equal arms called different, and slower ones unseen.

Run `python tests/bench/interleaved_null.py [--repeats 50]` with the package installed, on a GPU. Each
decision times two separately compiled modules in ABBA blocks. An arm counts as slower if the lower bound of
the ratio is above 0.5 % and its estimate above 1.5 %, as faster likewise. Exits 1 if more than 2 % of the A/A
decisions say anything, or fewer than 95 % of the A/B ones see the slower arm.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.compile import Compiled, CompileFailure, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.interleave import Interleaved, interleave
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.paired import PairedEstimate, estimate
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.run import configure

KERNELS = Path(__file__).parent / "kernels"
BOUND, EFFECT = 1.005, 1.015
MOST_FALSE, LEAST_SEEN = 0.02, 0.95
Arm = tuple[Compiled, LaunchConfiguration]


def declare(source: str, n: int) -> Kernel:
    @kernel(str(KERNELS / f"{source}.cu"), cases=[case(n=n, measure=True)], entry=source)
    def sum_of_two(a=In(f32, "n"), b=In(f32, "n"), c=Out(f32, "n"), n=i32):
        c[...] = a + b

    return sum_of_two


@dataclass(frozen=True)
class Experiment:
    """A kernel at two values of a tunable; the second makes it about `slower` slower."""

    name: str
    source: str
    n: int
    tunable: str
    values: tuple[int, int]
    slower: float = 0.0


@dataclass(frozen=True)
class Decision:
    """One comparison of two arms."""

    estimate: PairedEstimate
    mode: str
    took_ms: float

    @property
    def says_slower(self) -> bool:
        return self.estimate.lower > BOUND and self.estimate.ratio > EFFECT

    @property
    def says_faster(self) -> bool:
        return self.estimate.upper < 1 / BOUND and self.estimate.ratio < 1 / EFFECT


EXPERIMENTS = (
    Experiment("1 us, A/A", "delay", 1 << 10, "STEPS", (100, 100)),
    # 17 steps of 4 cycles are 34 ns at 1980 MHz: 3 % of about 1.1 us.
    Experiment("1 us, A/+3 %", "delay", 1 << 10, "STEPS", (100, 117), slower=0.03),
    Experiment("60 us, A/A", "part", 1 << 24, "PER_MILLE", (970, 970)),
    # 5.5 % more elements take 4.3 % longer (H200).
    Experiment("60 us, A/+4 %", "part", 1 << 24, "PER_MILLE", (945, 1000), slower=0.04),
)


def arm(experiment: Experiment, value: int, number: int, prepared: PreparedCase, device: Device) -> Arm:
    """Compile one arm; equal arms differ in a comment, so that they are two modules."""
    start = prepared.kernel.start()
    candidate = replace(start, source=f"// arm {number}\n{start.source}")
    candidate = candidate.with_tunables({experiment.tunable: value})
    compiled = compile_candidate(prepared.kernel, candidate, device, Budget())
    launch = (
        None if isinstance(compiled, CompileFailure) else configure(candidate, prepared, compiled, device)
    )
    if isinstance(compiled, CompileFailure) or launch is None or isinstance(launch, Finding):
        raise SystemExit(f"{experiment.name}: {compiled if launch is None else launch}")
    return compiled, launch


def decide(arms: tuple[Arm, Arm], prepared: PreparedCase, device: Device) -> Decision:
    """Time both arms once."""
    began = time.perf_counter()
    timed = interleave(prepared, arms, device, Budget())
    took_ms = (time.perf_counter() - began) * 1000
    if not isinstance(timed, Interleaved):
        raise SystemExit(f"interleave: {timed.message}")
    paired = estimate(timed.block_samples_ns(0), timed.block_samples_ns(1))
    return Decision(paired, timed.mode.value, took_ms)


def decisions(experiment: Experiment, repeats: int, device: Device) -> list[Decision]:
    declared = declare(experiment.source, experiment.n)
    prepared = prepare(declared, declared.cases[0], device)
    first, second = (
        arm(experiment, value, number, prepared, device) for number, value in enumerate(experiment.values)
    )
    return [decide((first, second), prepared, device) for _ in range(repeats)]


def line(experiment: Experiment, made: list[Decision]) -> str:
    slower, faster = sum(d.says_slower for d in made), sum(d.says_faster for d in made)
    beyond = sum(not 1 / EFFECT < d.estimate.ratio < EFFECT for d in made)
    ratio = statistics.median(d.estimate.ratio for d in made)
    block_sd = statistics.median(d.estimate.block_sd for d in made)
    took_ms = statistics.median(d.took_ms for d in made)
    return (
        f"{experiment.name:<16}{made[0].mode:<7}{slower:>4}{faster:>8}{beyond:>12} of {len(made):<5}"
        f"{ratio - 1:>+8.2%}{block_sd:>10.3%}{took_ms:>9.0f}"
    )


def is_kept(experiment: Experiment, made: list[Decision]) -> bool:
    slower, faster = sum(d.says_slower for d in made), sum(d.says_faster for d in made)
    if experiment.slower:
        return slower >= LEAST_SEEN * len(made) and not faster
    return slower + faster <= MOST_FALSE * len(made)


def main() -> int:
    """Print a line for each experiment; return 1 if it errs too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    kept = True
    with open_device("cuda:0") as device:
        sys.stdout.write(f"{device.description}\n{'':<16}{'mode':<7}slower  faster  |effect|>1.5 %")
        sys.stdout.write(f"{'ratio':>9}{'block sd':>10}{'ms each':>9}\n")
        for experiment in EXPERIMENTS:
            made = decisions(experiment, options.repeats, device)
            is_right = is_kept(experiment, made)
            kept = kept and is_right
            sys.stdout.write(f"{line(experiment, made)}  {'' if is_right else 'BROKEN'}".rstrip() + "\n")
            sys.stdout.flush()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
