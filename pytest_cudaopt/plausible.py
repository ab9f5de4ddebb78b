"""Whether a measured time is possible: held against the work and what the GPU can do in theory.

A time is implausible only if moving the declared or counted bytes, or doing the declared operations, at
theoretical peaks takes longer by more than 2 %. Everything unknown, and every byte that may lawfully have
stayed in the L2, counts in the kernel's favour: an honest kernel must never be accused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import Latency, LatencyKind, Sampling, SamplingMode
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.peaks import TheoreticalPeaks, theoretical_peaks

if TYPE_CHECKING:
    from pytest_cudaopt.amounts import Amount
    from pytest_cudaopt.answers import Limits
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel

_TOLERANCE = 0.02
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Tensor cores and packed halves do more operations per clock than the FP32 lanes, also on float arrays.
_OTHER_ARITHMETIC = re.compile(r"mma|half|__h|f16|bf|fp8|e4m3|e5m2|tf32", re.IGNORECASE)
_FP32_DTYPES = frozenset({"f32", "f64"})


@dataclass(frozen=True)
class _Bound:
    """The least time some part of the work takes, and why, for a person."""

    least_ns: float
    because: str
    is_counted: bool = False


def judge(
    kernel: Kernel, candidate: Candidate, case: Case, work: Amount, latency: Latency, limits: Limits
) -> Finding | None:
    """Return a finding if `latency` is faster than `work`, declared or counted, allows on this GPU.

    Raises DeclarationError if it is the kernel's own file that beats its declaration: then the
    declaration is at fault.
    """
    beaten = implausible(kernel, candidate.source, case, work, latency, limits)
    if beaten is None:
        return None
    sentence = beaten.sentence
    if beaten.is_counted:
        return Finding(
            FindingKind.IMPLAUSIBLE,
            f"{sentence}; a right result this fast was not computed in the timed launches: they touched less "
            "than the launch that was checked",
        )
    if candidate.source == kernel.read_source():
        raise DeclarationError(
            f"work= of kernel '{kernel.name}' at {case}",
            expected="no more work than the kernel itself can do in the time it takes",
            got=sentence,
            next_step="Declare the least bytes and operations any version needs, or leave work= out",
            at=kernel.location,
        )
    return Finding(
        FindingKind.IMPLAUSIBLE,
        f"{sentence}; a right result this fast was not computed in the timed launches, or work= "
        "declares more than is needed",
    )


@dataclass(frozen=True)
class Beaten:
    """Why a latency is impossible, in one sentence with numbers; `is_counted`: by bytes nobody declared."""

    sentence: str
    is_counted: bool


def implausible(
    kernel: Kernel, source: str, case: Case, work: Amount, latency: Latency, limits: Limits
) -> Beaten | None:
    """Return why `latency` is impossible; None if it is not."""
    if latency.kind is not LatencyKind.MEASURED:
        return None
    peaks = theoretical_peaks(limits, max(latency.sm_clock_mhz, default=0.0))
    if peaks is None or limits.gpu is None:
        return None
    for mode, sampling in ((SamplingMode.COLD, latency.cold), (SamplingMode.BATCH, latency.batch)):
        if sampling is None:
            continue
        # The events tick: a time may be short by one step of them.
        most_ns = sampling.median_ns + (latency.tick_ns or 0.0) / sampling.launches
        for bound in _bounds(kernel, source, case, work, mode, sampling, peaks, limits.gpu.l2_bytes):
            if most_ns * (1 + _TOLERANCE) < bound.least_ns:
                return Beaten(
                    f"{_us(sampling.median_ns)} ({mode}) is less than the {_us(bound.least_ns)} that "
                    f"{bound.because} take on {limits.name} in theory",
                    bound.is_counted,
                )
    return None


def _bounds(
    kernel: Kernel,
    source: str,
    case: Case,
    work: Amount,
    mode: SamplingMode,
    sampling: Sampling,
    peaks: TheoreticalPeaks,
    l2_bytes: int,
) -> Iterator[_Bound]:
    how = "counted" if work.bytes_counted else "declared"
    if work.bytes is not None and peaks.dram_bytes_per_s is not None:
        dram = _dram_bytes(kernel, case, work.bytes, mode, sampling, l2_bytes)
        because = f"{dram:.0f} of the {work.bytes} {how} bytes {_at(peaks.dram_bytes_per_s, 'B')} of DRAM"
        yield _Bound(dram / peaks.dram_bytes_per_s * 1e9, because, work.bytes_counted)
    if work.bytes is not None and peaks.l2_bytes_per_s is not None:
        because = f"{work.bytes} {how} bytes {_at(peaks.l2_bytes_per_s, 'B')} of L2"
        yield _Bound(work.bytes / peaks.l2_bytes_per_s * 1e9, because, work.bytes_counted)
    if work.flops is not None and peaks.fp32_flops_per_s is not None and _is_fp32_only(kernel, source, case):
        because = f"{work.flops} declared operations {_at(peaks.fp32_flops_per_s, 'FLOP')}"
        yield _Bound(work.flops / peaks.fp32_flops_per_s * 1e9, because)


def _dram_bytes(
    kernel: Kernel, case: Case, moved: int, mode: SamplingMode, sampling: Sampling, l2_bytes: int
) -> float:
    """Return how many of the bytes DRAM must have moved within one timed launch.

    Written lines may still be in the L2 when the last of the launches between two events ends. Where
    launches rotate over copies of the buffers, no cache of C bytes serves more than C / F of a cyclic walk
    over F bytes; `cold` starts from an L2 that holds nothing of them.
    """
    read_bytes, written_bytes = _array_bytes(kernel, case)
    unwritten = min(written_bytes, l2_bytes) if mode is SamplingMode.COLD else 0.0
    share_kept = 0.0
    if mode is SamplingMode.BATCH:
        unwritten = min(written_bytes, l2_bytes / sampling.launches)
        walked = sampling.copies * (read_bytes + written_bytes)
        share_kept = min(1.0, l2_bytes / walked) if walked else 1.0
    return max(0.0, moved * (1 - share_kept) - unwritten)


def _array_bytes(kernel: Kernel, case: Case) -> tuple[int, int]:
    """Return the bytes of the arrays that are only read, and of those the kernel may write."""
    sizes = kernel.all_sizes(case)
    totals = {True: 0, False: 0}
    for parameter in kernel.at(case).parameters:
        if parameter.is_array and parameter.name not in case.absent:
            elements = math.prod(extent.evaluate(sizes) for extent in parameter.shape)
            is_written = parameter.is_output or not parameter.has_contents
            totals[is_written] += elements * parameter.dtype.itemsize
    return totals[False], totals[True]


def _is_fp32_only(kernel: Kernel, source: str, case: Case) -> bool:
    """True if nothing but the FP32 lanes can have done the operations, as far as can be seen."""
    floats = {parameter.dtype.name for parameter in kernel.at(case).parameters if parameter.dtype.is_float}
    code = _COMMENT.sub(" ", source)
    return bool(floats) and floats <= _FP32_DTYPES and not _OTHER_ARITHMETIC.search(code)


def _at(rate: float, unit: str) -> str:
    return f"at {rate / 1e12:.3g} T{unit}/s"


def _us(ns: float) -> str:
    return f"{ns / 1e3:.3f} us"
