"""Kernels on tensor cores and asynchronous copies, as people write them, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from harness_client import Served
from kernel_runner import run_kernel
from tensor_kernels import CORPUS_KERNELS, KERNELS, TensorKernel

EXECUTES = ("cp.async.wait_group",)
ALL = KERNELS + CORPUS_KERNELS


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served() as served:
        yield served


@pytest.mark.parametrize("kernel", ALL, ids=lambda kernel: kernel.entry)
def test_a_kernel_gives_what_numpy_gives(harness: Served, tmp_path: Path, kernel: TensorKernel) -> None:
    arrays = kernel.inputs()
    got = run_kernel(
        harness,
        tmp_path,
        kernel.source,
        kernel.entry,
        arrays,
        scalars=kernel.scalars,
        outputs=kernel.outputs,
        grid=kernel.grid,
        block=kernel.block,
    )
    for name, want in kernel.expected(arrays).items():
        np.testing.assert_allclose(
            got[name].astype(np.float64), want.astype(np.float64), rtol=kernel.rtol, atol=kernel.atol
        )
