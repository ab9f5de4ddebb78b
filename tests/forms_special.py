"""Quotients and roots, correctly rounded, and approximate functions within their documented bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exact_floats as exact
import numpy as np
from forms_float import MODES, float_form, rounded
from operand_values import random_values
from ptx_runner import BLOCK, Array, Form

LARGEST = 3.4028234663852886e38
LEAST_NORMAL = 2.0**-126


def _correctly_rounded() -> list[Form]:
    operations = {
        "div": (2, exact.divide),
        "rcp": (1, lambda x: exact.divide(exact.integer(1), x)),
        "sqrt": (1, exact.square_root),
    }
    forms = []
    for name, (count, operation) in operations.items():
        for mode in MODES:
            for kind, suffixes in (("f32", ("", ".ftz")), ("f64", ("",))):
                for suffix in suffixes:
                    expected = rounded(kind, operation, mode, suffix)
                    forms.append(float_form(f"{name}.{mode}{suffix}.{kind}", kind, count, expected))
    return forms


def ulp(x: Array) -> Array:
    """Return the distance between floats at `x`, as float64."""
    size = np.clip(np.abs(x.astype(np.float64)), LEAST_NORMAL, LARGEST)
    return 2.0 ** (np.floor(np.log2(size)) - 23)


def within(allowed: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a bound: NaN, infinity and the sign of zero as expected, else off by at most `allowed`."""

    def check(expected: Array, got: Array) -> Array:
        with np.errstate(all="ignore"):
            narrow = expected.astype(np.float32)
            off = np.abs(got.astype(np.float64) - expected.astype(np.float64))
            special = ~np.isfinite(narrow) | (narrow == 0)
            same = (np.isnan(narrow) & np.isnan(got)) | (narrow == got)
            near = off <= allowed(expected.astype(np.float64))
            # An infinity may be expected where the bound reaches over the largest number.
            edge = np.isinf(narrow) & np.isfinite(expected) & near
            return np.where(special & ~edge, same | ((narrow == 0) & near), near)

    return check


ULP_1 = within(ulp)
ULP_2 = within(lambda x: 2 * ulp(x))


def relative(bound: float) -> Callable[[Array, Array], Array]:
    return within(lambda x: np.maximum(np.abs(x) * bound, 2.0**-149))


def absolute(bound: float) -> Callable[[Array, Array], Array]:
    return within(lambda x: np.full(x.shape, bound))


def flush(x: Array) -> Array:
    return np.where(np.abs(x) < np.float32(LEAST_NORMAL), np.copysign(np.float32(0), x), x)


def oracle(function: Callable[..., Array], ftz: bool) -> Callable[..., Array]:
    """Evaluate in float64 and round to float32; with `ftz`, flush before and after."""

    def apply(*x: Array) -> Array:
        with np.errstate(all="ignore"):
            read = [flush(each) if ftz else each for each in x]
            result = function(*(each.astype(np.float64) for each in read)).astype(np.float32)
        return flush(result) if ftz else result

    return apply


def _approximate(
    name: str,
    function: Callable[..., Array],
    bound: Callable[[Array, Array], Array],
    count: int = 1,
    suffixes: tuple[str, ...] = ("", ".ftz"),
    **more: Any,
) -> list[Form]:
    forms = []
    for suffix in suffixes:
        full = f"{name}{suffix}.f32"
        forms.append(float_form(full, "f32", count, oracle(function, bool(suffix)), bound=bound, **more))
    return forms


def divided(a: Array, b: Array) -> Array:
    """Return a * (1/b) as documented: 1/b vanishes for |b| in (2**126, 2**128)."""
    vanishes = (np.abs(b) > 2.0**126) & np.isfinite(b)
    return np.where(vanishes, a * np.copysign(0.0, b), a / b)


def angles() -> tuple[Array, ...]:
    """Return arguments inside [-2 pi, 2 pi], where sin and cos have a bound, and special ones."""
    rng = np.random.default_rng(3)
    notable = np.array([0.0, -0.0, 1e-40, 1e-10, np.pi, np.pi / 2, 2 * np.pi, np.inf, -np.inf, np.nan])
    drawn = rng.uniform(-2 * np.pi, 2 * np.pi, 4 * BLOCK - len(notable))
    return (np.concatenate([notable, drawn]).astype(np.float32),)


def _forms_of_angles(name: str, function: Callable[[Array], Array]) -> list[Form]:
    return [
        Form(
            f"{name}.approx{s}.f32",
            ("f32",),
            ("f32",),
            oracle(function, bool(s)),
            angles(),
            bound=absolute(2**-20.5),
        )
        for s in ("", ".ftz")
    ]


def _logarithm(expected: Array) -> Array:
    """Return what lg2 may be off by: absolute near 1, relative elsewhere."""
    return np.maximum(np.abs(expected) * 2.0**-22, 2.0**-22)


def _double_estimates() -> list[Form]:
    """The approximate f64 forms give the upper 32 bits of a result good to 20 bits."""

    def truncated(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def apply(x: Array) -> Array:
            with np.errstate(all="ignore"):
                return function(x)

        return apply

    values = np.abs(random_values("f64", 4 * BLOCK, np.random.default_rng(5))[::2]) + 1e-3
    values = values[np.isfinite(values) & (values < 1e300)]
    inputs = (np.resize(values, 2 * BLOCK),)

    def near(expected: Array, got: Array) -> Array:
        return np.abs(got - expected) <= np.abs(expected) * 2.0**-19

    return [
        Form("rcp.approx.ftz.f64", ("f64",), ("f64",), truncated(lambda x: 1 / x), inputs, bound=near),
        Form(
            "rsqrt.approx.ftz.f64",
            ("f64",),
            ("f64",),
            truncated(lambda x: 1 / np.sqrt(x)),
            inputs,
            bound=near,
        ),
        Form("rsqrt.approx.f64", ("f64",), ("f64",), truncated(lambda x: 1 / np.sqrt(x)), inputs, bound=near),
    ]


FORMS = [
    *_correctly_rounded(),
    *_approximate("div.approx", divided, ULP_2, count=2),
    *_approximate("div.full", np.divide, ULP_2, count=2),
    *_approximate("rcp.approx", lambda x: 1 / x, ULP_1),
    *_approximate("sqrt.approx", np.sqrt, relative(2.0**-23)),
    *_approximate("rsqrt.approx", lambda x: 1 / np.sqrt(x), relative(2**-22.9)),
    *_approximate("ex2.approx", np.exp2, ULP_2),
    *_approximate("lg2.approx", np.log2, within(_logarithm)),
    *_approximate("tanh.approx", np.tanh, relative(2.0**-11), suffixes=("",)),
    *_forms_of_angles("sin", np.sin),
    *_forms_of_angles("cos", np.cos),
    *_double_estimates(),
]
