"""Every instruction form NVRTC wrote for the corpus is executed, but for a list with reasons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from form_coverage import Coverage, Row, coverage, declared_in, of_other_tests, of_tables
from ptx_runner import Form

# form: why no test executes it
NOT_EXECUTED: dict[str, str] = {}


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
    form = Form("add.u99", ("u32",), ("u32",), lambda a: a, (np.zeros(128, np.uint32),))
    assert of_tables({"forms_made_up": [form]}) == {"add.u99": "forms_made_up"}
    (tmp_path / "test_x.py").write_text('EXECUTES = ("call.uni", "ret.uni")\n')
    (tmp_path / "test_y.py").write_text('OTHER = ("bra",)\n')
    assert of_other_tests(tmp_path.glob("*.py")) == {"call.uni": "test_x", "ret.uni": "test_x"}
    assert declared_in("x = 1\n") == ()
