"""cvt between every pair of types, with every rounding."""

from __future__ import annotations

from collections.abc import Callable

import exact_floats as exact
import numpy as np
from exact_floats import Mode
from forms_float import FORMATS, MODES, finish, flushed, on_bits
from forms_integer import clamp, form, is_signed, limits, width
from operand_values import all_of, mixtures
from ptx_runner import KINDS, Array, Form

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
WHOLE: dict[str, Mode] = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
# The assembler has no conversion between bf16 and 8 bits.
MIXED = [(i, f) for i in INTEGERS for f in FLOATS if f != "bf16" or i not in ("u8", "s8")]
ORDER = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def narrowed(value: int, kind: str) -> int:
    bits = value & ((1 << width(kind)) - 1)
    return bits - (1 << width(kind)) if is_signed(kind) and bits >> (width(kind) - 1) else bits


def _between_integers() -> list[Form]:
    forms = []
    for source in INTEGERS:
        for result in INTEGERS:
            # Registers have 16 bits or more; 8-bit results are stored cut to 8.
            forms.append(form(f"cvt.{result}.{source}", result, (source,), lambda a: a))
            if limits(source)[0] < limits(result)[0] or limits(source)[1] > limits(result)[1]:
                saturated = form(
                    f"cvt.sat.{result}.{source}", result, (source,), lambda a, r=result: clamp(a, r)
                )
                forms.append(saturated)
    return forms


def _wider_registers() -> list[Form]:
    """The type says which bits count; a wider result is extended to its register."""
    cases = [
        ("s32", "s8", "u32"),
        ("u32", "u8", "u32"),
        ("s64", "s16", "u64"),
        ("u64", "u32", "u64"),
        ("s32", "s16", "u32"),
    ]
    forms = [
        form(f"cvt.{r}.{s}", r, (held,), lambda a, s=s: narrowed(a, s), label=f"from {held}")
        for r, s, held in cases
    ]
    for result, held in (
        ("s16", "s32"),
        ("u16", "u32"),
        ("s8", "s32"),
        ("s8", "s16"),
        ("u8", "u16"),
        ("s32", "s64"),
    ):
        forms.append(
            form(
                f"cvt.{result}.s32", held, ("s32",), lambda a, r=result: narrowed(a, r), label=f"into {held}"
            )
        )
    return forms


def to_integer(bits: int, source: str, result: str, mode: Mode, ftz: bool) -> int:
    """Return the saturated integer; NaN gives 0, or the top bit from f64 and to 64 bits."""
    float_format = FORMATS[source]
    number = float_format.decode(flushed(bits, float_format) if ftz else bits)
    low, high = limits(result)
    if number.special == "nan":
        return 1 << (width(result) - 1) if source == "f64" or width(result) == 64 else 0
    if number.special:
        return low if number.negative else high
    return clamp(exact.to_integer(number, mode), result)


def _float_to_integer(source: str, result: str) -> list[Form]:
    mask = (1 << width(result)) - 1
    forms = []
    for suffix, mode in WHOLE.items():
        for ftz in (False, True) if source == "f32" and suffix in ("rpi", "rmi") else (False,):

            def one(bits: int, m: Mode = mode, f: bool = ftz) -> int:
                return to_integer(bits, source, result, m, f) & mask

            name = f"cvt.{suffix}{'.ftz' if ftz else ''}.{result}.{source}"
            forms.append(Form(name, (result,), (source,), on_bits(source, result, one), all_of(source)))
    return forms


def _integer_to_float(source: str, result: str) -> list[Form]:
    target = FORMATS[result]
    forms = []
    for mode in MODES:

        def expected(values: Array, m: Mode = mode) -> Array:
            encoded = [target.encode(exact.integer(int(v)), m) for v in values]
            return np.array(encoded, dtype=KINDS[result].unsigned)

        forms.append(Form(f"cvt.{mode}.{result}.{source}", (result,), (source,), expected, all_of(source)))
    return forms


def convert(source: str, result: str, mode: Mode, modifiers: str = "") -> Callable[..., Array]:
    read, write = FORMATS[source], FORMATS[result]

    keep_nan = "f64" in (source, result)

    def one(bits: int) -> int:
        if (source, result, modifiers) == ("bf16", "f32", ""):
            return bits << 16
        # The hardware ignores .ftz on the way to f16.
        if ".ftz" in modifiers and source == "f32" and result != "f16":
            bits = flushed(bits, read)
            bits = read.nan if read.decode(bits).special == "nan" else bits
        finishing = modifiers if result == "f32" else modifiers.replace(".ftz", "")
        return finish(write.encode(read.decode(bits), mode, keep_nan), write, finishing)

    return on_bits(source, result, one)


def _between_floats() -> list[Form]:
    forms = []
    for source in FLOATS:
        for result in FLOATS:
            if source == result:
                continue
            narrows = ORDER[result] < ORDER[source] or {source, result} == {"f16", "bf16"}
            for mode in MODES if narrows else ("",):
                for suffix in _suffixes(source, result, mode):
                    name = f"cvt{f'.{mode}' if mode else ''}{suffix}.{result}.{source}"
                    expected = convert(source, result, mode or "rn", suffix)
                    forms.append(Form(name, (result,), (source,), expected, all_of(source)))
    return forms


def _suffixes(source: str, result: str, mode: str) -> tuple[str, ...]:
    """Return the modifiers the assembler accepts."""
    suffixes = [""] if "bf16" in (source, result) else ["", ".sat"]
    if "f32" in (source, result):
        suffixes.append(".ftz")
    if source == "f32" and result in ("f16", "bf16") and mode in ("rn", "rz"):
        suffixes.append(".relu")
    return tuple(suffixes)


def _whole(kind: str) -> list[Form]:
    float_format = FORMATS[kind]
    forms = []
    for suffix, mode in WHOLE.items():

        def one(bits: int, m: Mode = mode) -> int:
            number = float_format.decode(bits)
            if number.special:
                return float_format.encode(number, keep_nan=kind == "f64")
            whole = abs(exact.to_integer(number, m))
            return float_format.encode(exact.Number(number.negative, whole))

        forms.append(
            Form(f"cvt.{suffix}.{kind}.{kind}", (kind,), (kind,), on_bits(kind, kind, one), all_of(kind))
        )
    return forms


def _saturate(kind: str) -> Form:
    expected = on_bits(kind, kind, lambda bits: finish(bits, FORMATS[kind], ".sat"))
    return Form(f"cvt.sat.{kind}.{kind}", (kind,), (kind,), expected, all_of(kind))


def _tf32() -> list[Form]:
    forms = []
    for suffix, mode in (("rna", "rna"), ("rn", "rn"), ("rz", "rz"), ("rn.relu", "rn")):

        def one(bits: int, m: Mode = mode, modifiers: str = suffix) -> int:
            if m == "rna" and exact.F32.decode(bits).special:
                return bits >> 13 << 13
            rounded = exact.TF32.encode(exact.F32.decode(bits), m) << 13
            return finish(rounded, exact.F32, "." + modifiers)

        forms.append(
            Form(f"cvt.{suffix}.tf32.f32", ("u32",), ("f32",), on_bits("f32", "u32", one), all_of("f32"))
        )
    return forms


def _packed() -> list[Form]:
    forms = []
    for kind in ("f16", "bf16"):
        for mode in ("rn", "rz"):
            for relu in ("", ".relu"):
                single = convert("f32", kind, mode, relu)

                def packed(a: Array, b: Array, f: Callable[..., Array] = single) -> Array:
                    return f(a).astype(np.uint32) << 16 | f(b)

                both = f"{kind}x2"
                forms.append(
                    Form(
                        f"cvt.{mode}{relu}.{both}.f32",
                        (both,),
                        ("f32", "f32"),
                        packed,
                        mixtures("f32", "f32"),
                    )
                )
    return forms


FORMS = [
    *_between_integers(),
    *_wider_registers(),
    *(each for i, f in MIXED for each in _float_to_integer(f, i)),
    *(each for i, f in MIXED for each in _integer_to_float(i, f)),
    *_between_floats(),
    *(each for kind in FLOATS for each in _whole(kind)),
    *(_saturate(kind) for kind in ("f32", "f64", "f16")),
    *_tf32(),
    *_packed(),
]
