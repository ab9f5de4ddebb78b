"""Cases at every combination of sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel, product
from pytest_cudaopt.errors import DeclarationError


@pytest.mark.parametrize(
    ("given", "cases"),
    [
        ({"n": [1, 2], "k": 3}, [case(n=1, k=3), case(n=2, k=3)]),
        (
            {"n": (1, 2), "k": range(3, 5)},
            [case(n=1, k=3), case(n=1, k=4), case(n=2, k=3), case(n=2, k=4)],
        ),
        ({"n": 5, "measure": True, "seed": 7}, [case(n=5, measure=True, seed=7)]),
        ({"n": np.arange(1, 3)}, [case(n=1), case(n=2)]),
        ({"n": 1, "measure": [False, True]}, [case(n=1), case(n=1, measure=True)]),
    ],
)
def test_lists_are_combined_and_the_rest_is_the_same_in_all(given: dict[str, Any], cases: list[Any]) -> None:
    assert product(**given) == cases


def test_an_empty_list_is_named() -> None:
    with pytest.raises(DeclarationError, match=r"product\(k=\): expected at least one value"):
        product(n=[1], k=[])


def test_a_size_that_is_none_is_refused_as_in_a_case() -> None:
    with pytest.raises(DeclarationError, match=r"case\(n=\): expected an integer >= 0 or a dtype, got -1"):
        product(n=[1, -1])


@pytest.mark.parametrize(
    "cases",
    [
        [case(n=9), *product(n=[1, 2])],
        [case(n=9), product(n=[1, 2])],
        product(n=[9, 1, 2]),
    ],
)
def test_a_declaration_takes_them_beside_others(cases: Any) -> None:
    @kernel("a.cu", cases=cases)
    def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = x

    assert copy.case_ids == ("n9", "n1", "n2")
