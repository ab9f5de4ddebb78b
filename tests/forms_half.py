"""f16 and bf16 arithmetic, alone and in pairs: exact, then rounded once."""

from __future__ import annotations

from collections.abc import Callable

import exact_floats as exact
import numpy as np
from forms_float import FORMATS, extreme, float_form, inputs_for, rounded, sums
from forms_special import within
from operand_values import all_of
from ptx_runner import Array, Form


def in_pairs(of_halves: Callable[..., Array]) -> Callable[..., Array]:
    """Apply a function of 16-bit arrays to both halves of 32-bit ones."""

    def apply(*pairs: Array) -> Array:
        low, high = (of_halves(*((p >> s & 0xFFFF).astype(np.uint16) for p in pairs)) for s in (0, 16))
        return high.astype(np.uint32) << 16 | low

    return apply


def half_forms(name: str, kind: str, count: int, expected: Callable[..., Array]) -> list[Form]:
    """Return the form for one number and the form for two."""
    both = f"{kind}x2"
    pair = Form(f"{name}.{both}", (both,), (both,) * count, in_pairs(expected), inputs_for(both, count))
    return [float_form(f"{name}.{kind}", kind, count, expected), pair]


def _arithmetic(kind: str) -> list[Form]:
    suffixes = {"f16": ("", ".ftz", ".sat"), "bf16": ("",)}[kind]
    forms = []
    for name, (count, operation) in sums("rn").items():
        relu = (".relu",) if name == "fma" else ()
        for rounding in (".rn",) if name == "fma" else ("", ".rn"):
            for suffix in suffixes + relu:
                expected = rounded(kind, operation, "rn", suffix)
                forms += half_forms(f"{name}{rounding}{suffix}", kind, count, expected)
    return forms


def _extremes(kind: str) -> list[Form]:
    suffixes = {"f16": ("", ".ftz", ".NaN", ".xorsign.abs"), "bf16": ("", ".NaN", ".xorsign.abs")}[kind]
    forms = []
    for name in ("min", "max"):
        for suffix in suffixes:
            expected = rounded(kind, extreme(name == "max", suffix), "rn", suffix)
            forms += half_forms(f"{name}{suffix}", kind, 2, expected)
    return forms


def _signs(kind: str) -> list[Form]:
    return [
        *half_forms("neg", kind, 1, rounded(kind, exact.negate)),
        *half_forms("abs", kind, 1, rounded(kind, exact.absolute)),
    ]


def decoded(kind: str, bits: Array) -> Array:
    """Return the values as float64."""

    def value(one: int) -> float:
        number = FORMATS[kind].decode(one)
        if number.special:
            return float("nan") if number.special == "nan" else (-np.inf if number.negative else np.inf)
        return (-1.0 if number.negative else 1.0) * np.ldexp(float(number.significand), number.exponent)

    return np.array([value(int(one)) for one in bits])


# From the manual; in units of the value or absolute.
BOUNDS: dict[tuple[str, str], Callable[[Array], Array]] = {
    ("ex2.approx", "f16"): lambda x: np.maximum(np.abs(x) * 2**-9.9, 2.0**-24),
    ("ex2.approx.ftz", "bf16"): lambda x: np.maximum(np.abs(x) * 2.0**-7, 2.0**-126),
    ("tanh.approx", "f16"): lambda x: np.full(x.shape, 2**-10.987),
    ("tanh.approx", "bf16"): lambda x: np.full(x.shape, 2.0**-8),
}
LARGEST = {"f16": 65504.0, "bf16": 3.38953139e38}


def _approximate(name: str, kind: str) -> list[Form]:
    function = np.exp2 if name.startswith("ex2") else np.tanh

    def expected(bits: Array) -> Array:
        with np.errstate(all="ignore"):
            values = function(decoded(kind, bits))
        overflows = np.isfinite(values) & (np.abs(values) > LARGEST[kind] * (1 + 2.0**-9))
        return np.where(overflows, np.inf, values)

    def near(wanted: Array, got: Array) -> Array:
        return within(BOUNDS[name, kind])(wanted, decoded(kind, got).astype(np.float32))

    def halves(pairs: Array) -> list[Array]:
        return [(pairs >> shift & 0xFFFF).astype(np.uint16) for shift in (0, 16)]

    def both_near(wanted: Array, got: Array) -> Array:
        return np.logical_and(*(near(w, g) for w, g in zip(wanted.T, halves(got), strict=True)))

    def both_expected(pairs: Array) -> Array:
        return np.stack([expected(half) for half in halves(pairs)], axis=1)

    both = f"{kind}x2"
    return [
        Form(f"{name}.{kind}", (kind,), (kind,), expected, all_of(kind), bound=near),
        Form(f"{name}.{both}", (both,), (both,), both_expected, all_of(both), bound=both_near),
    ]


FORMS = [
    *(each for kind in ("f16", "bf16") for each in _arithmetic(kind)),
    *(each for kind in ("f16", "bf16") for each in _extremes(kind)),
    *(each for kind in ("f16", "bf16") for each in _signs(kind)),
    *(each for name, kind in BOUNDS for each in _approximate(name, kind)),
]
