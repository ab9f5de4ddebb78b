"""A kernel, a device and judges that answer from a table: whole runs without compiling anything."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.answers import Limits
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import (
    CaseOutcome,
    CaseStatus,
    Evaluation,
    Latency,
    LatencyKind,
    Plan,
    Status,
)
from pytest_cudaopt.protocol import Request

SOURCE = """// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128, 256, 512
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
"""
LIMITS = Limits("a made-up device", 132, 1024, 232448, 32, (1, 1, 1), (1, 1, 1), "sm_90")
SMALL, LARGE = "n100", "n1000"

# Latency in ns by chosen tunables and case id; None: the candidate is wrong there.
LatencyOf = Callable[[Mapping[str, int], str], float | None]


@dataclass(frozen=True, eq=False)
class MadeUpDevice:
    """As much of a device as a run writes down, and as inputs are prepared for."""

    selector: str = "sim"
    description: str = "sim (made up)"
    scratch: Path = field(default_factory=lambda: Path(mkdtemp()))
    limits: Limits = LIMITS

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.scratch)

    def new_request(self, id: str) -> Request:
        return Request(id=id, nonce="made-up", device=self.selector, steps=())

    @property
    def is_gpu(self) -> bool:
        return self.selector != "sim"


def declare_twice(folder: Path, source: str = SOURCE, *, measured: bool = True) -> Kernel:
    """Declare a kernel that doubles a vector, with its source in `folder`."""
    file = folder / "twice.cu"
    file.write_text(source)

    @kernel(
        str(file),
        cases=[
            case(n=1),
            case(n=100, measure=measured),
            case(n=1000, measure=measured),
        ],
    )
    def twice(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        """Double every element."""
        y[...] = 2 * x

    return twice


def evaluation(
    latencies_ns: Mapping[str, float],
    *,
    status: Status = Status.ACCEPTED,
    kind: LatencyKind = LatencyKind.MODELLED,
    reason: str = "",
    max_block_instructions: int = 1000,
) -> Evaluation:
    """Return what a judge would say of a candidate with these latencies."""
    outcomes = tuple(
        CaseOutcome(
            case=case(n=1, measure=True),
            case_id=case_id,
            status=CaseStatus.PASSED,
            latency=Latency(kind, ns, counters={"max_block_instructions": max_block_instructions}),
        )
        for case_id, ns in latencies_ns.items()
    )
    return Evaluation("twice", "digest", "sim (made up)", status, reason=reason, outcomes=outcomes)


class TableJudge:
    """Judges by `latency_of`, and remembers what it was asked."""

    def __init__(self, latency_of: LatencyOf, kind: LatencyKind = LatencyKind.MODELLED) -> None:
        self.latency_of = latency_of
        self.kind = kind
        self.asked: list[tuple[Candidate, Plan]] = []

    def __call__(self, kernel: Kernel, candidate: Candidate, plan: Plan, device: object) -> Evaluation:
        self.asked.append((candidate, plan))
        latencies = {case_id: self.latency_of(candidate.chosen, case_id) for case_id in (SMALL, LARGE)}
        if None in latencies.values():
            return evaluation({}, status=Status.WRONG_RESULT, reason="y[3] is wrong", kind=self.kind)
        return evaluation({k: v for k, v in latencies.items() if v is not None}, kind=self.kind)


def faster_with_larger_blocks(chosen: Mapping[str, int], case_id: str) -> float:
    """Answer 64000 / BLOCK ns at the small case, ten times that at the large one."""
    return (1 if case_id == SMALL else 10) * 64_000 / chosen["BLOCK"]
