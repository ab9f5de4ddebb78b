"""Directives that can be read and are wrong all the same: each is refused at its line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_cudaopt import directives
from pytest_cudaopt.directive_checks import require_known_names, require_used_tunables
from pytest_cudaopt.errors import SourceError, SourceLocation
from pytest_cudaopt.launch import LaunchRule

ELSEWHERE = SourceLocation("test_k.py", 9)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("// @lauch grid=(1) block=(1)", "@launch"),
        ("  //@launhc[n > 1] grid=(1)", "@launch"),
        ("// @tuen BLOCK = 1, 2", "@tune"),
        ("// @tunes where BLOCK > 1", "@tune"),
        ("// @option --use_fast_math", "@options"),
    ],
)
def test_a_misspelt_directive_is_no_comment(line: str, meant: str) -> None:
    with pytest.raises(SourceError) as caught:
        directives.read(f"int x;\n{line}\n", "k.cu")
    assert str(caught.value).startswith("k.cu:2: @")
    assert f"Did you mean '{meant}'?" in str(caught.value)


@pytest.mark.parametrize(
    "line",
    ["// @param n = rows", "// @tuned for H100", "// @note x=1", "// the @lauch line", "int tuen = 1;"],
)
def test_comments_of_other_tools_are_left_alone(line: str) -> None:
    assert directives.read(line, "k.cu") == directives.Directives()


def check_names(source: str, rule: LaunchRule | None = None) -> str:
    found = directives.read(source, "k.cu")
    with pytest.raises(SourceError) as caught:
        require_known_names(rule or found.rule, {"rows", "BLOCK"}, found, ELSEWHERE, "k")
    return str(caught.value)


def test_an_unknown_name_is_pointed_out_at_its_launch_line() -> None:
    text = check_names("\n// @launch grid=(row) block=(BLOCK)")
    assert text.startswith("k.cu:2: launch rule of kernel 'k': expected names among BLOCK, rows, got row")
    assert text.endswith("Did you mean 'rows'?")


def test_an_unknown_name_of_an_override_is_at_the_line_of_the_override() -> None:
    text = check_names("// @launch grid=(rows) block=(1)\n\n// @launch[WIDTH > 1] block=(2)")
    assert text.startswith("k.cu:3: launch rule of kernel 'k'")
    assert "add '// @tune WIDTH = ...'" in text


def test_an_unknown_name_of_a_rule_from_elsewhere_is_at_the_declaration() -> None:
    text = check_names("int x;", LaunchRule.parse("grid=(cols) block=(1)"))
    assert text.startswith("test_k.py:9: ")


USED = {
    "in the source": "// @tune B = 1, 2\nint x = B;",
    "by the launch rule": "// @launch grid=(B) block=(1)\n// @tune B = 1, 2",
    "by a condition": "// @tune B = 1, 2\n// @tune where B < 3",
    "perhaps by a header": '// @tune B = 1, 2\n#include "tile.h"',
}


def check_used(source: str, *texts: str) -> None:
    found = directives.read(source, "k.cu")
    rule = found.rule or LaunchRule.parse("grid=(1) block=(1)")
    require_used_tunables(source, "k.cu", found, replace(rule), texts)


@pytest.mark.parametrize("source", USED.values(), ids=USED.keys())
def test_a_tunable_may_be_used_anywhere(source: str) -> None:
    check_used(source)


def test_a_tunable_may_be_used_by_a_define() -> None:
    check_used("// @tune B = 1, 2", "2*B")


def test_a_tunable_that_nothing_uses_is_refused_at_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        check_used("int x = B + BLOCKS;\n// @tune B = 1, 2\n// @tune BLOCK = 1, 2\n")
    assert str(caught.value).startswith("k.cu:3: @tune BLOCK: expected a name that")


def test_its_own_tune_line_is_no_use() -> None:
    with pytest.raises(SourceError, match=r"k.cu:1: @tune A"):
        check_used("// @tune A = 1, 2\n// @tune B = 3\nint x = B;")
