"""f32 and f64 arithmetic with one correct rounding, and what modifiers make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exact_floats as exact
import numpy as np
from exact_floats import NAN, Format, Mode, Number
from operand_values import all_of, mixtures
from ptx_runner import KINDS, Array, Form

FORMATS = {"f16": exact.F16, "bf16": exact.BF16, "f32": exact.F32, "f64": exact.F64}
MODES: tuple[Mode, ...] = ("rn", "rz", "rm", "rp")

Operation = Callable[..., Number]


def flushed(bits: int, form: Format) -> int:
    """Return the bits with a subnormal number replaced by a zero of its sign."""
    exponent = bits >> form.fraction_bits & (2 * form.max_exponent + 1)
    return bits if exponent else bits & 1 << (form.bits - 1)


def saturated(bits: int, form: Format) -> int:
    number = form.decode(bits)
    if number.special == "nan" or number.negative or number.is_zero:
        return 0
    one = form.max_exponent << form.fraction_bits
    return min(bits, one)


def rectified(bits: int, form: Format) -> int:
    return bits if form.decode(bits).special == "nan" or not bits >> (form.bits - 1) else 0


def finish(bits: int, form: Format, modifiers: str) -> int:
    if ".ftz" in modifiers:
        bits = flushed(bits, form)
    if ".sat" in modifiers:
        bits = saturated(bits, form)
    return rectified(bits, form) if ".relu" in modifiers else bits


def on_bits(kind: str, result: str, function: Callable[..., int]) -> Callable[..., Array]:
    """Apply a function of bit patterns to each element."""

    def apply(*arrays: Array) -> Array:
        columns = [array.view(KINDS[kind].unsigned).tolist() for array in arrays]
        return np.array([function(*row) for row in zip(*columns, strict=True)], dtype=KINDS[result].unsigned)

    return apply


def rounded(kind: str, operation: Operation, mode: Mode = "rn", modifiers: str = "") -> Callable[..., Array]:
    """Decode, operate exactly, round once, finish. f64 keeps the NaN of an operand."""
    form = FORMATS[kind]

    def one(*bits: int) -> int:
        ftz = ".ftz" in modifiers
        exactly = operation(*(form.decode(flushed(b, form) if ftz else b) for b in bits))
        if ftz and form.is_tiny(exactly, mode):
            exactly = Number(exactly.negative)
        return finish(form.encode(exactly, mode, keep_nan=kind == "f64"), form, modifiers)

    return on_bits(kind, kind, one)


def inputs_for(kind: str, count: int) -> tuple[Array, ...]:
    """Return operands; of three, some where the sum nearly cancels the product."""
    if count == 1:
        return all_of(kind)
    operands = mixtures(*[kind] * count)
    if count == 3 and KINDS[kind].dtype in (np.float32, np.float64):
        with np.errstate(all="ignore"):
            nearly = -(operands[0] * operands[1])
        operands[2][::3] = nearly[::3]
    return operands


def float_form(
    name: str, kind: str, count: int, expected: Callable[..., Any], result: str = "", **more: Any
) -> Form:
    return Form(name, (result or kind,), (kind,) * count, expected, inputs_for(kind, count), **more)


def sums(mode: Mode) -> dict[str, tuple[int, Operation]]:
    return {
        "add": (2, lambda x, y: exact.add(x, y, mode)),
        "sub": (2, lambda x, y: exact.add(x, exact.negate(y), mode)),
        "mul": (2, exact.multiply),
        "fma": (3, lambda x, y, z: exact.fused(x, y, z, mode)),
    }


def _arithmetic() -> list[Form]:
    forms = []
    for kind in ("f32", "f64"):
        for mode in MODES:
            for name, (count, operation) in sums(mode).items():
                suffixes = [""] if kind == "f64" else ["", ".ftz", ".sat", ".ftz.sat"]
                for suffix in suffixes:
                    expected = rounded(kind, operation, mode, suffix)
                    forms.append(float_form(f"{name}.{mode}{suffix}.{kind}", kind, count, expected))
        for name in ("add", "sub", "mul"):
            count, operation = sums("rn")[name]
            forms.append(float_form(f"{name}.{kind}", kind, count, rounded(kind, operation)))
        forms.append(float_form(f"mad.rn.{kind}", kind, 3, rounded(kind, sums("rn")["fma"][1])))
    return forms


def extreme(maximum: bool, modifiers: str) -> Operation:
    """Return min or max: numbers win over NaN, -0 is below +0; `.NaN` and `.xorsign.abs` change that."""

    def number(x: Number, y: Number) -> Number:
        if "nan" in (x.special, y.special):
            if x.special == y.special or ".NaN" in modifiers:
                return exact.first_nan(y, x) or NAN
            return y if x.special == "nan" else x
        below = exact.less(x, y) or (x.is_zero and y.is_zero and x.negative)
        return y if below == maximum else x

    def with_sign(x: Number, y: Number) -> Number:
        size = number(exact.absolute(x), exact.absolute(y))
        return Number(x.negative != y.negative, size.significand, size.exponent, size.special)

    return with_sign if ".xorsign" in modifiers else number


def _extremes() -> list[Form]:
    forms = []
    for name in ("min", "max"):
        for kind, suffixes in (("f64", [""]), ("f32", ["", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN"])):
            for suffix in suffixes:
                expected = rounded(kind, extreme(name == "max", suffix), "rn", suffix)
                forms.append(float_form(f"{name}{suffix}.{kind}", kind, 2, expected))
    return forms


def _signs() -> list[Form]:
    forms = []
    for kind, form in (("f32", exact.F32), ("f64", exact.F64)):
        for suffix in ("", ".ftz") if kind == "f32" else ("",):
            forms += [
                float_form(f"neg{suffix}.{kind}", kind, 1, rounded(kind, exact.negate, "rn", suffix)),
                float_form(f"abs{suffix}.{kind}", kind, 1, rounded(kind, exact.absolute, "rn", suffix)),
            ]

        def copied(sign: int, size: int, top: int = 1 << (form.bits - 1)) -> int:
            return sign & top | size & ~top

        forms.append(float_form(f"copysign.{kind}", kind, 2, on_bits(kind, kind, copied)))
    return forms


QUESTIONS: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda x: ~np.isnan(x),
    "notanumber": np.isnan,
    "normal": lambda x: (np.isfinite(x) & (np.abs(x) >= np.finfo(x.dtype).tiny)) | (x == 0),
    "subnormal": lambda x: (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny),
}


def _questions() -> list[Form]:
    return [
        float_form(f"testp.{name}.{kind}", kind, 1, lambda x, q=question: q(x).astype(np.uint32), "pred")
        for kind in ("f32", "f64")
        for name, question in QUESTIONS.items()
    ]


FORMS = [*_arithmetic(), *_extremes(), *_signs(), *_questions()]
