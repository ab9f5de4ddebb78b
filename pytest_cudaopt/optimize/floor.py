"""The least time a case can take on a GPU whose peaks were measured, and how near a latency is to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import LatencyKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Evaluation
    from pytest_cudaopt.peaks import Peaks


@dataclass(frozen=True)
class Floor:
    """`floor_ns` is the least time, `share` the floor over the latency reached (1 is as fast as can be)."""

    floor_ns: float
    share: float
    because: str


def floor_by_case(kernel: Kernel, evaluation: Evaluation, peaks: Peaks | None) -> dict[str, Floor]:
    """Return the floors of measured cases with declared work, by case id."""
    if peaks is None:
        return {}
    found = {}
    for outcome in evaluation.outcomes:
        latency = outcome.latency
        if latency is None or latency.kind is not LatencyKind.MEASURED:
            continue
        work = kernel.work_at(outcome.case)
        bounds = {"launch": peaks.launch_batch_ns or peaks.launch_cold_ns}
        if work.bytes is not None:
            bounds["bytes at the measured copy peak"] = work.bytes / peaks.copy_bytes_per_s * 1e9
        if work.flops is not None:
            bounds["operations at the measured FP32 peak"] = work.flops / peaks.fp32_flops_per_s * 1e9
        if len(bounds) > 1:
            because, floor_ns = max(bounds.items(), key=lambda bound: bound[1])
            found[outcome.case_id] = Floor(floor_ns, floor_ns / latency.median_ns, because)
    return found


def mean_share(floors: Mapping[str, Floor]) -> float | None:
    """Return the geometric mean of the shares; None without floors."""
    if not floors:
        return None
    return math.exp(sum(math.log(floor.share) for floor in floors.values()) / len(floors))
