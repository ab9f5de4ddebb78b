"""Comparisons into predicates and registers, selections, logic on predicates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from forms_half import decoded
from operand_values import edges, mixtures
from ptx_runner import KINDS, Array, Form

ORDERED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def unordered(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


FLOAT_ONLY: dict[str, Callable[[Array, Array], Array]] = {
    **{f"{name}u": lambda a, b, f=f: f(a, b) | unordered(a, b) for name, f in ORDERED.items()},
    "num": lambda a, b: ~unordered(a, b),
    "nan": unordered,
}
COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}
TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80, "u16": 0xFFFF}


def values(kind: str, array: Array, ftz: bool = False) -> Array:
    """Return what the elements compare as."""
    if kind in ("f16", "bf16"):
        return decoded(kind, array)
    if ftz:
        return np.where(np.abs(array) < np.float32(2.0**-126), np.float32(0), array)
    return array


def predicate(array: Array) -> Array:
    return array.astype(np.uint32)


def comparisons(kind: str) -> dict[str, Callable[[Array, Array], Array]]:
    if kind in ("f16", "bf16", "f32", "f64"):
        return ORDERED | FLOAT_ONLY
    if kind.startswith("u"):
        return ORDERED | {name: ORDERED[same] for name, same in UNSIGNED_NAMES.items()}
    return ORDERED


def operands(kind: str, *more: str) -> tuple[Array, ...]:
    """Return pairs in which equal operands are frequent, and other operands beside them."""
    pairs = mixtures(kind, kind)
    count = len(pairs[0])
    return (*pairs, *(np.resize(np.roll(edges(m), 1), count) for m in more))


def _setp(kind: str) -> list[Form]:
    inputs = operands(kind)
    suffixes = ("", ".ftz") if kind == "f32" else ("",)

    def result(function: Callable[[Array, Array], Array], ftz: bool) -> Callable[[Array, Array], Array]:
        return lambda a, b: predicate(function(values(kind, a, ftz), values(kind, b, ftz)))

    return [
        Form(f"setp.{name}{suffix}.{kind}", ("pred",), (kind, kind), result(function, bool(suffix)), inputs)
        for name, function in comparisons(kind).items()
        for suffix in suffixes
    ]


def _setp_bits(kind: str) -> list[Form]:
    inputs = operands(kind)
    return [
        Form(
            f"setp.{name}.b{KINDS[kind].bits}",
            ("pred",),
            (kind, kind),
            lambda a, b, f=ORDERED[name]: predicate(f(a, b)),
            inputs,
        )
        for name in ("eq", "ne")
    ]


def _combined(kind: str) -> list[Form]:
    """Two results, a predicate combined in, plain and negated."""
    forms = []
    name = "ltu" if kind == "f32" else "lt"
    function = comparisons(kind)[name]
    both = Form(
        f"setp.{name}.{kind}",
        ("pred", "pred"),
        (kind, kind),
        lambda a, b: (predicate(function(a, b)), predicate(~function(a, b))),
        operands(kind),
        label="p|q",
    )
    forms.append(both)
    for how, combine in COMBINE.items():
        for negated in (False, True):

            def result(
                a: Array, b: Array, c: Array, f: object = combine, n: bool = negated
            ) -> tuple[Array, Array]:
                c = (c != 0) != n
                return predicate(f(function(a, b), c)), predicate(f(~function(a, b), c))  # type: ignore[operator]

            sign = "!" if negated else ""
            text = "{d}|{e}, {a}, {b}, " + sign + "{c}"
            forms.append(
                Form(
                    f"setp.{name}.{how}.{kind}",
                    ("pred", "pred"),
                    (kind, kind, "pred"),
                    result,
                    operands(kind, "pred"),
                    operands=text,
                    label=f"p|q {sign}c",
                )
            )
        forms.append(
            Form(
                f"setp.{name}.{how}.{kind}",
                ("pred",),
                (kind, kind, "pred"),
                lambda a, b, c, f=combine: predicate(f(function(a, b), c != 0)),
                operands(kind, "pred"),
            )
        )
    return forms


def _halves(kind: str, pairs: Array) -> list[Array]:
    return [decoded(kind, (pairs >> shift & 0xFFFF).astype(np.uint16)) for shift in (0, 16)]


def _pairs(kind: str) -> list[Form]:
    forms = []
    both = f"{kind}x2"
    inputs = operands(both)
    for name in ("eq", "neu", "lt", "geu", "nan"):
        function = (ORDERED | FLOAT_ONLY)[name]

        def results(a: Array, b: Array, f: Callable[[Array, Array], Array] = function) -> list[Array]:
            return [f(x, y) for x, y in zip(_halves(kind, a), _halves(kind, b), strict=True)]

        forms.append(
            Form(
                f"setp.{name}.{both}",
                ("pred", "pred"),
                (both, both),
                lambda a, b, r=results: tuple(predicate(each) for each in r(a, b)),
                inputs,
            )
        )
        for result, true in ((both, TRUE[kind]), ("u32", 0xFFFF)):

            def packed(a: Array, b: Array, r: object = results, t: int = true) -> Array:
                low, high = r(a, b)  # type: ignore[operator]
                return predicate(low) * np.uint32(t) | predicate(high) * np.uint32(t) << 16

            forms.append(Form(f"set.{name}.{result}.{both}", (result,), (both, both), packed, inputs))
    return forms


def _set() -> list[Form]:
    forms = []
    wanted = [("u32", "f32"), ("f32", "f32"), ("s32", "s32"), ("u32", "u64"), ("f32", "s64"), ("u32", "f64")]
    wanted += [
        ("f16", "f16"),
        ("u16", "f16"),
        ("bf16", "bf16"),
        ("u32", "u16"),
        ("u32", "s16"),
        ("f32", "u32"),
    ]
    for result, kind in wanted:
        for name in ("eq", "lt", "ge") + (("neu", "num") if kind[0] in "fb" else ()):

            def expected(
                a: Array, b: Array, f: object = comparisons(kind)[name], k: str = kind, r: str = result
            ) -> Array:
                true = np.array(TRUE[r], dtype=KINDS[r].unsigned)
                return np.where(f(values(k, a), values(k, b)), true, 0).astype(true.dtype)  # type: ignore[operator]

            forms.append(
                Form(f"set.{name}.{result}.{kind}", (result,), (kind, kind), expected, operands(kind))
            )
    forms.append(
        Form(
            "set.lt.and.u32.f32",
            ("u32",),
            ("f32", "f32", "pred"),
            lambda a, b, c: np.where((a < b) & (c != 0), np.uint32(0xFFFFFFFF), np.uint32(0)),
            operands("f32", "pred"),
        )
    )
    return forms


def _selections() -> list[Form]:
    forms = []
    for kind in ("u16", "s16", "u32", "s32", "f32", "u64", "s64", "f64"):
        names = [kind, f"b{KINDS[kind].bits}"] if kind.startswith("u") else [kind]
        forms += [
            Form(
                f"selp.{name}",
                (kind,),
                (kind, kind, "pred"),
                lambda a, b, c: np.where(c != 0, a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")),
                operands(kind, "pred"),
            )
            for name in names
        ]
        for condition in ("s32", "f32"):
            forms.append(
                Form(
                    f"slct.{kind}.{condition}",
                    (kind,),
                    (kind, kind, condition),
                    lambda a, b, c: np.where(c >= 0, a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")),
                    operands(kind, condition),
                )
            )
    return forms


def _logic() -> list[Form]:
    inputs = tuple(
        np.resize(np.array(bits, dtype=np.uint32), 128) for bits in ([0, 1, 0, 1, 1], [0, 0, 1, 1, 1, 0, 1])
    )
    forms = [
        Form(f"{name}.pred", ("pred",), ("pred", "pred"), lambda a, b, f=f: predicate(f(a, b)), inputs)
        for name, f in COMBINE.items()
    ]
    forms.append(Form("not.pred", ("pred",), ("pred",), lambda a: 1 - a, inputs[:1]))
    forms.append(Form("mov.pred", ("pred",), ("pred",), lambda a: a, inputs[:1]))
    return forms


FORMS = [
    *(
        each
        for kind in ("u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")
        for each in _setp(kind)
    ),
    *(each for kind in ("u16", "u32", "u64") for each in _setp_bits(kind)),
    *(each for kind in ("f32", "s32", "u64") for each in _combined(kind)),
    *(each for kind in ("f16", "bf16") for each in _pairs(kind)),
    *_set(),
    *_selections(),
    *_logic(),
]
