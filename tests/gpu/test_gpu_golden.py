"""Digests of outputs on silicon: compared with the kept ones, or written for the simulator to meet."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from golden_outputs import GOLDEN, HOW_TO_WRITE, WRITE_VARIABLE, differences, digests, golden_kernels, write

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", golden_kernels(), ids=lambda kernel: kernel.name)
def test_silicon_gives_the_same_bits_twice_and_those_that_are_kept(kernel: Kernel, cuda: Device) -> None:
    now = digests(kernel, cuda)
    assert differences(now, digests(kernel, cuda)) == []
    if folder := os.environ.get(WRITE_VARIABLE):
        write(now, Path(folder))
        return
    kept = sorted(GOLDEN.glob(f"*/{kernel.name}.json"))
    assert kept, f"no golden file: {HOW_TO_WRITE}"
    for path in kept:
        assert differences(json.loads(path.read_text()), now) == []
