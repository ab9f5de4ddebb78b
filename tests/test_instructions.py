"""Every instruction form that computes, over the values at which such instructions go wrong.

Each is executed by the handlers of both instruction sets, in all threads and in some, and compared with an
oracle that shares nothing with them, and with what silicon answered (`golden_forms.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from golden_forms import differences, read_all
from harness_client import Served
from instruction_forms import TABLES, agreement, expected_of
from ptx_runner import KINDS, Array, Form, execute, executing

FORMS = [form for table in TABLES.values() for form in table]
KEPT = read_all()
ISAS = ("x86-64", "x86-64-v3")


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def describe(form: Form, expected: Array, got: Array, right: Array) -> str:
    """Return the first few elements that differ, with their operands."""
    digits = KINDS[form.results[0]].bits // 4
    lines = [f"{form.name}: {np.count_nonzero(~right)} of {len(right)} differ"]
    for i in np.flatnonzero(~right)[:5]:
        operands = ", ".join(f"0x{int(a.view(f'u{a.itemsize}')[i]):x} ({a[i]})" for a in form.inputs)
        wanted = expected[i] if form.bound else f"0x{int(expected[i]):0{digits}x}"
        lines.append(f"  [{i}] {operands}: expected {wanted}, got 0x{int(got[i]):0{digits}x}")
    return "\n".join(lines)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
def test_an_instruction_gives_what_its_oracle_says(form: Form, harness: Served, tmp_path: Path) -> None:
    wanted = expected_of(form)
    outcomes = [execute(form, harness, tmp_path, isa) for isa in ISAS]
    for k, kind in enumerate(form.results):
        whole = [outcome.whole[k] for outcome in outcomes]
        right = agreement(form, kind, wanted[k], whole[0])
        assert right.all(), describe(form, wanted[k], whole[0], right)
        same = whole[0] == whole[1]
        assert same.all(), "the instruction sets differ\n" + describe(form, whole[0], whole[1], same)
        if form.guarded:
            kept = np.where(executing(len(whole[0])), whole[0], whole[0].dtype.type(KINDS[kind].sentinel))
            for outcome in outcomes:
                same = outcome.some[k] == kept
                assert same.all(), "where some execute\n" + describe(form, kept, outcome.some[k], same)
    assert differences(form, outcomes[0], KEPT) == []
