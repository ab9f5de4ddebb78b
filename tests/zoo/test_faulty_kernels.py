"""What is found in kernels modelled on bugs of real projects, and what is not for these checks to find."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_lines import complaint, marks_in
from observed import SCHEDULES, Turns, observe, shown

from pytest_cudaopt import case
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.load import kernels_in

FOLDER = Path(__file__).parent
KERNELS = kernels_in(FOLDER / "faulty_kernels.py")

# Sizes at which the bug shows, where the right kernel's own are too friendly for it.
TRIGGERS = {
    "conv1d/bug_halo_once": case(n=1000, taps=201),
    "gather/bug_vector_columns": case(v=100, d=3, n=20),
    "sum/bug_power_of_two_tree": case(n=96),
    "sum/bug_shuffle_tail": case(n=4099),
}
# They touch nothing they should not, and are wrong: comparing outputs finds these, over sizes and values.
WRONG_VALUES_ONLY = {
    "conv1d/bug_even_taps": "the centre of an even filter",
    "conv1d/hack_pointer_cache": "does nothing when it is called again",
    "gather/bug_one_element_per_thread": "columns beyond the block stay unwritten",
    "relu/bug_ignores_stride": "reads other elements of the same array",
    "relu/bug_mask_multiply": "-inf times zero",
    "relu/bug_nan_swallowed": "NaN becomes zero",
    "relu/bug_narrow_row_index": "rows beyond 65535 read other rows",
    "relu/hack_noop": "writes nothing",
    "scan/bug_carry_in_last_thread": "chunks after the first start from zero",
    "scan/bug_int_carry": "the carry overflows",
    "sum/bug_arrival_order": "the rounding depends on the order of blocks",
    "sum/bug_power_of_two_tree": "the tree drops elements of a block of 96",
    "sum/bug_ticket_not_reset": "the second launch writes nothing",
    "sum/hack_known_sizes": "stored answers",
}
NOT_RUN = {
    "gather/bug_offset_int32": "is right but for tables of more than 2^31 elements, at which the ladder looks"
}

FILES = {f"{path.parent.name}/{path.stem}": path for path in sorted((FOLDER / "faulty").glob("*/*.cu"))}
FOUND = [name for name in FILES if any(mark.needed for mark in marks_in(FILES[name]))]
RIGHT = [(kernel, case) for kernel in KERNELS.values() for case in kernel.cases]

under_every_schedule = pytest.mark.parametrize("turns", SCHEDULES, ids=str)


def test_every_file_is_found_faulty_or_listed_with_the_reason_why_not() -> None:
    correct = [f"{name}/correct" for name in KERNELS]
    listed = [*correct, *FOUND, *WRONG_VALUES_ONLY, *NOT_RUN]
    assert sorted(listed) == sorted(FILES)


def findings_in(name: str, turns: Turns, sim: Device) -> str | None:
    """Return what is wrong with what is found in a faulty kernel, at sizes where it is faulty."""
    kernel, path = KERNELS[name.split("/")[0]], FILES[name]
    candidate = kernel.candidate(path.read_text(), path)
    at = TRIGGERS.get(name, kernel.cases[-1])
    seen = observe(kernel, candidate, at, turns, sim)
    wrong = complaint(seen.findings, marks_in(path), with_element=turns.forward)
    return f"{wrong}\n{shown(seen.findings)}" if wrong else None


@under_every_schedule
@pytest.mark.parametrize("name", FOUND)
def test_a_faulty_kernel_is_found_at_its_line(name: str, turns: Turns, sim: Device) -> None:
    assert findings_in(name, turns, sim) is None


@pytest.mark.parametrize("name", WRONG_VALUES_ONLY)
def test_nothing_is_found_in_a_kernel_that_only_computes_wrong_values(name: str, sim: Device) -> None:
    assert findings_in(name, SCHEDULES[0], sim) is None


@under_every_schedule
@pytest.mark.parametrize(("kernel", "case"), RIGHT, ids=lambda value: getattr(value, "name", str(value)))
def test_the_right_kernel_is_silent(kernel: Kernel, case: Case, turns: Turns, sim: Device) -> None:
    seen = observe(kernel, kernel.start(), case, turns, sim)
    assert not seen.findings, shown(seen.findings)
    assert seen.agreement.holds, seen.agreement
