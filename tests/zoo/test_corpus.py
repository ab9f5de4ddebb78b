"""Nothing is found in kernels that each show one feature of CUDA, nor in the declared examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_lines import complaint, marks_in
from observed import SCHEDULES, Turns, observe, shown

from pytest_cudaopt.arguments import needed_bytes
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.finding import NOT_JUDGED
from pytest_cudaopt.load import kernels_in

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
CORPUS = kernels_in(FOLDER / "corpus_kernels.py")
MODULES = [*(ROOT / "tests" / "kernels").glob("test_*.py"), *(ROOT / "example_kernels").glob("test_*.py")]
DECLARED = [kernel for module in sorted(MODULES) for kernel in kernels_in(module).values()]
# Enough for several blocks, little enough for four schedules of every kernel.
MOST_BYTES = 500_000


def small_cases(kernel: Kernel) -> list[Case]:
    """Return the two largest of the declared cases that are small, at least the smallest of all."""
    cases = sorted(kernel.cases, key=lambda case: needed_bytes(kernel, case))
    return [case for case in cases if needed_bytes(kernel, case) <= MOST_BYTES][-2:] or cases[:1]


OF_THE_CORPUS = [
    pytest.param(kernel, case, id=f"{name}-{case}")
    for name, kernel in CORPUS.items()
    for case in kernel.cases
]
OF_PROJECTS = [
    pytest.param(kernel, case, id=f"{kernel.name}-{case}")
    for kernel in DECLARED
    for case in small_cases(kernel)
]
under_every_schedule = pytest.mark.parametrize("turns", SCHEDULES, ids=str)


def test_there_is_a_declaration_for_every_file_of_the_corpus() -> None:
    assert {kernel.source for kernel in CORPUS.values()} == set((FOLDER / "corpus").glob("*.cu"))


@under_every_schedule
@pytest.mark.parametrize(("kernel", "case"), OF_THE_CORPUS)
def test_a_kernel_of_the_corpus_has_what_is_marked_in_it_and_no_more(
    kernel: Kernel, case: Case, turns: Turns, sim: Device
) -> None:
    seen = observe(kernel, kernel.start(), case, turns, sim)
    wrong = complaint(seen.findings, marks_in(kernel.source))
    assert wrong is None, f"{wrong}\n{shown(seen.findings)}"


@under_every_schedule
@pytest.mark.parametrize(("kernel", "case"), OF_PROJECTS)
def test_a_declared_kernel_is_right_and_silent(kernel: Kernel, case: Case, turns: Turns, sim: Device) -> None:
    seen = observe(kernel, kernel.start(), case, turns, sim)
    if unsupported := [found for found in seen.findings if found.kind in NOT_JUDGED]:
        pytest.skip(shown(unsupported))
    assert not seen.findings, shown(seen.findings)
    assert seen.agreement.holds, seen.agreement
