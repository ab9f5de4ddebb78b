"""Every planted bug is found at its line, and the same kernel mended gives no finding and right results.

`cudaopt check tests/zoo/planted_races.py::tile_reuse` shows what a user sees of one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_lines import complaint, marks_in
from observed import SCHEDULES, Turns, mended, observe, shown

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.load import kernels_in

FOLDER = Path(__file__).parent
MODULES = ("planted_races.py", "planted_reads.py", "planted_addresses.py", "planted_waits.py")
PLANTED = [kernel for module in MODULES for kernel in kernels_in(FOLDER / module).values()]

of_every_kernel = pytest.mark.parametrize("kernel", PLANTED, ids=lambda kernel: kernel.name)
under_every_schedule = pytest.mark.parametrize("turns", SCHEDULES, ids=str)


def test_there_is_a_declaration_for_every_planted_source() -> None:
    sources = sorted((FOLDER / "planted").glob("*.cu"))
    assert sorted(kernel.source for kernel in PLANTED) == sources


def test_every_planted_source_marks_what_is_to_be_found_and_has_a_twin() -> None:
    for kernel in PLANTED:
        assert any(mark.needed for mark in marks_in(kernel.source)), kernel.name
        assert "MENDED" in kernel.source.read_text(), kernel.name


@under_every_schedule
@of_every_kernel
def test_a_planted_bug_is_found_at_its_line(kernel: Kernel, turns: Turns, sim: Device) -> None:
    seen = observe(kernel, kernel.start(), kernel.cases[0], turns, sim)
    wrong = complaint(seen.findings, marks_in(kernel.source), with_element=turns.forward)
    assert wrong is None, f"{wrong}\n{shown(seen.findings)}"


@under_every_schedule
@of_every_kernel
def test_the_mended_twin_of_a_planted_bug_is_right_and_silent(
    kernel: Kernel, turns: Turns, sim: Device
) -> None:
    seen = observe(kernel, mended(kernel), kernel.cases[0], turns, sim)
    assert not seen.findings, shown(seen.findings)
    assert seen.agreement.holds, seen.agreement
