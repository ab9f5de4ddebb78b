"""What properties ask beyond tolerances, and how errors are weighed: pure, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_cudaopt import In, Out, case, f32, i32, kernel
from pytest_cudaopt.arguments import bind
from pytest_cudaopt.criterion import Criterion, Slack
from pytest_cudaopt.error_share import least_ulp, scaled_error, share_of_tolerance, slack_of
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.parameters import Parameter
from pytest_cudaopt.properties import Obligations, Property
from pytest_cudaopt.stricter import stricter

OUTPUT = Parameter.named("y", Out(f32, "n"))
NUMBERS = Parameter.named("y", Out(i32, "n"))


def wrong(asked: Property | None, expected: list[float], got: list[float]) -> list[bool] | None:
    mask = stricter(asked, OUTPUT, np.array(expected), np.array(got, np.float32))
    return None if mask is None else mask.tolist()


@pytest.mark.parametrize(
    ("asked", "expected", "got", "marks"),
    [
        (Property.SIGNED_ZEROS, [0.0, -0.0, 1.0], [-0.0, -0.0, 1.0], [True, False, False]),
        (Property.SIGNED_ZEROS, [0.0, 1e-50], [0.0, -0.0], [False, False]),
        (Property.EXACT_INTEGERS, [3.0, 1000.0], [3.0, 1000.0], [False, False]),
        (Property.EXACT_INTEGERS, [3.0, 1000.0], [3.0, 1000.5], [False, True]),
        (Property.EXACT_INTEGERS, [3.0, 1000.0], [float("nan"), 1000.0], [True, False]),
        # A last place of the largest number may be off: another order of a division, say.
        (Property.EXACT_INTEGERS, [3.0, 1000.0], [3.0, np.nextafter(np.float32(1000), 2000)], [False, False]),
        # Computed in fractions: nothing is exact.
        (Property.EXACT_INTEGERS, [0.5, 1000.0], [0.5, 1003.0], None),
        (None, [0.0], [-0.0], None),
        (Property.MAGNITUDES, [0.0], [-0.0], None),
    ],
)
def test_elements_without_the_property_are_marked(
    asked: Property | None, expected: list[float], got: list[float], marks: list[bool] | None
) -> None:
    assert wrong(asked, expected, got) == marks


def test_integers_have_nothing_beyond_their_value() -> None:
    assert stricter(Property.EXACT_INTEGERS, NUMBERS, np.array([1]), np.array([2])) is None


def test_an_error_is_a_share_of_its_tolerance() -> None:
    expected, got = np.array([1.0, 100.0, np.inf]), np.array([1.5, 101.0, np.inf])
    assert share_of_tolerance(expected, got, Criterion(rtol=0.01, atol=0.0)) == 50.0
    assert share_of_tolerance(expected, got, Criterion()) == 0.0
    assert scaled_error(expected, got) == 0.01
    assert scaled_error(np.array([0.0]), np.array([1.0])) == 0.0


@pytest.mark.parametrize(
    ("inputs", "output", "ulp"),
    [
        ({"a": ("n",), "b": ("n",)}, ("n",), 8.0),
        ({"a": ("n",)}, (1,), 8.0 * 100**0.5),
        ({"a": ("m", "k"), "b": ("k", "n")}, ("m", "n"), 8.0 * 16**0.5),
        ({"a": ("m", "n")}, ("n",), 8.0 * 9**0.5),
    ],
)
def test_rounding_may_take_eight_units_for_every_root_of_a_term(
    inputs: dict[str, tuple[str, ...]], output: tuple[Any, ...], ulp: float
) -> None:
    sizes = {"n": 100, "m": 9, "k": 16}
    named = {name: In(f32, *shape) for name, shape in inputs.items()} | {"y": Out(f32, *output)}
    source = f"def made({', '.join(f'{name}=_{name}' for name in named)}, *, n, m, k): y[...] = 0"
    space: dict[str, Any] = {f"_{name}": marker for name, marker in named.items()}
    exec(compile(source, __file__, "exec"), space)  # noqa: S102 - a declaration of each shape
    file = str(Path(__file__).with_name("none.cu"))
    made = kernel(file, sizes=["n", "m", "k"], cases=[case(**sizes)])(space["made"])
    arguments = bind(made, made.cases[0])

    assert least_ulp(arguments, arguments.outputs[0]) == pytest.approx(ulp)
    expected = np.array([1000.0, 1.0])
    unit = 0.0 if ulp == 8 else ulp * 1000 * 2**-23
    for share, times in ((0.1, 1.0), (0.5, 2.0)):
        slack = slack_of(share, arguments, arguments.outputs[0], expected)
        assert slack == Slack(times, pytest.approx(ulp), pytest.approx(unit))


def test_a_sum_that_cancels_is_allowed_the_rounding_of_its_terms() -> None:
    @kernel(str(Path(__file__).with_name("none.cu")), cases=[case(n=100)])
    def total(x=In(f32, "n"), y=Out(f32, 1), n=i32):
        y[0] = x.sum()

    arguments = bind(total, total.cases[0])
    largest = float(np.abs(arguments.arrays["x"]).max())
    slack = slack_of(0.0, arguments, arguments.outputs[0], np.array([1e-9]))
    assert slack.absolute == pytest.approx(80 * largest * 2**-23)


def test_slack_loosens_tolerances_and_leaves_bits_alone() -> None:
    assert Slack(2.0, 8.0).on(Criterion(0.1, 0.2, 1.0)) == Criterion(0.2, 0.4, 8.0)
    assert Slack(1.0, 8.0, 0.5).on(Criterion(0.1, 0.2)) == Criterion(0.1, 0.5, 8.0)
    assert Slack(2.0, 8.0).on(Criterion(exact=True)) == Criterion(exact=True)


def test_what_binds() -> None:
    usual = Obligations()
    on_demand = {Property.BATCH_INVARIANT, Property.UNALIGNED, Property.ALIASING}
    assert {one for one in Property if not usual.binds(one)} == on_demand
    declared = Obligations.declared(["aliasing"], ["non_finite"])
    assert declared.binds(Property.ALIASING)
    assert not declared.binds(Property.NON_FINITE)


@pytest.mark.parametrize(
    ("required", "ignored", "complaint"),
    [
        (["nonfinite"], [], r"required=: expected properties among .*got 'nonfinite'.*mean 'non_finite'"),
        ("non_finite", [], r"required=: expected a list of properties, got 'non_finite'"),
        ([], [3], r"ignored=: expected properties among .*got 3"),
        (["aliasing"], ["aliasing"], "expected different properties, got 'aliasing' in both"),
    ],
)
def test_what_is_no_property_is_refused(required: Any, ignored: Any, complaint: str) -> None:
    with pytest.raises(DeclarationError, match=complaint):
        Obligations.declared(required, ignored)
