"""What the checks of `sim` cost: the time of a launch with each of them, as a multiple of one without.

Run `python tests/bench/check_cost.py` with the package installed. Every ratio is of launches in one process,
taken in turn, on one thread; a launch without reading files or decoding, as in `sim_speed.py`.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

from sim_speed import KERNELS, REPEATS, WORKLOADS, Ours, Workload

from pytest_cudaopt.device import open_device
from pytest_cudaopt.protocol import Checks

CHECKS = {
    "accesses": Checks(accesses=True),
    "touched": Checks(touched=True),
    "all": Checks(accesses=True, rounding=True, touched=True),
}


def main() -> None:
    with open_device("sim", threads=1) as device:
        ours = Ours(device, (KERNELS / "sgemm.cu").read_text())
        ours.ptx(device.scratch)
        for workload in WORKLOADS:
            report(workload, ours)


def report(workload: Workload, ours: Ours) -> None:
    """Time plain and checked launches in turn and print the median of each ratio."""
    ratios: dict[str, list[float]] = {name: [] for name in CHECKS}
    plain_ms: list[float] = []
    for _ in range(REPEATS):
        plain, _ = ours.seconds(workload)
        plain_ms.append(plain * 1e3)
        for name, checks in CHECKS.items():
            checked, _ = ours.seconds(replace(workload, checks=checks))
            ratios[name].append(checked / plain)
    medians = ", ".join(f"{name} {statistics.median(values):.2f}x" for name, values in ratios.items())
    print(f"{workload.entry:12s} {workload.size}: {statistics.median(plain_ms):6.1f} ms; {medians}")  # noqa: T201


if __name__ == "__main__":
    main()
