"""The simulator gives the bits silicon gave, for small outputs kept as digests."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from golden_outputs import GOLDEN, HOW_TO_WRITE, differences, digests, golden_kernels, write

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device

KERNELS = {kernel.name: kernel for kernel in golden_kernels()}
# One folder for each GPU; others hold golden texts of files that we write.
FILES = sorted(path for folder in ("h200",) for path in (GOLDEN / folder).glob("*.json"))


def test_there_is_a_golden_file_for_every_kernel() -> None:
    assert {path.stem for path in FILES} == set(KERNELS), HOW_TO_WRITE


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_simulator_gives_the_bits_of_silicon(path: Path, sim: Device) -> None:
    golden = json.loads(path.read_text())
    assert differences(golden, digests(KERNELS[golden["kernel"]], sim)) == []


@pytest.fixture
def gather() -> Kernel:
    return KERNELS["gather"]


def test_what_was_written_is_read_back_without_differences(
    gather: Kernel, sim: Device, tmp_path: Path
) -> None:
    path = write(digests(gather, sim), tmp_path)
    assert differences(json.loads(path.read_text()), digests(gather, sim)) == []


def test_other_bits_are_noticed(gather: Kernel, sim: Device) -> None:
    now = digests(gather, sim)
    golden = copy.deepcopy(now)
    (case,) = golden["cases"]
    golden["cases"][case]["outputs"]["out"] = "0" * 64
    assert differences(golden, now) == [f"gather at {case}: 'out' has other bits than on {sim.description}"]


@pytest.mark.parametrize("changed", ["candidate", "inputs"])
def test_a_comparison_that_means_nothing_says_so(changed: str, gather: Kernel, sim: Device) -> None:
    now = digests(gather, sim)
    golden = copy.deepcopy(now)
    (case,) = golden["cases"]
    (golden if changed == "candidate" else golden["cases"][case])[changed] = "0" * 64
    (complaint,) = differences(golden, now)
    assert complaint.endswith(f"write it again on a GPU: {HOW_TO_WRITE}")
