"""The least time a case can take, by declared work and peaks, and how near a latency is to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import LatencyKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_cudaopt.amounts import Amount
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Evaluation, Latency
    from pytest_cudaopt.peaks import Peaks

# Of the modelled GPU, as `harness_cpp/src/model/device_table.cpp` has them: bytes per ns of DRAM, and
# operations per ns of 132 multiprocessors with 4 x 32 lanes at 1.98 GHz, two operations each.
MODELLED_DRAM_BYTES_PER_NS = 4260.0
MODELLED_FP32_FLOPS_PER_NS = 132 * 4 * 32 * 2 * 1.98


@dataclass(frozen=True)
class Floor:
    """`floor_ns` is the least time, `share` the floor over the latency reached (1 is as fast as can be)."""

    floor_ns: float
    share: float
    because: str


def floor_by_case(kernel: Kernel, evaluation: Evaluation, peaks: Peaks | None) -> dict[str, Floor]:
    """Return the floors of measured cases with declared work, by case id.

    Of modelled latencies they are those of the model, whatever the `peaks`.
    """
    found = {}
    for outcome in evaluation.outcomes:
        latency = outcome.latency
        if latency is None:
            continue
        if latency.kind is LatencyKind.MODELLED:
            bound = _modelled(latency, least_terms(kernel, outcome.case, outcome.touched_bytes))
        else:
            bound = None if peaks is None else _measured(kernel.work_at(outcome.case), peaks)
        if bound is not None:
            floor_ns, because = bound
            found[outcome.case_id] = Floor(floor_ns, floor_ns / latency.median_ns, because)
    return found


def least_terms(kernel: Kernel, case: Case, touched_bytes: int | None = None) -> dict[str, float]:
    """Return what terms of the model cannot fall below, by their names: what declared work takes, in ns."""
    work = kernel.work_at(case, touched_bytes)
    least = {}
    if work.bytes is not None:
        least["dram"] = work.bytes / MODELLED_DRAM_BYTES_PER_NS
    if work.flops is not None and not _has_narrow_floats(kernel):
        least["fp32"] = least["issue"] = work.flops / MODELLED_FP32_FLOPS_PER_NS
    return least


def why_unknown(kernel: Kernel, evaluation: Evaluation, peaks: Peaks | None) -> str:
    """Return the one reason why `floor_by_case` knows of no floor."""
    if not evaluation.latencies:
        return "no case has a latency"
    if kernel.work.flops is None and kernel.work.bytes is None:
        if kernel.work.bytes_touched:
            return "the bytes that a launch touches, which work= asks for, were not counted"
        return "the kernel declares no work="
    modelled = any(one.kind is LatencyKind.MODELLED for one in evaluation.latencies.values())
    if peaks is None and not modelled:
        return "the peaks of this GPU were not measured yet (`cudaopt doctor --peaks` does)"
    return "work= declares operations alone, and of types that tensor cores compute with"


def mean_share(floors: Mapping[str, Floor]) -> float | None:
    """Return the geometric mean of the shares; None without floors."""
    if not floors:
        return None
    return math.exp(sum(math.log(floor.share) for floor in floors.values()) / len(floors))


def _measured(work: Amount, peaks: Peaks) -> tuple[float, str] | None:
    bounds = {"launch": peaks.launch_batch_ns or peaks.launch_cold_ns}
    if work.bytes is not None:
        bounds["bytes at the measured copy peak"] = work.bytes / peaks.copy_bytes_per_s * 1e9
    if work.flops is not None:
        bounds["operations at the measured FP32 peak"] = work.flops / peaks.fp32_flops_per_s * 1e9
    if len(bounds) == 1:
        return None
    because, floor_ns = max(bounds.items(), key=lambda bound: bound[1])
    return floor_ns, because


def _modelled(latency: Latency, least: Mapping[str, float]) -> tuple[float, str] | None:
    """Return the constant launch and, after it, the longer of what bytes and operations take."""
    launch_ns = dict(latency.terms_ns).get("launch")
    if launch_ns is None or not least:
        return None
    words = {"dram": "declared bytes at the modelled DRAM rate", "fp32": "declared operations at FP32 rate"}
    name = max(words.keys() & least.keys(), key=lambda one: least[one])
    return launch_ns + least[name], f"launch {launch_ns / 1e3:.2f} us + {words[name]}"


def _has_narrow_floats(kernel: Kernel) -> bool:
    """Whether tensor cores may do the operations, faster than FP32 lanes."""
    return any(one.dtype.is_float and one.dtype.itemsize < 4 for one in kernel.parameters if one.is_array)
