"""Digests of what instructions gave: recorded, read back, and where they no longer mean anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden_forms import HOW_TO_WRITE, answer, differences, question, read_all, record, write
from harness_client import Served
from instruction_forms import TABLES
from ptx_runner import Form, Outcome, execute, module_text

FORM = next(form for form in TABLES["forms_integer"] if form.id == "add.u32")
BOUNDED = next(form for form in TABLES["forms_special"] if form.bound is not None)


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def on_sim(form: Form, harness: Served, folder: Path) -> Outcome:
    return execute(form, harness, folder, "x86-64")


def test_what_is_written_is_read_back_without_differences(harness: Served, tmp_path: Path) -> None:
    recorded, disagreeing = record([FORM, BOUNDED], lambda form: on_sim(form, harness, tmp_path))
    assert disagreeing == []
    write("forms_integer", "a GPU", recorded, tmp_path / "h200")
    kept = read_all(tmp_path)
    assert kept == {"h200": recorded}
    assert differences(FORM, on_sim(FORM, harness, tmp_path), kept) == []
    assert recorded[BOUNDED.id][1] == ""


def test_other_bits_are_noticed(harness: Served, tmp_path: Path) -> None:
    outcome = on_sim(FORM, harness, tmp_path)
    kept = {"h200": {FORM.id: [question(FORM), answer(FORM, outcome)]}}
    outcome.some[0][3] ^= 1
    assert differences(FORM, outcome, kept) == ["add.u32: other bits than on h200"]


def test_a_comparison_that_means_nothing_says_so(harness: Served, tmp_path: Path) -> None:
    outcome = on_sim(FORM, harness, tmp_path)
    changed = replace(FORM, inputs=tuple(np.roll(array, 1) for array in FORM.inputs))
    kept = {"h200": {FORM.id: [question(changed), answer(FORM, outcome)]}}
    (complaint,) = differences(FORM, outcome, kept)
    assert complaint.endswith(f"write it again: {HOW_TO_WRITE}")


def test_a_result_the_oracle_does_not_expect_is_named_and_kept(harness: Served, tmp_path: Path) -> None:
    wrong = replace(FORM, expected=lambda a, b: a - b)
    recorded, disagreeing = record([wrong], lambda form: on_sim(form, harness, tmp_path))
    assert disagreeing == ["add.u32"]
    assert list(recorded) == ["add.u32"]


def test_a_form_the_device_does_not_have_is_left_out() -> None:
    assert record([FORM], lambda form: None) == ({}, [])


def test_a_form_for_newer_gpus_names_one() -> None:
    newer = next(form for form in TABLES["forms_float_pairs"] if form.name.endswith("f32x2"))
    assert ".target sm_100a\n" in module_text(newer)
    assert ".target sm_90\n" in module_text(FORM)


def test_every_form_has_a_name_of_its_own() -> None:
    names = [form.id for table in TABLES.values() for form in table]
    assert len(set(names)) == len(names)
