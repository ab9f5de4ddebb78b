"""Conversions that stop at the largest number (.satfinite), and cvt.pack."""

from __future__ import annotations

from collections.abc import Callable

import exact_floats as exact
import numpy as np
from exact_floats import Mode
from forms_convert import convert
from forms_float import finish, on_bits
from forms_integer import clamp, form
from operand_values import all_of, mixtures
from ptx_runner import KINDS, Array, Form

LARGEST = {"f16": 0x7BFF, "bf16": 0x7F7F}


def finite(kind: str, of_floats: Callable[..., Array]) -> Callable[..., Array]:
    """Replace infinities by the largest number of their sign."""
    infinity = LARGEST[kind] + 1

    def apply(*floats: Array) -> Array:
        halves = of_floats(*floats)
        return np.where(halves & 0x7FFF == infinity, halves - 1, halves).astype(np.uint16)

    return apply


def _halves() -> list[Form]:
    forms = []
    for kind in LARGEST:
        both = f"{kind}x2"
        for mode in ("rn", "rz"):
            for relu in ("", ".relu"):
                single = finite(kind, convert("f32", kind, mode, relu))

                def packed(a: Array, b: Array, f: Callable[..., Array] = single) -> Array:
                    return f(a).astype(np.uint32) << 16 | f(b)

                name = f"cvt.{mode}{relu}.satfinite"
                forms += [
                    Form(f"{name}.{kind}.f32", (kind,), ("f32",), single, all_of("f32")),
                    Form(f"{name}.{both}.f32", (both,), ("f32", "f32"), packed, mixtures("f32", "f32")),
                ]
    return forms


def _tf32() -> list[Form]:
    forms = []
    for suffix, mode in (("rna", "rna"), ("rn", "rn"), ("rz.relu", "rz")):

        def one(bits: int, m: Mode = mode, modifiers: str = suffix) -> int:
            word = exact.TF32.encode(exact.F32.decode(bits), m) << 13
            word -= (word & 0x7FFFFFFF == 0x7F800000) << 13
            return finish(word, exact.F32, "." + modifiers)

        name = f"cvt.{suffix}.satfinite.tf32.f32"
        target = 90 if suffix == "rna" else 100
        values = on_bits("f32", "u32", one)
        forms.append(Form(name, ("f32",), ("f32",), values, all_of("f32"), target=target))
    return forms


def _integers() -> list[Form]:
    forms = []
    for kind in ("u16", "s16", "u8", "s8"):
        bits = KINDS[kind].bits

        def joined(a: int, b: int, rest: int = 0, k: str = kind, n: int = bits) -> int:
            mask = (1 << n) - 1
            return rest << 2 * n | (clamp(a, k) & mask) << n | clamp(b, k) & mask

        sources = ("s32", "s32", "u32") if bits == 8 else ("s32", "s32")
        suffix = ".b32" if bits == 8 else ""
        forms.append(form(f"cvt.pack.sat.{kind}.s32{suffix}", "u32", sources, joined))
    return forms


FORMS = [*_halves(), *_tf32(), *_integers()]
