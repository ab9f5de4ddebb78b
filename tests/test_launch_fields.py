"""The text of a launch rule, cut into fields, and the words that are none."""

from __future__ import annotations

import pytest

from pytest_cudaopt.errors import LaunchError
from pytest_cudaopt.launch_fields import Fields, read_fields


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", Fields({})),
        ("cooperative", Fields({}, True)),
        ("grid=(1) cooperative block=(2)", Fields({"grid": "(1)", "block": "(2)"}, True)),
        ("cooperative grid=(1)", Fields({"grid": "(1)"}, True)),
        ("grid=(1), cooperative, block=(2)", Fields({"grid": "(1)", "block": "(2)"}, True)),
        ("shared=4 * cooperative", Fields({"shared": "4 * cooperative"})),
        ("shared=where(n == 4, a and b, c)", Fields({"shared": "where(n == 4, a and b, c)"})),
        ("shared=n <= 4 and not m", Fields({"shared": "n <= 4 and not m"})),
        ("shared=BYTES cluster = (2, 1)", Fields({"shared": "BYTES", "cluster": "(2, 1)"})),
    ],
)
def test_fields_and_words_are_told_apart(text: str, fields: Fields) -> None:
    assert read_fields(text) == fields


@pytest.mark.parametrize(
    ("text", "got", "meant"),
    [
        ("blocks=(1)", "blocks=", "block="),
        ("grid=(1) clusters=(2)", "clusters=", "cluster="),
        ("gird=(1)", "gird=", "grid="),
        ("grid=(1) coperative", "coperative", "cooperative"),
        ("grid=(1) cooperative=1", "cooperative=", "cooperative"),
        ("block(32) grid=(1)", "block(32)", "block="),
    ],
)
def test_what_is_no_field_is_named_with_what_it_may_stand_for(text: str, got: str, meant: str) -> None:
    with pytest.raises(LaunchError) as caught:
        read_fields(text)
    assert f"got '{got}'. Did you mean '{meant}'?" in str(caught.value)


def test_what_stands_for_nothing_is_named_alone() -> None:
    with pytest.raises(LaunchError) as caught:
        read_fields("grid=(1) x=2")
    assert str(caught.value).endswith("got 'x='")
