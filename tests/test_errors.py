"""What errors say in short; in full, the tests of what raises them say it."""

from __future__ import annotations

import pytest

from pytest_cudaopt.errors import DeclarationError


@pytest.mark.parametrize(
    ("got", "short"),
    [
        ("ValueError: odd\n  at line 3", "reference of 'copy': ValueError: odd"),
        ("", "reference of 'copy': an array"),
        (None, "reference of 'copy': an array"),
    ],
)
def test_an_error_in_short_is_one_line(got: str | None, short: str) -> None:
    assert DeclarationError("reference of 'copy'", expected="an array", got=got).short == short
