"""Latencies and limits of a GPU, made by hand: what a test holds against peaks."""

from __future__ import annotations

from typing import Any

from pytest_cudaopt.answers import GpuFacts, Limits
from pytest_cudaopt.evaluation import Latency, LatencyKind, Sampling, SamplingMode
from pytest_cudaopt.peaks import Peaks

# What the driver says of an H200.
H200 = Limits(
    name="NVIDIA H200",
    multiprocessors=132,
    max_threads_per_block=1024,
    max_shared_bytes=232448,
    warp_size=32,
    max_grid=(2147483647, 65535, 65535),
    max_block=(1024, 1024, 64),
    architecture="sm_90",
    gpu=GpuFacts(
        uuid="GPU-1b2c",
        driver=(13, 0),
        memory_bytes=150_000_000_000,
        free_bytes=140_000_000_000,
        l2_bytes=62_914_560,
        sm_clock_mhz=1980.0,
        memory_clock_mhz=3201.0,
        memory_bus_bits=6016,
        guard_pages=True,
    ),
)
MEASURED_PEAKS = Peaks(
    copy_bytes_per_s=4.24e12,
    fp32_flops_per_s=60e12,
    launch_cold_ns=3360.0,
    launch_batch_ns=850.0,
    tick_ns=32.0,
)


def cold_latency(median_ns: float, **known: Any) -> Latency:
    """Return what measuring single launches gives, with three samples around the median."""
    samples = (median_ns * 0.99, median_ns, median_ns * 1.01)
    return Latency(
        LatencyKind.MEASURED, median_ns, mode=SamplingMode.COLD, cold=Sampling(median_ns, samples), **known
    )


def batch_latency(
    median_ns: float, cold_ns: float, *, launches: int = 100, copies: int = 1, **known: Any
) -> Latency:
    """Return what measuring both ways gives for a short kernel."""
    batch = Sampling(median_ns, (median_ns,) * 3, launches=launches, copies=copies, floor_ns=850.0)
    return Latency(
        LatencyKind.MEASURED,
        median_ns,
        mode=SamplingMode.BATCH,
        cold=Sampling(cold_ns, (cold_ns,) * 3),
        batch=batch,
        **known,
    )
