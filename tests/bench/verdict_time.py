"""How long a verdict takes beyond the kernel's own time: one long-lived harness against fresh processes.

Run `python tests/bench/verdict_time.py [--candidates 10]` with the package installed, on a GPU (with
`--device sim` only to try the script out). A verdict is: compile a source nobody compiled before, load it,
validate 5 cases, measure one of them with 100 samples. Exits 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Evaluation, Latency, Plan, Stage
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.pipeline import evaluate

MOST_BEYOND_MS, LEAST_RATIO, MOST_RESTART_MS = 150.0, 5.0, 1000.0
CASES = (case(n=1), case(n=1021), case(n=4096), case(n=100_003), case(n=1 << 20, measure=True))
THIS = Path(__file__).resolve()
CUDAOPT = (sys.executable, "-c", "from pytest_cudaopt.cli import main; raise SystemExit(main())")


@kernel(
    str(THIS.parent / "kernels" / "vadd.cu"),
    cases=CASES,
    launch="grid=(cdiv(n, 256)) block=(256)",
)
def vadd(a=In(f32, "n"), b=In(f32, "n"), c=Out(f32, "n"), n=i32):
    """Add two vectors."""
    c[...] = a + b


@dataclass(frozen=True)
class Verdict:
    """Seconds of one verdict, and of the kernel's own launches in it."""

    wall_s: float
    kernel_s: float
    stages: Mapping[str, float]

    @property
    def beyond_ms(self) -> float:
        return (self.wall_s - self.kernel_s) * 1000


def variant(number: int) -> Candidate:
    """Return a source that no cache knows."""
    start = vadd.start()
    salt = f"// {os.getpid()} {time.time_ns()} {number}\n"
    changed = start.source.replace("c[i] = a[i] + b[i];", f"c[i] = a[i] + b[i] + 0.0f * {number};")
    return Candidate(start.file, salt + changed, start.launch, start.tunables, start.defines, start.options)


def kernel_seconds(latency: Latency) -> float:
    """Return the launches of a measurement times what one of them takes."""
    total_ns = 0.0
    if latency.cold is not None:
        launches = len(latency.cold.samples_ns) + (latency.warmup_launches or 0)
        total_ns += launches * latency.cold.median_ns
    if latency.batch is not None:
        total_ns += len(latency.batch.samples_ns) * latency.batch.launches * latency.batch.median_ns
    return total_ns / 1e9


def warm(device: Device, number: int) -> Verdict:
    """Judge one candidate with a harness that already runs."""
    plan = Plan((Stage.COMPILE, Stage.CHECK, Stage.MEASURE), CASES)
    candidate = variant(number)
    began = time.perf_counter()
    evaluation = evaluate(vadd, candidate, plan, device)
    wall_s = time.perf_counter() - began
    return Verdict(wall_s, sum(map(kernel_seconds, latencies(evaluation))), dict(evaluation.seconds))


def latencies(evaluation: Evaluation) -> list[Latency]:
    if not evaluation.accepted:
        raise SystemExit(f"verdict_time: {evaluation.reason}")
    return list(evaluation.latencies.values())


def fresh(selector: str, folder: Path, number: int, kernel_s: float) -> Verdict:
    """Judge one candidate with a process of its own, as most tools do."""
    file = folder / f"candidate{number}.cu"
    file.write_text(variant(number).source)
    command = (*CUDAOPT, "check", f"{THIS}::vadd", str(file), "--json", "--device", selector)
    began = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - began
    if ended.returncode or not json.loads(ended.stdout)["accepted"]:
        raise SystemExit(f"verdict_time: {ended.stdout}{ended.stderr}")
    return Verdict(wall_s, kernel_s, {})


def restart_ms(device: Device, number: int) -> float:
    """Return how long the next answer takes after a fault has ended the harness."""
    start = vadd.start()
    trap = start.source.replace("if (i < n) c[i]", "__trap(); if (i < n) c[i]", 1)
    faulty = Candidate(start.file, f"// {number}\n{trap}", start.launch)
    plan = Plan((Stage.COMPILE, Stage.CHECK), CASES[:1])
    evaluation = evaluate(vadd, faulty, plan, device)
    if evaluation.finding is None or evaluation.finding.kind is not FindingKind.TRAP:
        raise SystemExit(f"verdict_time: expected a trap, got {evaluation.status}: {evaluation.reason}")
    began = time.perf_counter()
    again = evaluate(vadd, vadd.start(), plan, device)
    took_ms = (time.perf_counter() - began) * 1000
    latencies(again)
    return took_ms


def main() -> int:
    """Print medians of both ways; return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=10)
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    with open_device(options.device) as device, tempfile.TemporaryDirectory() as folder:
        # The first verdict draws the inputs and computes the reference, once for all candidates.
        warm(device, 0)
        warms, fresh_ones = [], []
        for number in range(1, options.candidates + 1):
            warms.append(warm(device, number))
            fresh_ones.append(fresh(options.device, Path(folder), number, warms[-1].kernel_s))
        restarts = [restart_ms(device, number) for number in range(5)]
        sys.stdout.write(f"{device.description}; {options.candidates} candidates each way\n")
    return report(warms, fresh_ones, restarts)


def report(warms: list[Verdict], fresh_ones: list[Verdict], restarts: list[float]) -> int:
    """Write what was found and return the exit code."""
    ours, theirs = (statistics.median(v.beyond_ms for v in verdicts) for verdicts in (warms, fresh_ones))
    stages = {name: statistics.median(v.stages[name] for v in warms) * 1000 for name in warms[0].stages}
    kernel_ms = statistics.median(v.kernel_s for v in warms) * 1000
    parts = ", ".join(f"{name} {ms:.1f} ms" for name, ms in stages.items())
    rows = (
        ("warm verdict, beyond the kernel", ours, f"at most {MOST_BEYOND_MS:g} ms", ours <= MOST_BEYOND_MS),
        ("fresh process, beyond the kernel", theirs, "", True),
        ("fresh over warm", theirs / ours, f"at least {LEAST_RATIO:g}", theirs >= LEAST_RATIO * ours),
        (
            "slowest verdict after a fault",
            max(restarts),
            f"at most {MOST_RESTART_MS:g} ms",
            max(restarts) <= MOST_RESTART_MS,
        ),
    )
    for what, value, promise, kept in rows:
        state = ("kept" if kept else "BROKEN") if promise else ""
        sys.stdout.write(f"{what:<34}{value:>9.1f}  {promise:<18}{state}\n")
    sys.stdout.write(f"kernel's own time {kernel_ms:.1f} ms; stages, kernel included: {parts}\n")
    return 0 if all(kept for *_, kept in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
