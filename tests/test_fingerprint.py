"""Digests of functions: what changes them, what does not, and what has none."""

from __future__ import annotations

import functools
import math
import operator
import os
import random
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, Struct, f32, i32
from pytest_cudaopt.fingerprint import fingerprint

SOURCE = """
import math
import numpy as np
from numpy import exp
FACTOR = 2.0
TABLE = np.arange(4.0)
CHOICES = {"a": (1, 2), "b": [3, None]}
def helper(x):
    return exp(x) * FACTOR
def outer(x, scale=1.5):
    return helper(x) + scale
def reference(x, y):
    y[...] = outer(x) + TABLE.sum() + math.sqrt(len(CHOICES))
    late = lambda value: value + 1
    return [late(value) for value in range(3) if value]
"""


def made(source: str) -> Callable[..., Any]:
    known: dict[str, Any] = {"__name__": "made"}
    # Without the flags of this file's own `__future__`.
    exec(compile(source, "made", "exec", dont_inherit=True), known)  # noqa: S102 - the test's own text
    function = known["reference"]
    assert isinstance(function, FunctionType)
    return function


def test_the_same_text_has_the_same_digest_in_any_process() -> None:
    code = (
        f"import pytest_cudaopt.fingerprint as f\nknown = {{'__name__': 'made'}}\nexec({SOURCE!r}, known)\n"
        "print(f.fingerprint(known['reference']))"
    )
    own = fingerprint(made(SOURCE))
    assert own is not None
    for seed in ("1", "2"):
        environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
        )
        assert done.stdout.strip() == own


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y[...] = outer(x)", "y[...] = 2 * outer(x)"),
        ("+ TABLE.sum()", "- TABLE.sum()"),
        ("math.sqrt", "math.cbrt"),
        ("range(3)", "range(4)"),
        ("value + 1", "value - 1"),
        ("value + 1", "value + FACTOR"),
        ("return exp(x) * FACTOR", "return exp(x) / FACTOR"),
        ("from numpy import exp", "from numpy import expm1 as exp"),
        ("FACTOR = 2.0", "FACTOR = 2.5"),
        ("FACTOR = 2.0", "FACTOR = 2"),
        ("np.arange(4.0)", "np.arange(5.0)"),
        ("np.arange(4.0)", "np.arange(4.0).reshape(2, 2)"),
        ("np.arange(4.0)", "np.arange(4.0, dtype=np.float32)"),
        ("[3, None]", "[3, 0]"),
        ("(1, 2)", "[1, 2]"),
        ("scale=1.5", "scale=1.25"),
        ("import numpy as np", "import numpy as np\nlen = lambda _: 1"),
    ],
)
def test_whatever_can_change_the_result_changes_the_digest(old: str, new: str) -> None:
    assert old in SOURCE
    changed = fingerprint(made(SOURCE.replace(old, new)))
    assert changed is not None
    assert changed != fingerprint(made(SOURCE))


def test_a_global_that_changes_in_place_changes_the_digest() -> None:
    function = made(SOURCE)
    before = fingerprint(function)
    function.__globals__["TABLE"][0] = 5  # type: ignore[attr-defined]
    assert fingerprint(function) not in (before, None)
    before = fingerprint(function)
    function.__globals__["CHOICES"]["b"].append(1)  # type: ignore[attr-defined]
    assert fingerprint(function) not in (before, None)


def test_closures_and_partials_differ_by_what_they_hold() -> None:
    def scaled(factor: Any) -> Callable[..., Any]:
        return lambda x: factor * x

    digests = [fingerprint(scaled(factor)) for factor in (1, 1.0, 2, "1", b"1", True, None, (1,), math.sin)]
    assert None not in digests
    assert len(set(digests)) == len(digests)
    assert fingerprint(scaled(2)) == fingerprint(scaled(2))
    partials = [fingerprint(functools.partial(made(SOURCE), y=y)) for y in (1, 2)]
    assert None not in partials
    assert partials[0] != partials[1]


def test_a_function_that_calls_itself_has_a_digest() -> None:
    recursive = "def reference(n):\n    return 1 if n < 2 else n * reference(n - 1)\n"
    assert fingerprint(made(recursive)) is not None


def test_the_markers_of_a_declaration_are_no_part_of_it() -> None:
    def one(x=In(f32, "n", values=lambda rng, sizes, drawn: rng), y=Out(f32, "n"), n=i32):
        y[...] = x

    assert fingerprint(one) is not None


def test_a_struct_of_a_declaration_is_no_part_of_it_either() -> None:
    def one(p=Struct("P", x=In(f32, "n"), y=Out(f32, "n"), n=i32), *, x, y, n):
        y[...] = x

    assert fingerprint(one) is not None


class Model:
    def run(self, x: Any) -> Any:
        return x


MODEL, LOG = Model(), [0]
POINT = namedtuple("POINT", "x")(1)
GENERATOR = np.random.default_rng(1)
OBJECTS = np.array([Model()], dtype=object)


def _counts(x: Any) -> Any:
    global LOG
    LOG = [*LOG, 1]
    return x


def _rebinds() -> Callable[..., Any]:
    count = 0

    def reference(x: Any) -> Any:
        nonlocal count
        count += 1
        return count

    return reference


@functools.wraps(np.sum)
def _pretends(x: Any) -> Any:
    return Path("x").read_text()


@functools.lru_cache
def _remembers(x: Any) -> Any:
    return x


def _imports(x: Any) -> Any:
    import os

    return os.getpid()


def _imports_out(x: Any) -> Any:
    from numpy import random as hidden

    return hidden.normal()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.random.normal(),
        lambda x: np.load("x.npy"),
        lambda x: np.fromfile("x"),
        lambda x: random.random(),  # noqa: S311 - nothing secret
        lambda x: os.environ["X"],
        lambda x: open("x"),  # noqa: PTH123, SIM115 - never called
        lambda x: eval("x"),  # noqa: S307 - never called
        lambda x: getattr(np, "ran" + "dom").normal(),
        lambda x: operator.attrgetter("random")(np).normal(),
        lambda x: np.datetime64("now"),
        lambda x: globals()["LOG"],
        lambda x: x.__class__.__dict__,
        lambda x: Path(x).read_text(),
        lambda x: MODEL.run(x),
        lambda x: Model().run(x),
        lambda x: POINT.x,
        lambda x: GENERATOR.normal(),
        lambda x: OBJECTS[0],
        lambda x: undefined(x),  # type: ignore[name-defined]  # noqa: F821 - a name of later
        lambda x: pytest.approx(x),
        MODEL.run,
        MODEL,
        _counts,
        _rebinds(),
        _pretends,
        _remembers,
        _imports,
        _imports_out,
        np.random.normal,
        np.frompyfunc(lambda x: x, 1, 1),
        np.vectorize(lambda x: x),
        functools.partial(print, "x"),
    ],
)
def test_what_may_change_unseen_has_no_digest(function: Callable[..., Any]) -> None:
    assert fingerprint(function) is None


def test_deeply_nested_values_have_none() -> None:
    nested: list[Any] = []
    for _ in range(10_000):
        nested = [nested]
    assert fingerprint(lambda x: x + len(nested)) is None
