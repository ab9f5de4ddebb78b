"""Cases, their names and their seeds."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_cudaopt.cases import Case, case, case_ids, derived_seed, require_sizes
from pytest_cudaopt.errors import DeclarationError


@pytest.mark.parametrize(
    ("cases", "ids"),
    [
        ([case(rows=3, cols=17), case(rows=64, cols=1000)], ("rows3-cols17", "rows64-cols1000")),
        ([case(rows=3, cols=17), case(rows=3, cols=18)], ("cols17", "cols18")),
        ([case(rows=3, cols=17)], ("rows3-cols17",)),
        ([case(n=1), case(n=1), case(n=1)], ("n1", "n1~2", "n1~3")),
        ([case(n=1, id="tiny"), case(n=2)], ("tiny", "n2")),
        ([case(n=1, id="a"), case(n=2, id="a")], ("a", "a~2")),
        ([case(n=1, bias=None), case(n=1)], ("n1-no_bias", "n1")),
        ([case()], ("case",)),
        ([], ()),
    ],
)
def test_ids_show_the_sizes_that_vary(cases: list[Case], ids: tuple[str, ...]) -> None:
    assert case_ids(cases) == ids


@pytest.mark.parametrize(
    "one",
    [case(n=1), case(rows=3, cols=4, measure=True, weight=2.5, seed=7, id="x y"), case(n=1, b=None), case()],
)
def test_a_case_prints_as_what_declares_it(one: Case) -> None:
    assert eval(str(one), {"case": case}) == one  # noqa: S307 - text of our own


def test_a_misspelt_key_is_answered_with_the_one_meant() -> None:
    with pytest.raises(DeclarationError, match=r"Did you mean 'measure'\?"):
        case(n=1, mesure=True)
    for wrong, meant in ((case(rows=1, col=17), "cols"), (case(rows=1, cols=1, seeds=3), "seed")):
        with pytest.raises(DeclarationError, match=rf"Did you mean '{meant}'\?") as caught:
            require_sizes("cases[0]", wrong, {"rows": None, "cols": None})
        assert caught.value.at == wrong.at


@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_a_size_is_a_natural_number(value: object) -> None:
    with pytest.raises(DeclarationError, match=r"case\(n=\): expected an integer >= 0"):
        case(n=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), float("inf")])
def test_a_weight_is_positive_and_finite(weight: float) -> None:
    with pytest.raises(DeclarationError, match=r"case\(weight=\): expected a finite number > 0"):
        case(weight=weight)


def test_a_seed_depends_on_kernel_and_sizes_only() -> None:
    seed = derived_seed("softmax", case(rows=1, cols=2))
    assert seed == derived_seed("softmax", case(cols=2, rows=1, measure=True, id="other"))
    assert seed != derived_seed("softmax", case(rows=2, cols=2))
    assert seed != derived_seed("softmin", case(rows=1, cols=2))
    assert derived_seed("softmax", case(rows=1, seed=5)) == 5
    assert derived_seed("softmax", case(rows=1)) != derived_seed("softmax", case(rows=1, bias=None))


@pytest.mark.parametrize(
    ("one", "complaint"),
    [
        (case(rows=1), "expected the sizes rows, cols, got rows. Add cols=..."),
        (case(rows=1, cols=2, n=3), "expected the sizes rows, cols, got rows, cols, n. Remove n"),
        (case(), "expected the sizes rows, cols, got none. Add rows=..., cols=..."),
    ],
)
def test_exactly_the_declared_sizes_are_required(one: Case, complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        require_sizes("softmax.cases[0]", one, {"rows": None, "cols": None})
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"id": 5}, "case(id=): expected a text, got 5"),
        ({"id": ""}, "case(id=): expected a text, got ''"),
        ({"seed": "x"}, "case(seed=): expected an integer >= 0, got 'x'"),
        ({"seed": -4}, "case(seed=): expected an integer >= 0, got -4"),
        ({"weight": "2"}, "case(weight=): expected a finite number > 0, got '2'"),
    ],
)
def test_what_is_no_size_is_checked_too(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        case(n=1, **given)
    assert complaint in str(caught.value)


def test_numpy_integers_are_sizes() -> None:
    assert case(n=np.int64(10)) == case(n=10)
    assert type(case(n=np.int64(10)).by_name["n"]) is int
