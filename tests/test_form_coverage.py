"""Every instruction form NVRTC wrote for the corpus is executed, but for a list with reasons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from form_coverage import Coverage, Row, coverage, declared_in, of_other_tests, of_tables
from ptx_runner import Form

_CALLS = "arguments and results of a call are its callee's memory"
_TENSOR = "moves a matrix fragment, whose layout its own tests know"
NOT_EXECUTED = {
    "call": _CALLS,
    "call.uni": _CALLS,
    "st.param.b32": _CALLS,
    "st.param.b64": _CALLS,
    "st.param.f32": _CALLS,
    "cp.async.ca.shared.global": _TENSOR,
    "cp.async.cg.shared.global": _TENSOR,
    "cp.async.commit_group": _TENSOR,
    "cp.async.mbarrier.arrive.shared.b64": _TENSOR,
    "cp.async.wait_group": _TENSOR,
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16": _TENSOR,
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": _TENSOR,
    "mbarrier.arrive.shared::cta.b64": _TENSOR,
    "mbarrier.init.shared.b64": _TENSOR,
    "mbarrier.try_wait.shared::cta.b64": _TENSOR,
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": _TENSOR,
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": _TENSOR,
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16": _TENSOR,
    "wmma.load.b.sync.aligned.row.m16n16k16.global.f16": _TENSOR,
    "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32": _TENSOR,
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32": _TENSOR,
}


@pytest.fixture(scope="module")
def found() -> Coverage:
    return coverage()


def test_every_form_of_the_corpus_is_executed_but_for_a_list_with_reasons(found: Coverage) -> None:
    assert {row.form for row in found.missing} - set(NOT_EXECUTED) == set()


def test_a_form_that_is_executed_needs_no_reason(found: Coverage) -> None:
    assert set(NOT_EXECUTED) - {row.form for row in found.missing} == set()


def test_a_form_nothing_executes_is_missing() -> None:
    rows = (Row("add.u32", 3, "forms_integer"), Row("tex.1d", 1, None))
    assert Coverage(rows, 7).missing == rows[1:]
    assert "1 of 2 forms (50.0 %), 3 of 4 instructions (75.0 %); and 7 forms" in Coverage(rows, 7).summary()


def test_a_table_and_a_declaration_both_count(tmp_path: Path) -> None:
    module = type(pytest)("forms_made_up")
    module.FORMS = [Form("add.u99", ("u32",), ("u32",), lambda a: a, (np.zeros(128, np.uint32),))]  # type: ignore[attr-defined]
    assert of_tables({"forms_made_up": module, "other": 3}) == {"add.u99": "forms_made_up"}
    (tmp_path / "test_x.py").write_text('EXECUTES = ("call.uni", "ret.uni")\n')
    (tmp_path / "test_y.py").write_text('OTHER = ("bra",)\n')
    assert of_other_tests(tmp_path.glob("*.py")) == {"call.uni": "test_x", "ret.uni": "test_x"}
    assert declared_in("x = 1\n") == ()
