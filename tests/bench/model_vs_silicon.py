"""Modelled against measured latency of kernels the model was not made with: both devices, side by side.

Run `python tests/bench/model_vs_silicon.py` with the package installed, on a GPU. Each kernel is measured
cold (the model knows no other state) and modelled on `sim`; what counts is the order, over pairs that silicon
keeps a factor of 1.5 or more apart. `latency_model.py` has the kernels the model was made with.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from latency_model import ordered_pairs, spearman

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device, open_device
from pytest_cudaopt.evaluation import Latency, Plan, Stage
from pytest_cudaopt.load import load_kernel
from pytest_cudaopt.pipeline import evaluate

# The kernels are those of the tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "gpu"))

from argument_kernels import adds_atomically, halves
from silicon_kernels import right_kernels

EXAMPLES = Path(__file__).parents[2] / "example_kernels"


@dataclass(frozen=True)
class Row:
    """One kernel at one case, with one setting of its tunables."""

    kernel: Kernel
    candidate: Candidate
    case: Case

    @property
    def name(self) -> str:
        chosen = ",".join(f"{name}={value}" for name, value in self.candidate.tunables)
        sizes = "x".join(str(size) for _, size in self.case.sizes)
        return f"{self.kernel.name} {sizes} {chosen}".rstrip()


def rows() -> Iterator[Row]:
    """Yield every kernel at its measured cases: as it is, and at the last value of each tunable alone."""
    examples = [load_kernel(f"{path}::{path.stem.removeprefix('test_')}") for path in modules()]
    for kernel in [*examples, *right_kernels(), halves, adds_atomically]:
        for candidate in settings(kernel):
            for case in kernel.measured_cases:
                yield Row(kernel, candidate, case)


def modules() -> list[Path]:
    return sorted(EXAMPLES.glob("test_*.py"))


def settings(kernel: Kernel) -> list[Candidate]:
    start, found = kernel.start(), kernel.read_directives()
    changed = [{**start.chosen, tunable.name: tunable.values[-1]} for tunable in found.tunables]
    allowed = [chosen for chosen in changed if chosen != start.chosen and found.allows(chosen)]
    return [start, *(start.with_tunables(chosen) for chosen in allowed)]


def latency(row: Row, device: Device) -> Latency | str:
    """Return the latency of the row's case, or why there is none."""
    judged = evaluate(row.kernel, row.candidate, Plan((Stage.MEASURE,), (row.case,)), device)
    return next(iter(judged.latencies.values()), judged.reason)


def main() -> None:
    """Print every kernel's two latencies, and how well their orders agree."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    times: list[tuple[float, float]] = []
    with open_device("sim") as sim, open_device("cuda:0") as cuda:
        sys.stdout.write(
            f"{cuda.description}\n{'':<44}{'modelled us':>12}{'cold us':>9}{'ratio':>7}  bound\n"
        )
        for row in rows():
            modelled, measured = latency(row, sim), latency(row, cuda)
            if isinstance(modelled, str) or isinstance(measured, str) or measured.cold is None:
                why = modelled if isinstance(modelled, str) else measured
                sys.stdout.write(f"{row.name:<44}  left out: {why}\n")
                continue
            us = (modelled.median_ns / 1000, measured.cold.median_ns / 1000)
            times.append(us)
            sys.stdout.write(
                f"{row.name:<44}{us[0]:>12.2f}{us[1]:>9.2f}{us[0] / us[1]:>7.2f}  {modelled.bound}\n"
            )
            sys.stdout.flush()
    right, total = ordered_pairs(times)
    correlation = spearman(*zip(*times, strict=True))
    sys.stdout.write(f"Spearman {correlation:.2f}; pairs 1.5x apart in order: {right} of {total}\n")


if __name__ == "__main__":
    main()
