"""What the gate costs on `sim`: a measured case that is gated against one that is only measured.

Run `python tests/bench/sim_gate_cost.py [--repeats 20]` with the package installed. The earlier version is
another text that was recorded by the same toolchain and model, and nothing became slower: what most gated
cases are. Exits 1 if a gated case costs more than 1.2 times a measured one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Plan, Stage
from pytest_cudaopt.gate_modelled import recorded_of
from pytest_cudaopt.gated import GateVerdict
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.machine import machine_of
from pytest_cudaopt.pipeline import evaluate

EXAMPLES = Path(__file__).parents[2] / "example_kernels"
NAMES = ("softmax", "sgemm")
MOST = 1.2


def plans(kernel: Kernel, device: Device) -> tuple[Plan, Plan]:
    """Return the plan that measures the first measured case, and the one that gates it too."""
    start = kernel.start()
    plan = Plan((Stage.COMPILE, Stage.MEASURE), kernel.measured_cases[:1])
    latencies = evaluate(kernel, start, plan, device).latencies
    known = {case_id: recorded_of(latency) for case_id, latency in latencies.items()}
    earlier = replace(start, source=f"// As it was.\n{start.source}")
    incumbent = Incumbent("baseline", earlier, recorded=known, machine=machine_of(device))
    return plan, replace(plan, stages=(*plan.stages, Stage.GATE), incumbents=(incumbent,))


def seconds(kernel: Kernel, plan: Plan, device: Device) -> float:
    began = time.perf_counter()
    evaluation = evaluate(kernel, kernel.start(), plan, device)
    took = time.perf_counter() - began
    if any(one.verdict is not GateVerdict.SAME for o in evaluation.outcomes for one in o.gated):
        raise SystemExit(f"{kernel.name}: expected the same, got {evaluation.outcomes[0].gated}")
    return took


def main() -> int:
    """Print a line for each kernel; return 1 if one costs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    is_kept = True
    with open_device("sim") as device:
        for name in NAMES:
            kernel = load_kernel(f"{EXAMPLES / f'test_{name}.py'}::{name}")
            measured, gated = plans(kernel, device)
            # In turn, so that a busy machine slows both.
            pairs = [
                (seconds(kernel, measured, device), seconds(kernel, gated, device)) for _ in range(repeats)
            ]
            ratio = statistics.median(two / one for one, two in pairs)
            is_kept = is_kept and ratio <= MOST
            ms = 1000 * statistics.median(one for one, _ in pairs)
            sys.stdout.write(f"{name:<10} measured {ms:7.1f} ms, gated {ratio:.3f} times that\n")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
