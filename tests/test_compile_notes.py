"""What is added to a compiler's errors, and where."""

from __future__ import annotations

import pytest

from pytest_cudaopt.compile_notes import with_notes
from pytest_cudaopt.evaluation import Diagnostic


def message(text: str, severity: str = "error") -> Diagnostic:
    return Diagnostic("k.cu", 3, 1, severity, text)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('identifier "INFINITY" is undefined', "write #include <cmath>"),
        ('identifier "M_PI" is undefined', "write #include <cmath>"),
        ('identifier "uint32_t" is undefined', "write #include <cstdint>"),
        ('identifier "FLT_MAX" is undefined', "write #include <cfloat>"),
        ('identifier "uint" is undefined', "write unsigned int"),
        ("cudaopt layout: struct 'P' is not as declared: it has 64 bytes", "members that are arrays"),
        ("A function without execution space annotations (...) is considered a host function", "host code"),
    ],
)
def test_an_error_that_is_known_says_what_to_do(text: str, note: str) -> None:
    diagnostics, said = with_notes([message("odd", "warning"), message("x"), message(text)], ["a.h"], [])
    assert note in said
    assert diagnostics[2].text == f"{text}\n{said}"
    assert [one.text for one in diagnostics[:2]] == ["odd", "x"]


def test_other_errors_name_the_headers_that_were_empty() -> None:
    diagnostics, said = with_notes([message('identifier "z" is undefined')], ["torch/extension.h"], [])
    assert said == "torch/extension.h: empty because of stub=; what is not defined may be from there"
    assert diagnostics[0].text.endswith(said)


def test_nothing_is_added_where_nothing_is_known() -> None:
    messages = (message('identifier "z" is undefined'),)
    assert with_notes(messages, [], []) == (messages, "")


def test_a_parameter_that_is_not_as_declared_is_shown_as_it_was_declared() -> None:
    text = "cudaopt signature: kernel 'k' is not as declared: parameter 2 is 'int', expected 'float*'"
    _, said = with_notes([message(text)], [], ["x=In(f32, ...)", "y=Out(f32, ...)"])
    assert said == "declared: y=Out(f32, ...)"
    _, said = with_notes(
        [message("cudaopt signature: it is 'void (*)()', expected 1 parameter")], ["a.h"], []
    )
    assert said.startswith("a.h: empty")
