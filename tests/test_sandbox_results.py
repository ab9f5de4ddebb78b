"""What came out of a sandbox is believed only where it is checked: every lie has its answer."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt.sandbox.call import Wanted
from pytest_cudaopt.sandbox.manifest import Answer, ArrayEntry, places
from pytest_cudaopt.sandbox.results import BadOutputError, printed, read_answer, read_arrays, readable

F_SEAL_SEAL = fcntl.F_SEAL_SEAL
ANYTHING = {"y": Wanted()}


class Memory:
    """Memory as a call leaves it behind."""

    def __init__(self, size: int = 4096) -> None:
        self.descriptor = os.memfd_create("made up", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)

    def holding(self, data: bytes) -> int:
        os.pwrite(self.descriptor, data, 0)
        return self.descriptor


@pytest.fixture
def memory() -> Iterator[Memory]:
    made = Memory()
    yield made
    os.close(made.descriptor)


def entry(**members: Any) -> dict[str, Any]:
    return {"name": "y", "dtype": "f32", "shape": [2], **members}


def test_an_answer_is_read(memory: Memory) -> None:
    text = json.dumps({"arrays": [entry()]}).encode()
    assert read_answer(memory.holding(text)) == Answer(arrays=(ArrayEntry("y", "f32", (2,)),))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it ended without an answer"),
        (b"no JSON", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "answer: expected an object"),
        (b'{"arrays": []} {}', "cannot be read"),
        (b'{"arrays": [], "more": 1}', "expected keys among"),
        (b'{"arrays": {"y": 1}}', "expected a list"),
        (b"[" * 4000, "nested deeper than 16 levels"),
        (b'{"arrays": ' + b"[" * 20 + b"]" * 20 + b"}", "nested deeper than 16 levels"),
        (b'{"refused": ' + b"9" * 4000 + b"}", "expected text"),
        (json.dumps({"arrays": [entry(shape=[True])]}).encode(), "expected an integer"),
        (json.dumps({"arrays": [entry(shape=[2.0])]}).encode(), "expected an integer"),
        (json.dumps({"arrays": [entry(shape="22")]}).encode(), "expected a list"),
        (json.dumps({"arrays": [entry(dtype=None)]}).encode(), "expected text"),
        (json.dumps({"arrays": [entry(offset=0)]}).encode(), "expected keys among"),
    ],
)
def test_what_is_no_answer_is_refused(text: bytes, why: str, memory: Memory) -> None:
    with pytest.raises(BadOutputError, match=why):
        read_answer(memory.holding(text))


def test_brackets_within_texts_are_no_depth(memory: Memory) -> None:
    note = {"raised": {"type": "ValueError", "message": '["\\' + "[{" * 40}}
    answer = read_answer(memory.holding(json.dumps(note).encode()))
    assert answer.raised is not None
    assert answer.raised.message == '["\\' + "[{" * 40


def test_memory_that_somebody_can_still_write_to_is_not_read(memory: Memory) -> None:
    with (
        mmap.mmap(memory.descriptor, 4096),
        pytest.raises(BadOutputError, match="its memory is still in use"),
    ):
        read_answer(memory.descriptor)


def test_memory_that_was_sealed_against_us_is_not_read(memory: Memory) -> None:
    fcntl.fcntl(memory.descriptor, fcntl.F_ADD_SEALS, F_SEAL_SEAL)
    with pytest.raises(BadOutputError, match="sealed by the call itself"):
        read_answer(memory.descriptor)


def test_memory_that_was_read_cannot_be_changed_any_more(memory: Memory) -> None:
    read_answer(memory.holding(b"{}"))
    with pytest.raises(PermissionError):
        os.pwrite(memory.descriptor, b"x", 0)


def test_arrays_are_read_one_after_the_other(memory: Memory) -> None:
    first, second = np.arange(3, dtype=np.float32), np.array(7, np.int64)
    offsets, _ = places([first.nbytes, second.nbytes])
    os.pwrite(memory.descriptor, first.tobytes(), offsets[0])
    os.pwrite(memory.descriptor, second.tobytes(), offsets[1])
    entries = (ArrayEntry("x", "f32", (3,)), ArrayEntry("n", "i64", ()))
    found = read_arrays(memory.descriptor, entries, {"n": Wanted("i64", ()), "x": Wanted()}, 4096)
    np.testing.assert_array_equal(found["x"], first)
    assert found["n"] == second
    assert found["n"].shape == ()


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ((), "expected y, got nothing"),
        ((ArrayEntry("z", "f32", (2,)),), "expected y, got z"),
        ((ArrayEntry("y", "f32", (2,)), ArrayEntry("y", "f32", (2,))), "expected y, got y, y"),
        ((ArrayEntry("y", "f32", (2,)),) * 65, "65 arrays, at most 64"),
        ((ArrayEntry("y", "object", (2,)),), "y: a dtype among f16, .*, not 'object'"),
        ((ArrayEntry("y", "O", (2,)),), "not 'O'"),
        ((ArrayEntry("y", "f32", (-1,)),), r"y: no shape of an array: \(-1,\)"),
        ((ArrayEntry("y", "f32", (10**30,)),), "y: no shape of an array"),
        ((ArrayEntry("y", "f32", (1,) * 17),), "y: no shape of an array"),
        ((ArrayEntry("y", "f32", (2**40, 2**40)),), "bytes of arrays, at most 4096 are read"),
        ((ArrayEntry("y", "f32", (1025,)),), "4160 bytes of arrays, at most 4096 are read"),
    ],
)
def test_arrays_that_are_not_what_is_wanted_are_refused_before_they_are_read(
    entries: tuple[ArrayEntry, ...], why: str
) -> None:
    # No descriptor has this number: reading would be another error.
    with pytest.raises(BadOutputError, match=why):
        read_arrays(-1, entries, ANYTHING, 4096)


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (Wanted(dtype="f64"), "y: expected dtype f64, got f32"),
        (Wanted(shape=(2, 1)), r"y: expected shape \(2, 1\), got \(2,\)"),
        (Wanted(finite=True), "y: not all of it is finite"),
    ],
)
def test_an_output_must_be_as_wanted(wanted: Wanted, why: str, memory: Memory) -> None:
    memory.holding(np.array([1, np.nan], np.float32).tobytes())
    with pytest.raises(BadOutputError, match=why):
        read_arrays(memory.descriptor, (ArrayEntry("y", "f32", (2,)),), {"y": wanted}, 4096)


@pytest.mark.parametrize("dtype", ["bf16", "f8e4m3", "f8e5m2", "f16"])
def test_small_floats_that_are_not_finite_are_noticed(dtype: str, memory: Memory) -> None:
    memory.holding(b"\x7f\x7f" if dtype.startswith("f8") else b"\xff\x7f")
    entries = (ArrayEntry("y", dtype, (1,)),)
    with pytest.raises(BadOutputError, match="not all of it is finite"):
        read_arrays(memory.descriptor, entries, {"y": Wanted(finite=True)}, 4096)


def test_no_answer_is_anything_but_read_or_refused() -> None:
    rng = random.Random(1)  # noqa: S311 - reproducible on purpose
    good = json.dumps({"arrays": [entry(), entry(name="z", shape=[])], "raised": None}).encode()
    refused = 0
    for _ in range(500):
        text = bytearray(good)
        for _ in range(rng.randrange(1, 5)):
            text[rng.randrange(len(text))] = rng.choice(b'[]{}",:0e-\\\xff\x00 t')
        made = Memory()
        try:
            read_answer(made.holding(bytes(text)))
        except BadOutputError:
            refused += 1
        finally:
            os.close(made.descriptor)
    assert 100 < refused < 500


def test_what_was_printed_is_text_whatever_it_was(memory: Memory) -> None:
    memory.holding(b"a\xffb\0c")
    assert printed(memory.descriptor, 4096) == "a\ufffdb\ufffdc"
    assert printed(memory.descriptor, 1) == "a"


def test_what_is_shown_moves_no_cursor() -> None:
    assert (
        readable("a\x1b[2J\n\tb\ud800\u202e\N{GREEK SMALL LETTER PI}")
        == "a\ufffd[2J\n\tb\ufffd\ufffd\N{GREEK SMALL LETTER PI}"
    )
    assert readable("abc", 2) == "ab"
