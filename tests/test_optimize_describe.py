"""Plain values for JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_cudaopt import case, f32, uniform
from pytest_cudaopt.evaluation import Mismatch, Status
from pytest_cudaopt.expressions import parse
from pytest_cudaopt.optimize.describe import plain


def drawn(rng, sizes, earlier):
    """Stand in for a user's callable."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Status.WRONG_RESULT, "wrong_result"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1.5, 1.5),
        (True, True),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (parse("cdiv(n, 4)"), "cdiv(n, 4)"),
        (Path("a/b"), "a/b"),
        (f32, "f32"),
        (drawn, "drawn"),
        ((1, (2, None)), [1, [2, None]]),
        ({"a": float("inf")}, {"a": "inf"}),
        (uniform(0, 1), {"low": 0, "high": 1}),
    ],
)
def test_everything_becomes_what_json_holds(value: object, expected: object) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_dataclasses_become_objects_all_the_way_down() -> None:
    mismatch = Mismatch((1, 2), 1.0, float("nan"), None, None, None)
    assert plain(mismatch) == {
        "index": [1, 2],
        "expected": 1.0,
        "got": "nan",
        "absolute": None,
        "relative": None,
        "ulp": None,
    }
    assert plain(case(n=3))["sizes"] == [["n", 3]]
