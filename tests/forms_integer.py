"""Integer instructions and what Python's integers say they give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from operand_values import all_of, mixtures
from ptx_runner import KINDS, Array, Form


def wrapped(kind: str, function: Callable[..., int]) -> Callable[..., Array]:
    """Apply a function of Python integers to each element and keep the low bits of the result."""
    bits = KINDS[kind].bits

    def apply(*arrays: Array) -> Array:
        rows = zip(*(array.tolist() for array in arrays), strict=True)
        return np.array([function(*row) & ((1 << bits) - 1) for row in rows], dtype=KINDS[kind].unsigned)

    return apply


def form(
    name: str, result: str, sources: tuple[str, ...], function: Callable[..., int], **more: object
) -> Form:
    inputs = all_of(sources[0]) if len(sources) == 1 else mixtures(*sources)
    return Form(name, (result,), sources, wrapped(result, function), inputs, **more)  # type: ignore[arg-type]


def width(kind: str) -> int:
    return KINDS[kind].bits


def is_signed(kind: str) -> bool:
    return kind.startswith("s")


def clamp(value: int, kind: str) -> int:
    low, high = limits(kind)
    return min(max(value, low), high)


def limits(kind: str) -> tuple[int, int]:
    bits = width(kind)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(kind) else (0, (1 << bits) - 1)


def truncated_quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - truncated_quotient(a, b) * b


def low_24(value: int, kind: str) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if is_signed(kind) and value >> 23 else value


def halves(function: Callable[[int, int], int], signed: bool) -> Callable[[int, int], int]:
    def half(value: int, shift: int) -> int:
        value = (value >> shift) & 0xFFFF
        return value - 0x10000 if signed and value >> 15 else value

    def apply(a: int, b: int) -> int:
        low, high = (function(half(a, shift), half(b, shift)) & 0xFFFF for shift in (0, 16))
        return high << 16 | low

    return apply


def dot(a: int, b: int, c: int, kinds: tuple[str, str], parts: list[tuple[int, int, int, int]]) -> int:
    """Sum products of fields; a part is (bits, shift) of a, then of b."""

    def field(value: int, bits: int, shift: int, kind: str) -> int:
        value = (value >> shift) & ((1 << bits) - 1)
        return value - (1 << bits) if is_signed(kind) and value >> (bits - 1) else value

    return c + sum(field(a, p, q, kinds[0]) * field(b, r, s, kinds[1]) for p, q, r, s in parts)


TWICE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
ALL = ("u16", "s16", "u32", "s32", "u64", "s64")


def _arithmetic(kind: str) -> list[Form]:
    shift = width(kind)
    two, three = (kind, kind), (kind, kind, kind)
    return [
        form(f"add.{kind}", kind, two, lambda a, b: a + b),
        form(f"sub.{kind}", kind, two, lambda a, b: a - b),
        form(f"mul.lo.{kind}", kind, two, lambda a, b: a * b),
        form(f"mul.hi.{kind}", kind, two, lambda a, b: a * b >> shift),
        form(f"mad.lo.{kind}", kind, three, lambda a, b, c: a * b + c),
        form(f"mad.hi.{kind}", kind, three, lambda a, b, c: (a * b >> shift) + c),
        form(f"div.{kind}", kind, two, truncated_quotient),
        form(f"rem.{kind}", kind, two, remainder),
        form(f"min.{kind}", kind, two, min),
        form(f"max.{kind}", kind, two, max),
        form(f"sad.{kind}", kind, three, lambda a, b, c: abs(a - b) + c),
    ]


def _wide(kind: str) -> list[Form]:
    double = TWICE[kind]
    return [
        form(f"mul.wide.{kind}", double, (kind, kind), lambda a, b: a * b),
        form(f"mad.wide.{kind}", double, (kind, kind, double), lambda a, b, c: a * b + c),
    ]


def _signed(kind: str) -> list[Form]:
    return [form(f"neg.{kind}", kind, (kind,), lambda a: -a), form(f"abs.{kind}", kind, (kind,), abs)]


def _24_bits(kind: str) -> list[Form]:
    def product(a: int, b: int) -> int:
        return low_24(a, kind) * low_24(b, kind)

    two, three = (kind, kind), (kind, kind, kind)
    return [
        form(f"mul24.lo.{kind}", kind, two, product),
        form(f"mul24.hi.{kind}", kind, two, lambda a, b: product(a, b) >> 16),
        form(f"mad24.lo.{kind}", kind, three, lambda a, b, c: product(a, b) + c),
        form(f"mad24.hi.{kind}", kind, three, lambda a, b, c: (product(a, b) >> 16) + c),
    ]


def _saturating() -> list[Form]:
    two, three = ("s32", "s32"), ("s32", "s32", "s32")
    return [
        form("add.sat.s32", "s32", two, lambda a, b: clamp(a + b, "s32")),
        form("sub.sat.s32", "s32", two, lambda a, b: clamp(a - b, "s32")),
        form("mad.hi.sat.s32", "s32", three, lambda a, b, c: clamp((a * b >> 32) + c, "s32")),
        form(
            "mad24.hi.sat.s32",
            "s32",
            three,
            lambda a, b, c: clamp((low_24(a, "s32") * low_24(b, "s32") >> 16) + c, "s32"),
        ),
    ]


def _rectified() -> list[Form]:
    """Extremes below 0 become 0. The front end writes the modifier behind the type, the manual before it."""
    forms = []
    for name, function in (("min", min), ("max", max)):

        def positive(a: int, b: int, f: Callable[[int, int], int] = function) -> int:
            return max(f(a, b), 0)

        for kind, of_word in (("s32", positive), ("s16x2", halves(positive, True))):
            held = "s32" if kind == "s32" else "u32"
            for spelled in (f"{name}.relu.{kind}", f"{name}.{kind}.relu"):
                forms.append(form(spelled, held, (held, held), of_word))
    return forms


def _pairs() -> list[Form]:
    two = ("u32", "u32")
    return [
        form("add.u16x2", "u32", two, halves(lambda a, b: a + b, False)),
        form("min.u16x2", "u32", two, halves(min, False)),
        form("max.u16x2", "u32", two, halves(max, False)),
        form("min.s16x2", "u32", two, halves(min, True)),
        form("max.s16x2", "u32", two, halves(max, True)),
    ]


def _dots() -> list[Form]:
    bytes_4 = [(8, 8 * k, 8, 8 * k) for k in range(4)]
    words = {half: [(16, 16 * k, 8, 8 * k + 16 * (half == "hi")) for k in range(2)] for half in ("lo", "hi")}
    forms = []
    for first in ("u32", "s32"):
        for second in ("u32", "s32"):
            kinds, c = (first, second), "s32" if "s32" in (first, second) else "u32"
            sources = (first, second, c)
            forms.append(
                form(f"dp4a.{first}.{second}", c, sources, lambda a, b, c, k=kinds: dot(a, b, c, k, bytes_4))
            )
            forms += [
                form(
                    f"dp2a.{half}.{first}.{second}",
                    c,
                    sources,
                    lambda a, b, c, k=kinds, p=parts: dot(a, b, c, k, p),
                )
                for half, parts in words.items()
            ]
    return forms


def _highest_bit(value: int, kind: str) -> int:
    return (~value if value < 0 else value).bit_length() - 1


def _counts() -> list[Form]:
    forms = []
    for bits in (32, 64):
        kind, signed = f"u{bits}", f"s{bits}"
        forms += [
            form(f"popc.b{bits}", "u32", (kind,), int.bit_count),
            form(f"clz.b{bits}", "u32", (kind,), lambda a, n=bits: n - a.bit_length()),
            form(f"brev.b{bits}", kind, (kind,), lambda a, n=bits: int(f"{a:0{n}b}"[::-1], 2)),
        ]
        for each in (kind, signed):
            forms.append(form(f"bfind.{each}", "u32", (each,), lambda a, k=each: _highest_bit(a, k)))

            def shift(a: int, k: str = each) -> int:
                position = _highest_bit(a, k)
                return -1 if position < 0 else width(k) - 1 - position

            forms.append(form(f"bfind.shiftamt.{each}", "u32", (each,), shift))
    return forms


def _carries() -> list[Form]:
    """Arithmetic on two words: the second instruction reads the carry the first one left."""
    forms = []
    for first, second, sign in (("add.cc", "addc", 1), ("sub.cc", "subc", -1)):
        for kind in ("u32", "u64"):

            def upper_sum(a: int, b: int, n: int = width(kind), s: int = sign) -> int:
                return (a << n | b) + s * (b << n | a) >> n

            chain = f"{{d}}, {{b}}, {{a}};\n {second}.{kind} {{d}}, {{a}}, {{b}}"
            forms.append(_chained(f"{first}.{kind}", kind, upper_sum, chain, second))
    for kind in ("u32", "s32", "u64", "s64"):

        def upper_product(a: int, b: int, n: int = width(kind)) -> int:
            return a * b + (b << n | a & ((1 << n) - 1)) >> n

        chain = f"{{d}}, {{a}}, {{b}}, {{a}};\n madc.hi.{kind} {{d}}, {{a}}, {{b}}, {{b}}"
        forms.append(_chained(f"mad.lo.cc.{kind}", kind, upper_product, chain, "madc.hi"))
    return forms


def _chained(name: str, kind: str, function: Callable[..., int], operands: str, label: str) -> Form:
    return form(name, kind, (kind, kind), function, operands=operands, label=label, guarded=False)


FORMS = [
    *(each for kind in ALL for each in _arithmetic(kind)),
    *(each for kind in TWICE for each in _wide(kind)),
    *(each for kind in ("s16", "s32", "s64") for each in _signed(kind)),
    *(each for kind in ("u32", "s32") for each in _24_bits(kind)),
    *_saturating(),
    *_rectified(),
    *_pairs(),
    *_dots(),
    *_counts(),
    *_carries(),
]
