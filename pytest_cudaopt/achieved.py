"""What a latency amounts to against the work: rates, and shares of the GPU's measured peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import LatencyKind

if TYPE_CHECKING:
    from pytest_cudaopt.amounts import Amount
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.evaluation import Evaluation, Latency
    from pytest_cudaopt.peaks import Peaks


@dataclass(frozen=True)
class Achieved:
    """Rates per second, and the shares of measured peaks they are; None where work or peak is unknown.

    `bytes_counted` says that the bytes are those `sim` counted, and no declared ones.
    """

    bytes_per_s: float | None = None
    flops_per_s: float | None = None
    copy_peak_share: float | None = None
    fp32_peak_share: float | None = None
    bytes_counted: bool = False


def achieved(work: Amount, latency: Latency, peaks: Peaks | None) -> Achieved | None:
    """Return what a measured `latency` achieves; None for a modelled one, or without known work.

    A share may exceed 1 by a little: a kernel that reads more than it writes beats a copy.
    """
    if latency.kind is not LatencyKind.MEASURED or (work.bytes is None and work.flops is None):
        return None
    bytes_per_s, flops_per_s = (_rate(amount, latency.median_ns) for amount in (work.bytes, work.flops))
    return Achieved(
        bytes_per_s,
        flops_per_s,
        _share(bytes_per_s, None if peaks is None else peaks.copy_bytes_per_s),
        _share(flops_per_s, None if peaks is None else peaks.fp32_flops_per_s),
        work.bytes_counted and bytes_per_s is not None,
    )


def achieved_by_case(kernel: Kernel, evaluation: Evaluation, peaks: Peaks | None) -> dict[str, Achieved]:
    """Return what the measured cases of an evaluation achieve, by case id."""
    found = {
        outcome.case_id: achieved(kernel.work_at(outcome.case, outcome.touched_bytes), outcome.latency, peaks)
        for outcome in evaluation.outcomes
        if outcome.latency is not None
    }
    return {case_id: done for case_id, done in found.items() if done is not None}


def _rate(amount: int | None, ns: float) -> float | None:
    return None if amount is None else amount / ns * 1e9


def _share(rate: float | None, peak: float | None) -> float | None:
    return None if rate is None or peak is None else rate / peak
