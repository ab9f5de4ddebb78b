"""The SIMD video instructions, with every part in its place: two or four parts, merged or summed up."""

from __future__ import annotations

import operator
from collections.abc import Callable

from forms_integer import form
from ptx_runner import Form

TYPES = ("u32", "s32")
PARTS: dict[str, Callable[[int, int], int]] = {
    "vadd": operator.add,
    "vsub": operator.sub,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def parts(word: int, count: int, kind: str) -> list[int]:
    bits = 32 // count
    fields = [word >> bits * i & (1 << bits) - 1 for i in range(count)]
    return [f - (1 << bits) if kind == "s32" and f >> (bits - 1) else f for f in fields]


def merged(values: list[int], count: int) -> int:
    bits = 32 // count
    return sum((value & (1 << bits) - 1) << bits * i for i, value in enumerate(values))


def clamped(value: int, count: int, kind: str) -> int:
    bits = 32 // count
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def _arithmetic(name: str, count: int, kinds: tuple[str, str, str], suffix: str) -> Form:
    d, a_kind, b_kind = kinds

    def expected(a: int, b: int, c: int) -> int:
        a, b = a & 0xFFFFFFFF, b & 0xFFFFFFFF
        pairs = zip(parts(a, count, a_kind), parts(b, count, b_kind), strict=True)
        values = [PARTS[name](x, y) for x, y in pairs]
        if suffix == ".sat":
            values = [clamped(value, count, d) for value in values]
        return c + sum(values) if suffix == ".add" else merged(values, count)

    full = f"{name}{count}.{d}.{a_kind}.{b_kind}{suffix}"
    return form(full, d, (a_kind, b_kind, d), expected)


def _comparison(comparison: str, count: int, kind: str, suffix: str) -> Form:
    def expected(a: int, b: int, c: int) -> int:
        a, b = a & 0xFFFFFFFF, b & 0xFFFFFFFF
        pairs = zip(parts(a, count, kind), parts(b, count, kind), strict=True)
        values = [int(COMPARISONS[comparison](x, y)) for x, y in pairs]
        return c + sum(values) if suffix else merged(values, count)

    return form(f"vset{count}.{kind}.{kind}.{comparison}{suffix}", "u32", (kind, kind, "u32"), expected)


FORMS = [
    *(
        _arithmetic(name, count, kinds, suffix)
        for name in PARTS
        for count in (2, 4)
        for kinds in (("u32", "u32", "u32"), ("s32", "s32", "s32"), ("s32", "u32", "s32"))
        for suffix in ("", ".sat", ".add")
    ),
    *(
        _comparison(comparison, count, kind, suffix)
        for comparison in COMPARISONS
        for count in (2, 4)
        for kind in TYPES
        for suffix in ("", ".add")
    ),
]
