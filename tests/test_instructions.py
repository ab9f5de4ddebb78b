"""Every instruction form that computes, over the values at which such instructions go wrong.

Each is executed by the handlers of both instruction sets, in all threads and in some, and compared with an
oracle that shares nothing with them. An H200 gave the same bits for all these operands (NaNs of f64
atomics aside; conversions of 8-bit floats were not compared), and stayed within the bounds of the
approximate functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import forms_atomic
import forms_bits
import forms_compare
import forms_control
import forms_convert
import forms_float
import forms_float_pairs
import forms_fp8
import forms_half
import forms_integer
import forms_masks
import forms_memory
import forms_move
import forms_pack
import forms_special
import forms_video
import forms_warp
import numpy as np
import pytest
from harness_client import Served
from ptx_runner import KINDS, Array, Form, execute, executing

FORMS = [
    *forms_integer.FORMS,
    *forms_bits.FORMS,
    *forms_float.FORMS,
    *forms_special.FORMS,
    *forms_half.FORMS,
    *forms_compare.FORMS,
    *forms_control.FORMS,
    *forms_convert.FORMS,
    *forms_float_pairs.FORMS,
    *forms_masks.FORMS,
    *forms_memory.FORMS,
    *forms_move.FORMS,
    *forms_pack.FORMS,
    *forms_video.FORMS,
    *forms_fp8.FORMS,
    *forms_atomic.FORMS,
    *forms_warp.FORMS,
]
ISAS = ("x86-64", "x86-64-v3")


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def expected_of(form: Form) -> list[Array]:
    results = form.expected(*form.inputs)
    if form.bound is not None:
        return [results]
    listed = results if isinstance(results, tuple) else (results,)
    return [
        np.asarray(each).view(KINDS[kind].unsigned) for each, kind in zip(listed, form.results, strict=True)
    ]


def describe(form: Form, expected: Array, got: Array, right: Array) -> str:
    """Return the first few elements that differ, with their operands."""
    digits = KINDS[form.results[0]].bits // 4
    lines = [f"{form.name}: {np.count_nonzero(~right)} of {len(right)} differ"]
    for i in np.flatnonzero(~right)[:5]:
        operands = ", ".join(f"0x{int(a.view(f'u{a.itemsize}')[i]):x} ({a[i]})" for a in form.inputs)
        wanted = expected[i] if form.bound else f"0x{int(expected[i]):0{digits}x}"
        lines.append(f"  [{i}] {operands}: expected {wanted}, got 0x{int(got[i]):0{digits}x}")
    return "\n".join(lines)


def agreement(form: Form, kind: str, expected: Array, got: Array) -> Array:
    if form.bound is None:
        return expected == got
    return form.bound(expected, got.view(KINDS[kind].dtype))


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
