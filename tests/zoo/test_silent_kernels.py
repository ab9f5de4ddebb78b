"""Right kernels give right results and no finding, whoever has the first turn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from observed import SCHEDULES, Turns, observe, shown

from pytest_cudaopt import case
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.load import kernels_in
from pytest_cudaopt.protocol import Reset

FOLDER = Path(__file__).parent
MODULES = [f"silent_{kind}.py" for kind in ("blocks", "messages", "threads", "own", "libraries")]
SILENT = [kernel for module in MODULES for kernel in kernels_in(FOLDER / module).values()]
BY_NAME = {kernel.name: kernel for kernel in SILENT}
CASES = [pytest.param(kernel, case, id=f"{kernel.name}-{case}") for kernel in SILENT for case in kernel.cases]


def test_there_is_a_declaration_for_every_silent_source() -> None:
    sources = sorted((FOLDER / "silent").glob("*.cu"))
    assert sorted(kernel.source for kernel in SILENT) == sources


@pytest.mark.parametrize("turns", SCHEDULES, ids=str)
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_a_right_kernel_is_silent(kernel: Kernel, case: Case, turns: Turns, sim: Device) -> None:
    seen = observe(kernel, kernel.start(), case, turns, sim)
    assert not seen.findings, shown(seen.findings)
    assert seen.agreement.holds, seen.agreement


@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_a_right_kernel_is_silent_when_it_is_launched_again(kernel: Kernel, case: Case, sim: Device) -> None:
    seen = observe(kernel, kernel.start(), case, SCHEDULES[0], sim, again=(Reset(),))
    assert not seen.findings, shown(seen.findings)
    assert seen.agreement.holds, seen.agreement


def test_what_an_earlier_launch_wrote_is_written(sim: Device) -> None:
    kernel = BY_NAME["written_last_time"]
    seen = observe(kernel, kernel.start(), kernel.cases[0], SCHEDULES[0], sim, again=())
    assert not seen.findings, shown(seen.findings)
    assert seen.outputs is not None
    np.testing.assert_array_equal(seen.outputs["y"], seen.prepared.arguments.arrays["x"][::-1])


def test_what_no_earlier_launch_wrote_is_not(sim: Device) -> None:
    kernel = BY_NAME["written_last_time"]
    seen = observe(kernel, kernel.start(), case(start=1), SCHEDULES[0], sim)
    assert [(found.kind, found.buffer) for found in seen.findings] == [("uninitialized_read", "scratch")]
