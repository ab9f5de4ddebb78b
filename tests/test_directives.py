"""The `// @...` lines of a source: read, refused with their line, and written again."""

from __future__ import annotations

import pytest

from pytest_cudaopt import directives
from pytest_cudaopt.errors import SourceError
from pytest_cudaopt.launch import LaunchRule

SOURCE = """// A header that mentions @launch in its text.
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
//   @launch[n >= 4096] grid=(n / 4)
// @tune BLOCK = 256, 64, 2*64
// @tune PER_THREAD = 1, 2
// @tune where BLOCK * PER_THREAD <= 256
// @options --use_fast_math -std=c++20
__global__ void k() {}
"""


def test_every_directive_is_read() -> None:
    found = directives.read(SOURCE, "k.cu")
    assert found.rule is not None
    assert found.rule.directives() == [
        "@launch grid=(cdiv(n, BLOCK)) block=(BLOCK)",
        "@launch[n >= 4096] grid=(n / 4)",
    ]
    assert {t.name: t.values for t in found.tunables} == {"BLOCK": (256, 64, 128), "PER_THREAD": (1, 2)}
    assert found.starting_values == {"BLOCK": 256, "PER_THREAD": 1}
    assert found.options == ("--use_fast_math", "-std=c++20")


def test_constraints_tell_allowed_choices() -> None:
    found = directives.read(SOURCE, "k.cu")
    assert found.allows({"BLOCK": 128, "PER_THREAD": 2})
    assert not found.allows({"BLOCK": 256, "PER_THREAD": 2})


def test_a_source_without_directives_has_none() -> None:
    assert directives.read("__global__ void k() {}\n", "k.cu") == directives.Directives()


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["// @launch grid=(1) block=(1)", "// @launch grid=(2) block=(1)"], "k.cu:2: @launch: expected one"),
        (["// @launch grid=(1)"], "k.cu:1: launch rule 'grid=(1)': expected block=(...)"),
        (["", "// @launch grid=(1 +) block=(1)"], "k.cu:2: expression '1 +'"),
        (["// @launch[n > 1] grid=(1)"], "expected a plain @launch rule too"),
        (["// @tune BLOCK"], "k.cu:1: @tune BLOCK: expected @tune NAME = 256, 128"),
        (["// @tune B = 1", "// @tune B = 2"], "k.cu:2: @tune B: expected one list of values"),
        (["// @tune B = 1, n"], "k.cu:1: @tune B: expected integers, got 'n'"),
        (["// @tune B = 1, 2, 1"], "k.cu:1: @tune B: expected each value once"),
        (["// @options -I/etc"], "k.cu:1: @options -I/etc: expected -std=c++NN"),
        (["// @tune where B > 1"], "expected tunables among none, got B"),
        (["// @tune B = 1, 2", "// @tune where B > 1"], "expected the first values of all tunables"),
    ],
)
def test_a_directive_that_cannot_be_read_is_refused_at_its_line(lines: list[str], complaint: str) -> None:
    with pytest.raises(SourceError) as caught:
        directives.read("\n".join(lines), "k.cu")
    assert complaint in str(caught.value)


def test_rewriting_puts_the_rule_and_the_chosen_values_first() -> None:
    rule = LaunchRule.parse("grid=(n) block=(32)")
    written = directives.rewrite(SOURCE, rule, {"BLOCK": 64})
    assert written.splitlines() == [
        "// A header that mentions @launch in its text.",
        "// @launch grid=(n) block=(32)",
        "// @tune BLOCK = 64, 256, 128",
        "// @tune PER_THREAD = 1, 2",
        "// @tune where BLOCK * PER_THREAD <= 256",
        "// @options --use_fast_math -std=c++20",
        "__global__ void k() {}",
    ]


def test_rewriting_with_what_is_there_keeps_the_meaning() -> None:
    found = directives.read(SOURCE, "k.cu")
    assert found.rule is not None
    written = directives.rewrite(SOURCE, found.rule, found.starting_values)
    again = directives.read(written, "k.cu")
    assert again.rule is not None
    assert again.rule.directives() == found.rule.directives()
    assert (again.tunables, again.options) == (found.tunables, found.options)


def test_rewriting_adds_a_rule_to_a_source_without_one() -> None:
    written = directives.rewrite("int x;\n", LaunchRule.parse("grid=(1) block=(1)"), {})
    assert written == "// @launch grid=(1) block=(1)\nint x;\n"


@pytest.mark.parametrize("option", ["-std=c++17", "--use_fast_math", "--fmad=false", "--maxrregcount=32"])
def test_harmless_compiler_options_are_allowed(option: str) -> None:
    assert directives.allowed_option(option) == option


@pytest.mark.parametrize("option", ["-I/etc", "--pre-include=/etc/passwd", "-std=c++17 -I/x", "-DX", ""])
def test_other_compiler_options_are_refused(option: str) -> None:
    with pytest.raises(SourceError, match=r"@options"):
        directives.allowed_option(option)
