"""Impossible times: each bound catches a lying latency below it and lets an honest one above pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measured_latencies import H200, batch_latency, cold_latency

from pytest_cudaopt import In, InOut, Out, case, f16, f32, i32, kernel, work
from pytest_cudaopt.amounts import Work
from pytest_cudaopt.answers import Limits
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.evaluation import Latency, LatencyKind
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.plausible import implausible, judge

SOURCE = """// @launch grid=(1) block=(1)
extern "C" __global__ void add(const float* x, float* y, int n) {}
"""
OTHER = SOURCE.replace("{}", "{ y[0] = 1; }")
LARGE = case(n=1 << 26, measure=True)  # 256 MiB each: four times the L2
SMALL = case(n=1 << 20, measure=True)  # 4 MiB each
DRAM_BYTES_PER_NS = 3.201e9 * 2 * 6016 / 8 / 1e9
L2_BYTES_PER_NS = 132 * 64 * 1.98
L2_BYTES = H200.gpu.l2_bytes if H200.gpu is not None else 0


def declare_add(folder: Path, declared: Work, dtype: Any = f32, y: Any = None) -> Kernel:
    file = folder / "add.cu"
    file.write_text(SOURCE)

    @kernel(str(file), cases=[LARGE, SMALL], work=declared)
    def add(x=In(dtype, "n"), y=Out(dtype, "n") if y is None else y, n=i32):
        y[...] = x

    return add


def said(
    kernel: Kernel,
    latency: Latency,
    which: Any = LARGE,
    source: str = OTHER,
    limits: Limits = H200,
    touched_bytes: int | None = None,
) -> str | None:
    beaten = implausible(kernel, source, which, kernel.work_at(which, touched_bytes), latency, limits)
    return None if beaten is None else beaten.sentence


def test_a_latency_below_what_memory_allows_is_implausible(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    # What was written may have stayed in the L2; the rest had to come from memory.
    least_ns = (8 * (1 << 26) - L2_BYTES) / DRAM_BYTES_PER_NS
    sentence = said(add, cold_latency(0.97 * least_ns))
    assert sentence is not None
    assert "(cold) is less than" in sentence
    assert "536870912 declared bytes at 4.81 TB/s of DRAM" in sentence
    assert said(add, cold_latency(0.99 * least_ns)) is None


def test_what_a_real_h200_measured_is_plausible(tmp_path: Path) -> None:
    # The copy of a float4 kernel, 4.26 TB/s, and sums at 4.25 TB/s.
    add = declare_add(tmp_path, work(bytes="12 * n", flops="n"))
    assert said(add, cold_latency(189_000.0)) is None


def test_a_batch_that_fits_the_l2_is_held_against_the_l2_only(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    least_ns = 8 * (1 << 20) / L2_BYTES_PER_NS
    honest = batch_latency(0.99 * least_ns, cold_ns=5_000.0, copies=2)
    assert 2 * least_ns < 8 * (1 << 20) / DRAM_BYTES_PER_NS
    assert said(add, honest, SMALL) is None
    sentence = said(add, batch_latency(0.97 * least_ns, cold_ns=5_000.0, copies=2), SMALL)
    assert sentence is not None
    assert "(batch)" in sentence
    assert "of L2" in sentence


def test_a_batch_over_many_copies_is_held_against_memory(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    copies = 40
    # Of a walk over 40 copies no cache keeps more than its share; what is written last stays.
    kept = L2_BYTES / (copies * 8 * (1 << 20))
    least_ns = (8 * (1 << 20) * (1 - kept) - L2_BYTES / 100) / DRAM_BYTES_PER_NS
    assert said(add, batch_latency(0.99 * least_ns, cold_ns=5_000.0, copies=copies), SMALL) is None
    assert said(add, batch_latency(0.97 * least_ns, cold_ns=5_000.0, copies=copies), SMALL) is not None


def test_the_mode_that_is_not_the_median_is_judged_too(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    sentence = said(add, batch_latency(9_000.0, cold_ns=100.0, copies=40), SMALL)
    assert sentence is not None
    assert "(cold)" in sentence


def test_a_latency_below_what_the_fp32_lanes_allow_is_implausible(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(flops="1000 * n"))
    least_ns = 1000 * (1 << 26) / (132 * 128 * 2 * 1.98)
    assert said(add, cold_latency(0.99 * least_ns)) is None
    sentence = said(add, cold_latency(0.97 * least_ns))
    assert sentence is not None
    assert "67108864000 declared operations at 66.9 TFLOP/s" in sentence


@pytest.mark.parametrize(
    "code",
    [
        "nvcuda::wmma::mma_sync(d, a, b, c);",
        'asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ...");',
        "half2 product = __hmul2(a, b);",
    ],
)
def test_tensor_cores_and_packed_halves_are_not_held_against_the_fp32_lanes(
    tmp_path: Path, code: str
) -> None:
    add = declare_add(tmp_path, work(flops="1000 * n"))
    assert said(add, cold_latency(1_000.0), source=OTHER.replace("y[0] = 1;", code)) is None
    # Naming them in a comment does not help.
    assert said(add, cold_latency(1_000.0), source=f"// {code}\n{OTHER}") is not None
    halves = declare_add(tmp_path, work(flops="1000 * n"), dtype=f16)
    assert said(halves, cold_latency(1_000.0)) is None


def test_a_board_that_boosts_beyond_its_stated_clock_is_believed(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(flops="1000 * n"))
    least_ns = 1000 * (1 << 26) / (132 * 128 * 2 * 1.98)
    assert said(add, cold_latency(0.9 * least_ns, sm_clock_mhz=(1980.0, 2300.0))) is None


def test_half_a_tick_is_not_held_against_a_kernel(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="4 * n"), y=InOut(f32, 1))
    tiny = case(n=1 << 18)
    least_ns = (4 * (1 << 18) - 4) / DRAM_BYTES_PER_NS
    assert said(add, cold_latency(least_ns - 30.0), tiny) is not None
    assert said(add, cold_latency(least_ns - 30.0, tick_ns=32.0), tiny) is None


@pytest.mark.parametrize("declared", [Work(), work(bytes="touched")])
def test_without_known_work_no_time_is_implausible(tmp_path: Path, declared: Work) -> None:
    assert said(declare_add(tmp_path, declared), cold_latency(1.0)) is None


def test_neither_a_modelled_time_nor_an_unknown_gpu_is_judged(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    assert said(add, Latency(LatencyKind.MODELLED, 1.0)) is None
    assert H200.gpu is not None
    silent = replace(H200.gpu, sm_clock_mhz=0.0, memory_clock_mhz=0.0)
    for limits in (replace(H200, gpu=None), replace(H200, gpu=silent)):
        assert said(add, cold_latency(1.0), limits=limits) is None


def test_a_candidate_that_beats_physics_has_a_finding(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="8 * n"))
    candidate = add.candidate(OTHER, Path("other.cu"))
    declared = add.work_at(LARGE)
    finding = judge(add, candidate, LARGE, declared, cold_latency(1_000.0), H200)
    assert finding is not None
    assert finding.kind is FindingKind.IMPLAUSIBLE
    assert finding.message.startswith("1.000 us (cold) is less than the ")
    assert judge(add, candidate, LARGE, declared, cold_latency(200_000.0), H200) is None


def test_a_kernel_that_beats_its_own_declaration_blames_the_declaration(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="800 * n"))
    with pytest.raises(DeclarationError) as caught:
        judge(add, add.start(), LARGE, add.work_at(LARGE), cold_latency(200_000.0), H200)
    assert caught.value.what == f"work= of kernel 'add' at {LARGE}"
    assert "200.000 us (cold) is less than the" in (caught.value.got or "")
    assert caught.value.at == add.location


def test_counted_bytes_bound_a_time_as_declared_ones_do(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="touched"))
    counted = 8 * (1 << 26)
    least_ns = (counted - L2_BYTES) / DRAM_BYTES_PER_NS
    assert said(add, cold_latency(0.99 * least_ns), touched_bytes=counted) is None
    sentence = said(add, cold_latency(0.97 * least_ns), touched_bytes=counted)
    assert sentence is not None
    assert "of the 536870912 counted bytes at 4.81 TB/s of DRAM" in sentence


@pytest.mark.parametrize("source", [SOURCE, OTHER], ids=["the kernel itself", "a candidate"])
def test_whoever_beats_counted_bytes_did_not_touch_them_when_timed(tmp_path: Path, source: str) -> None:
    add = declare_add(tmp_path, work(bytes="touched"))
    candidate = add.candidate(source, Path("other.cu"))
    counted = add.work_at(LARGE, 8 * (1 << 26))
    finding = judge(add, candidate, LARGE, counted, cold_latency(1_000.0), H200)
    assert finding is not None
    assert finding.kind is FindingKind.IMPLAUSIBLE
    assert finding.message.endswith("they touched less than the launch that was checked")


def test_a_declaration_is_at_fault_for_operations_beside_counted_bytes(tmp_path: Path) -> None:
    add = declare_add(tmp_path, work(bytes="touched", flops="100000 * n"))
    counted = add.work_at(LARGE, 8 * (1 << 26))
    with pytest.raises(DeclarationError, match="work= of kernel 'add'"):
        judge(add, add.start(), LARGE, counted, cold_latency(200_000.0), H200)
