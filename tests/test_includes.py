"""Finding includes: every spelling the preprocessor takes, and nothing that only looks like one."""

from __future__ import annotations

import pytest

from pytest_cudaopt.includes import Form, scan


def found(text: str) -> list[str]:
    return [f"{one.directive} {one.spelled}" for one in scan(text).includes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('#include "a.h"', 'include "a.h"'),
        ("  #  include\t<a/b.h>  // why", "include <a/b.h>"),
        ("#in\\\nclude <a.h>", "include <a.h>"),
        ("\\\n#include \\\n<a.h>", "include <a.h>"),
        ("/* one\ntwo */ # /* x */ include /**/ <a.h>", "include <a.h>"),
        ('%:include "a.h"', 'include "a.h"'),
        ('??=include "a.h"', 'include "a.h"'),
        ("\f\v#include <a.h>", "include <a.h>"),
        ("#include_next <a.h>", "include_next <a.h>"),
        ('#import "a.h"', 'import "a.h"'),
        ('#embed "a.bin"', 'embed "a.bin"'),
        ("#include HEADER(a) // why", "include HEADER(a)"),
        ("#if 0\n#include <a.h>\n#endif", "include <a.h>"),
        ("#if 0\nit's\n#include <a.h>\n#endif", "include <a.h>"),
        ("int a = 1'000;\n#include <a.h>", "include <a.h>"),
        ("char c = '\"';\n#include <a.h>", "include <a.h>"),
        ('auto s = "/*";\n#include <a.h>', "include <a.h>"),
        ('f(FOOR"(");\n#include <a.h>', "include <a.h>"),
        ('auto s = R"x(" )" )x";\n#include <a.h>', "include <a.h>"),
        ('auto s = u8R"(\\\n)";\n#include <a.h>', "include <a.h>"),
        ("#include <it's/*here>", "include <it's/*here>"),
    ],
)
def test_an_include_is_found_however_it_is_written(text: str, expected: str) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "// #include <a.h>",
        "// goes on \\\n#include <a.h>",
        "/*\n#include <a.h>\n*/",
        'auto s = R"(\n#include <a.h>\n)";',
        'auto s = "\\\n#include <a.h>";',
        "x #include <a.h>",
        "#define include <a.h>",
        "#includes <a.h>",
        "#error include <a.h>",
    ],
)
def test_what_only_looks_like_an_include_is_none(text: str) -> None:
    assert found(text) == []


def test_the_place_is_that_of_the_directive_without_its_comment() -> None:
    text = "int a;\n  #inc\\\nlude <a.h> // why"
    (one,) = scan(text).includes
    assert text[one.start : one.end] == "#inc\\\nlude <a.h>"


@pytest.mark.parametrize("directive", ["#if", "#elif", "%: if"])
def test_literal_probes_of_conditions_are_found(directive: str) -> None:
    text = f'{directive} defined(X) && __has_include( "a.h" ) || __has_include(<b.h>) // c'
    probes = scan(text).probes
    assert [(one.form, one.name) for one in probes] == [(Form.QUOTED, "a.h"), (Form.ANGLED, "b.h")]
    assert text[probes[0].start : probes[0].end] == '__has_include( "a.h" )'


def test_a_directive_in_a_comment_can_be_made_harmless() -> None:
    text = "/*\n  #include </etc/passwd>\n*/"
    ((start, end),) = scan(text).commented
    assert text[start:end] == "#"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('auto s = R"(\n#include "a.h"\n)";', 2),
        ('auto s = R"(\n\n#include <../a.h>\n)";', 3),
        ("#inc??/\nlude </etc/passwd>", 1),
        ('auto s = R"(\n#include <cuda_fp16.h>\n)";', None),
    ],
)
def test_a_directive_only_some_compilers_would_see_is_named_if_it_reaches_files(
    text: str, line: int | None
) -> None:
    assert scan(text).hidden == line
