"""Macros of declarations: one line each, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernels import axpy

from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.macros import as_header, is_macro, with_own


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("X", "1\n#include </etc/passwd>"),
        ("X", "1\r#include </etc/passwd>"),
        ("X", "1 \\"),
        ("X", "1 ??/"),
        ("X", "1 /* "),
        ("X\n#include </etc/passwd>\n", "1"),
        ("X Y", "1"),
        ("1X", "1"),
        ("__THRUST_HOST_SYSTEM_ROOT", "/etc"),
        ("", "1"),
    ],
)
def test_a_macro_that_would_be_more_than_one_is_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(
        DeclarationError, match=r"defines\[.*\]: expected a macro's name, and a text of one line"
    ):
        axpy(tmp_path, defines={name: text})


@pytest.mark.parametrize(
    ("name", "text"), [("X", ""), ("F(a, b)", "(a) / (b)"), ("S", '"a b"'), ("V(...)", "__VA_ARGS__")]
)
def test_a_plain_macro_is_one(name: str, text: str) -> None:
    assert is_macro(name, text)


def test_own_macros_and_tunables_win_over_inherited_ones() -> None:
    inherited, own = (("A", "1"), ("B", "1"), ("C", "1")), (("B", "2"),)
    assert with_own(inherited, own, taken={"C": 64}) == (("A", "1"), ("B", "2"))


def test_a_kernels_own_macro_wins_over_what_every_source_is_compiled_with() -> None:
    assert as_header(()) == "#define _CCCL_META_UNROLL_LIMIT 10\n"
    own = as_header((("_CCCL_META_UNROLL_LIMIT", "16"), ("F(x)", "x")))
    assert own == "#define _CCCL_META_UNROLL_LIMIT 16\n#define F(x) x\n"
