"""References in files: which function is meant, and how one of a test module becomes a file."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_files import CASES, SIGNATURE, SLOW

from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.from_files.kernel import KernelFiles, kernel_of
from pytest_cudaopt.from_files.reference_text import standalone
from pytest_cudaopt.load import module_at
from pytest_cudaopt.optimize.describe import reference_module


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Kernel]:
    """Return how to read the files of `scale` with another reference."""
    for name, text in (
        ("sig.json", json.dumps(SIGNATURE)),
        ("cases.json", json.dumps(CASES)),
        ("k.cu", SLOW),
    ):
        (tmp_path / name).write_text(text)

    def reader(text: str, name: str = "ref.py") -> Kernel:
        (tmp_path / name.partition("::")[0]).write_text(text)
        names = ("sig.json", name, "k.cu", "cases.json")
        return kernel_of(KernelFiles(*(str(tmp_path / one) for one in names)))

    return reader


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def scale(x): return 2 * x\ndef other(x): return x", "ref.py"),
        ("def _half(x): return x\ndef double(x): return 2 * _half(x)", "ref.py"),
        ("def scale(x): return x\ndef double(x): return 2 * x", "ref.py::double"),
        ("from operator import add\ndef double(x): return add(x, x)", "ref.py"),
        ("double = lambda x: 2 * x", "ref.py::double"),
        ("def double(x, **rest): return x * len({'y', 'n'} & set(rest))", "ref.py"),
        ("def double(x, factor=2): return factor * x", "ref.py"),
    ],
)
def test_the_function_that_is_meant_is_found(read: Any, text: str, name: str) -> None:
    reference = read(text, name).reference
    given = {"x": np.array([1.5]), "y": np.zeros(1), "n": 1}
    taken = given if "rest" in text else {"x": given["x"]}
    assert reference(**taken).tolist() == [3.0]


def test_the_body_of_a_declaration_may_be_the_reference(read: Any) -> None:
    text = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("none.cu", cases=[case(n=1)])
def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = 2 * x
"""
    y = np.zeros(1)
    read(text).reference(x=np.array([1.5]), y=y, n=1)
    assert y.tolist() == [3.0]


def test_a_file_may_be_called_as_a_library_is(read: Any) -> None:
    read("def scale(x): return 2 * x", "json.py")
    assert json.loads("1") == 1
    assert "json.py" not in str(module_at(Path(json.__file__)).__dict__.get("scale", ""))


def written(tmp_path: Path, text: str, name: str) -> str:
    """Return the file that the function `name` of a module becomes, which can be executed."""
    (tmp_path / "module.py").write_text(text)
    found = standalone(vars(module_at(tmp_path / "module.py", "made_up_module"))[name])
    assert found is not None
    (tmp_path / "alone.py").write_text(found)
    module_at(tmp_path / "alone.py", "made_up_alone")
    return found


def test_what_a_function_needs_comes_along_and_nothing_else(tmp_path: Path) -> None:
    text = '''\
"""A module."""

import math
import json as unused
from functools import lru_cache, partial

FACTOR, OTHER = 2, 3
BASE = FACTOR + 1
UNUSED = 9


@lru_cache
def helper(value: float) -> float:
    # Why it is so.
    return value * BASE


class Unused:
    pass


def reference(x, UNUSED=4):
    """Say what it is."""

    def inner(value):
        return helper(value) + UNUSED

    return [inner(math.floor(one)) for one in x]
'''
    found = written(tmp_path, text, "reference")
    kept = ("import math", "FACTOR, OTHER = 2, 3", "BASE =", "@lru_cache", "# Why it is so.", "UNUSED=4")
    assert [part for part in kept if part not in found] == []
    assert [part for part in ("json", "UNUSED = 9", "class") if part in found] == []
    assert vars(module_at(tmp_path / "alone.py", "made_up_alone"))["reference"]([2.5]) == [10]


def test_a_function_on_one_line_keeps_its_body(tmp_path: Path) -> None:
    text = "from pytest_cudaopt import In, f32\ndef double(x: int = In(f32, 'n')): return 2 * x\n"
    assert written(tmp_path, text, "double") == "def double(x):\n    return 2 * x\n"


def test_a_reference_in_pytorch_stays_one(tmp_path: Path) -> None:
    text = """\
from pytest_cudaopt import torch_reference

def softmax(x):
    return x.softmax(dim=1)

reference = torch_reference(softmax, device="cuda:1")
"""
    found = written(tmp_path, text, "reference")
    assert found.startswith("from pytest_cudaopt import torch_reference\n")
    assert found.endswith("softmax = torch_reference(softmax, device='cuda:1')\n")


def test_another_wrapper_is_none_that_a_file_can_say(tmp_path: Path) -> None:
    text = """\
import functools

def plain(x):
    return x

@functools.wraps(plain)
def wrapper(x):
    return 2 * plain(x)
"""
    (tmp_path / "module.py").write_text(text)
    assert standalone(vars(module_at(tmp_path / "module.py", "made_up_module"))["wrapper"]) is None


def test_what_no_file_can_say_is_said_to_be_missing() -> None:
    factor = 2

    def nested(x: Any) -> Any:
        return factor * x

    assert standalone(nested) is None
    assert standalone(functools.partial(nested, 1)) is None

    class Declared:
        reference = staticmethod(nested)

    text = reference_module(Declared)  # type: ignore[arg-type]
    assert text.startswith("# What it needs from around it is missing here.\ndef nested(")
