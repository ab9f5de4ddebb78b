"""Baselines made by hand: a kernel with two measured cases, versions of its source, and what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.baseline import Baseline
from pytest_cudaopt.baseline_update import Mode, Seen, seen_of, updated
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import LatencyKind, SamplingMode
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.recorded import Machine, Recorded

SOURCE = """\
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""
H200 = Machine("NVIDIA H200", "sm_90", "13.0", driver="580.159.04")
SIM = Machine("sim (modelled h200)", "sm_90", "13.0", model="0123abcd")
SMALL, LARGE = "n51", "n4096"
EMPTY = Baseline("test_scale", "scale", H200.device, ())


def scale_in(folder: Path, source: str = SOURCE) -> Kernel:
    """Write the source of `scale` into `folder` and return the kernel."""
    (folder / "scale.cu").write_text(source)

    @kernel("scale.cu", cases=[case(n=51, measure=True), case(n=4096, measure=True)])
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return replace(scale, source=folder / "scale.cu")


def version(number: int) -> str:
    """Return another version of the source."""
    return SOURCE.replace("2.0f * x[i]", f"2.0f * x[i] + {number}.0f * 0.0f")


def gated(against: str, verdict: GateVerdict | str, ratio: float | None = None) -> Gated:
    return Gated(against, GateVerdict(verdict), "made up", ratio)


def seen(
    declared: Kernel,
    case_id: str,
    median_ns: float,
    verdicts: Sequence[Gated] = (),
    machine: Machine = H200,
    on: str = "2026-11-30",
) -> Seen:
    """Return what an item would have seen of the kernel as its source is now."""
    cases = dict(zip(declared.case_ids, declared.cases, strict=True))
    modelled = machine.driver is None
    counters = {"warp_instructions.fp32": 128, "global_load_sectors": 512} if modelled else None
    recorded = Recorded(
        LatencyKind.MODELLED if modelled else LatencyKind.MEASURED,
        median_ns,
        None if modelled else SamplingMode.COLD,
        counters,
    )
    return seen_of(declared, case_id, cases[case_id], declared.start(), machine, recorded, on, verdicts)


def baseline_of(*all_seen: Seen) -> Baseline:
    """Return the baseline after these were recorded, one after another."""
    found = replace(EMPTY, device=all_seen[0].record.machine.device)
    for one in all_seen:
        found = updated(found, one, Mode.UPDATE, False, found).baseline or found
    return found
