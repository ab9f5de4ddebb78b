"""Modelled latencies of matrix products on tensor cores beside those an H200 took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import Served
from kernel_runner import answer_of
from tensor_kernels import KERNELS

N = 512
# Microseconds per launch of ten in a row, the fastest of thirty, on one H200.
MEASURED_US = {"gemm_f16": 10.1, "gemm_wmma": 31.0, "gemm_int8": 9.9, "gemm_tf32": 26.8}
LAUNCHES = {
    "gemm_f16": (64, 64, 128),
    "gemm_wmma": (32, 32, 128),
    "gemm_int8": (16, 8, 32),
    "gemm_tf32": (16, 8, 32),
}
ELEMENTS = {"gemm_f16": np.uint16, "gemm_wmma": np.uint16, "gemm_int8": np.int8, "gemm_tf32": np.float32}


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served() as served:
        yield served


def modelled_us(harness: Served, folder: Path, entry: str) -> float:
    (kernel,) = (kernel for kernel in KERNELS if kernel.entry == entry)
    rows, columns, block = LAUNCHES[entry]
    operand = np.zeros((N, N), ELEMENTS[entry])
    arrays = {"A": operand, "B": operand, "C": np.zeros((N, N), np.float32)}
    sizes = (N, N, N) if entry == "gemm_f16" else (N, N)
    answer = answer_of(
        harness,
        folder,
        kernel.source,
        entry,
        arrays,
        scalars=sizes,
        outputs=["C"],
        grid=(N // rows) * (N // columns),
        block=block,
        measured=True,
    )
    assert answer["status"] == "ok", answer
    (latency,) = (step["latency"] for step in answer["steps"] if "latency" in step)
    return float(latency["median_ns"]) / 1000


@pytest.mark.parametrize("entry", MEASURED_US)
def test_a_product_takes_about_what_it_took_on_silicon(harness: Served, tmp_path: Path, entry: str) -> None:
    assert modelled_us(harness, tmp_path, entry) == pytest.approx(MEASURED_US[entry], rel=0.3)
