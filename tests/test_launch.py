"""Launch rules and the configurations they give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_cudaopt.errors import LaunchError
from pytest_cudaopt.launch import LaunchConfiguration, LaunchRule, parse_override

RULE = "grid=(cdiv(n, BLOCK)) block=(BLOCK) shared=4*BLOCK"


def test_a_rule_gives_the_launch_of_any_size() -> None:
    rule = LaunchRule.parse(RULE)
    assert rule.configure({"n": 1000, "BLOCK": 256}) == LaunchConfiguration((4, 1, 1), (256, 1, 1), 1024)
    assert rule.configure({"n": 1, "BLOCK": 64}) == LaunchConfiguration((1, 1, 1), (64, 1, 1), 256)


@pytest.mark.parametrize(
    ("text", "grid", "block", "shared_bytes"),
    [
        ("grid=(2) block=(3)", (2, 1, 1), (3, 1, 1), 0),
        ("grid=(2, 3) block=(4, 5)", (2, 3, 1), (4, 5, 1), 0),
        ("grid=(2,3,4) block=(5,6,7) shared=8", (2, 3, 4), (5, 6, 7), 8),
        ("block=(32), grid=(1), shared=(4+4)*2", (1, 1, 1), (32, 1, 1), 16),
        ("grid=2 block=32", (2, 1, 1), (32, 1, 1), 0),
        ("grid=(max(1, 2), (3)) block=(min(8, 9))", (2, 3, 1), (8, 1, 1), 0),
        ("grid=(1 + 1) * (2) block=(1)", (4, 1, 1), (1, 1, 1), 0),
    ],
)
def test_fields_may_be_written_in_many_ways(
    text: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int
) -> None:
    assert LaunchRule.parse(text).configure({}) == LaunchConfiguration(grid, block, shared_bytes)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected grid=(...), got only nothing"),
        ("grid=(1)", "expected block=(...), got only grid"),
        ("rows=(1) grid=(1) block=(1)", "got 'rows='"),
        ("grid=(1) grid=(2) block=(1)", "expected one grid=, got two"),
        ("grid=(1,1,1,1) block=(1)", "expected 1 to 3 dimensions, got 4"),
        ("grid=() block=(1)", "expected 1 to 3 dimensions, got 0"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(LaunchError) as caught:
        LaunchRule.parse(text)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("grid=(n - 2) block=(1)", "grid=(n - 2): expected at least 0, got -1 for n=1"),
        ("grid=(1) block=(n - 1)", "block=(n - 1): expected at least 1, got 0 for n=1"),
        ("grid=(1) block=(1) shared=n - 2", "shared=n - 2: expected at least 0 bytes, got -1 for n=1"),
        ("grid=(1 / (n - 1)) block=(1)", "a division by zero (n=1)"),
        ("grid=(rows) block=(1)", "got 'rows'"),
        ("grid=(9) block=(1) cluster=(9)", "cluster=(9): expected at most 8 blocks, got 9 for n=1"),
        ("grid=(4,3) block=(1) cluster=(2,2)", "got 2x2 for grid=4x3 and n=1"),
        ("grid=(4) block=(1) cluster=(n - 1)", "cluster=(n - 1): expected at least 1, got 0"),
    ],
)
def test_sizes_without_a_launch_say_which_field_and_why(text: str, complaint: str) -> None:
    with pytest.raises(LaunchError) as caught:
        LaunchRule.parse(text).configure({"n": 1})
    assert complaint in str(caught.value)


def test_a_grid_of_zero_is_legal_and_empty() -> None:
    configuration = LaunchRule.parse(RULE).configure({"n": 0, "BLOCK": 32})
    assert configuration.is_empty
    assert not LaunchConfiguration((1, 1, 1), (1, 1, 1)).is_empty


def test_the_first_override_that_applies_wins_and_keeps_other_fields() -> None:
    rule = LaunchRule(
        *_parts(RULE),
        (
            parse_override("n >= 4096, n % 4 == 0", "grid=(n / 4)"),
            parse_override("n >= 4096", "block=(1024) shared=0"),
        ),
    )
    assert str(rule.configure({"n": 4096, "BLOCK": 64})) == "grid=1024 block=64 shared=256"
    assert str(rule.configure({"n": 4097, "BLOCK": 64})) == "grid=65 block=1024"
    assert str(rule.configure({"n": 4095, "BLOCK": 64})) == "grid=64 block=64 shared=256"


def test_an_override_of_nothing_is_refused() -> None:
    with pytest.raises(LaunchError, match=r"expected grid=, block= or shared="):
        parse_override("n > 1", "")


def test_directives_read_back_as_the_same_rule() -> None:
    rule = LaunchRule(*_parts(RULE), (parse_override("n >= 1", "grid=(1, 2) shared=n"),))
    assert rule.directives() == [f"@launch {RULE}", "@launch[n >= 1] grid=(1, 2) shared=n"]
    assert LaunchRule.parse(rule.directives()[0].removeprefix("@launch ")).block == rule.block


def test_attributes_are_part_of_the_rule_and_of_its_text() -> None:
    text = "grid=(align_up(cdiv(n, BLOCK), C)) block=(BLOCK) shared=4*BLOCK cluster=(C, 1) cooperative"
    rule = LaunchRule.parse(text)
    assert rule.directives() == [f"@launch {text}"]
    assert rule.names == {"n", "BLOCK", "C"}
    launch = rule.configure({"n": 1000, "BLOCK": 256, "C": 8})
    assert launch == LaunchConfiguration((8, 1, 1), (256, 1, 1), 1024, (8, 1, 1), cooperative=True)
    assert str(launch) == "grid=8 block=256 shared=1024 cluster=8 cooperative"


def test_an_override_keeps_the_attributes_of_the_plain_rule() -> None:
    plain = LaunchRule.parse("grid=(2) block=(32) cluster=(2) cooperative")
    rule = replace(plain, overrides=(parse_override("n > 1", "block=(64)"),))
    assert str(rule.configure({"n": 2})) == "grid=2 block=64 cluster=2 cooperative"


def test_an_empty_grid_is_whole_clusters() -> None:
    assert LaunchRule.parse("grid=(n) block=(1) cluster=(2)").configure({"n": 0}).is_empty


@pytest.mark.parametrize("text", ["cluster=(2)", "block=(64) cooperative"])
def test_an_override_of_an_attribute_is_refused(text: str) -> None:
    with pytest.raises(LaunchError, match="Say it in the plain @launch line"):
        parse_override("n > 1", text)


def test_names_include_those_of_overrides() -> None:
    rule = LaunchRule(*_parts(RULE), (parse_override("rows > 1", "grid=(cols)"),))
    assert rule.names == {"n", "BLOCK", "rows", "cols"}


def _parts(text: str) -> tuple:
    rule = LaunchRule.parse(text)
    return rule.grid, rule.block, rule.shared
