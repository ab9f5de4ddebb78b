"""What a skipped GPU test says is missing."""

from __future__ import annotations

import ctypes.util
import os

import pytest
from gpu_presence import missing_for_gpu


def test_a_missing_driver_is_named() -> None:
    missing = missing_for_gpu({**os.environ, "CUDAOPT_DRIVER": "/nowhere/libcuda.so.1"})
    assert missing == "no CUDA driver (/nowhere/libcuda.so.1)"


def test_a_library_that_is_no_driver_is_told_with_what_it_lacks() -> None:
    library = ctypes.util.find_library("m")
    if library is None:
        pytest.skip("needs a C math library")
    missing = missing_for_gpu({**os.environ, "CUDAOPT_DRIVER": library})
    assert missing is not None
    assert "cannot be asked" in missing
    assert "cuInit" in missing


@pytest.mark.gpu
def test_nothing_is_missing_where_gpu_tests_run() -> None:
    assert missing_for_gpu(os.environ) is None
