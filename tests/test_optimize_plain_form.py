"""A form in words, and what is found of it in a text."""

from __future__ import annotations

import json

import pytest

from pytest_cudaopt.optimize import plain_form, proposal_form
from pytest_cudaopt.optimize.conversation import Form

SOURCE = 'extern "C" __global__ void scale(const float* x, float* y, int n) {\n    y[0] = x[0];\n}\n'
WHOLE = {"launch": "grid=(1) block=(1)", "source": SOURCE}
REST = {"launch": "grid=(1) block=(1)"}


def block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        json.dumps(WHOLE).replace("\\n", "\n"),
        f"Here:\n{block('json', json.dumps(WHOLE))}Done.",
        f"Here:\n{block('', json.dumps(WHOLE))}",
        f"Here it is: {json.dumps(WHOLE)} That is all.",
        block("json", json.dumps(REST)) + block("cuda", SOURCE.rstrip("\n")),
        block("cpp", SOURCE.rstrip("\n")) + block("json", json.dumps(REST)),
        block("json", json.dumps({**REST, "source": "see below"})) + block("", SOURCE.rstrip("\n")),
        f"{json.dumps(REST)}\n{block('cuda', SOURCE.rstrip(chr(10)))}",
        # Whoever stops at the last line may leave the fence open.
        f"{block('json', json.dumps(REST))}```cuda\n{SOURCE}",
        # The last word counts.
        block("json", '{"launch": "first thought"}') + block("json", json.dumps(WHOLE)),
    ],
    ids=[
        "json",
        "raw-line-ends",
        "fenced",
        "fenced-plain",
        "in-words",
        "blocks",
        "blocks-other-order",
        "placeholder",
        "half-fenced",
        "open-fence",
        "two",
    ],
)
def test_a_filled_in_form_is_found(text: str) -> None:
    assert json.loads(plain_form.found_in(text)) == WHOLE


def test_a_source_in_the_json_counts_before_a_block() -> None:
    text = block("json", json.dumps(WHOLE)) + block("cuda", "an excerpt\n")
    assert json.loads(plain_form.found_in(text)) == WHOLE


@pytest.mark.parametrize("text", ["I cannot.", block("cuda", SOURCE), "{broken", "[1]", "{}", ""])
def test_an_answer_without_one_stays_as_it_is(text: str) -> None:
    assert plain_form.found_in(text) == text


def test_every_field_is_described_with_its_type() -> None:
    words = plain_form.in_words(proposal_form.form())
    assert "- `hypothesis`: string; one sentence: what limits the kernel now" in words
    assert "- `overrides`: list of string; other launch fields" in words
    assert "- `tunables`: list of objects with `name` (string; the macro's name" in words
    assert "`values` (list of integer; 1 to 8 values" in words
    assert "`source` may be left out of the JSON and follow in a ```cuda block" in words


def test_a_form_without_code_has_no_block_for_it() -> None:
    schema = {"properties": {"depth": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
    words = plain_form.in_words(Form("other", schema))
    assert "- `depth`: integer or null" in words
    assert "cuda" not in words
