"""Masks and what is made with them: bmsk, szext, fns, lop3 with a predicate, against the manual."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from forms_bits import TABLES, table_logic
from forms_integer import form
from operand_values import edges, mixtures
from ptx_runner import BLOCK, Array, Form

ALL = 0xFFFFFFFF


def bit_mask(first: int, width: int, clamp: bool) -> int:
    if clamp and first > 31:
        return 0
    width = 32 if clamp and width > 31 else width & 31
    return (1 << width) - 1 << (first & 31)


def extended(a: int, width: int, clamp: bool, signed: bool) -> int:
    width = 32 if clamp and width > 31 else width & 31
    field = a & (1 << width) - 1
    negative = signed and width > 0 and field >> (width - 1)
    return field - (1 << width) if negative else field


def nth_set(mask: int, base: int, n: int) -> int:
    """Return the n-th set bit's position from `base` on, downwards for negative n."""
    if n == 0:
        return base if mask >> base & 1 else ALL
    places = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(n) - 1] if abs(n) <= len(found) else ALL


def _modes() -> list[Form]:
    forms = []
    for mode in ("clamp", "wrap"):
        clamp = mode == "clamp"
        forms.append(form(f"bmsk.{mode}.b32", "u32", ("u32", "u32"), lambda a, b, c=clamp: bit_mask(a, b, c)))
        for kind in ("u32", "s32"):
            forms.append(
                form(
                    f"szext.{mode}.{kind}",
                    kind,
                    (kind, "u32"),
                    lambda a, b, c=clamp, s=kind == "s32": extended(a, b, c, s),
                )
            )
    return forms


def _fns() -> Form:
    rng = np.random.default_rng(8)
    count = 16 * BLOCK
    masks = np.where(
        rng.random(count) < 0.2, rng.choice(edges("u32"), count), rng.integers(0, 1 << 32, count)
    )
    inputs = (
        masks.astype(np.uint32),
        rng.integers(0, 32, count).astype(np.uint32),
        rng.integers(-20, 21, count).astype(np.int32),
    )

    def expected(mask: Array, base: Array, n: Array) -> Array:
        rows = zip(mask.tolist(), base.tolist(), n.tolist(), strict=True)
        return np.array([nth_set(*row) for row in rows], dtype=np.uint32)

    return Form("fns.b32", ("u32",), ("u32", "u32", "s32"), expected, inputs)


def _logic_into_predicates() -> list[Form]:
    """The third operand is made of the first two: a form has three, and the predicate is one."""
    forms = []
    for name, combine in (("or", np.logical_or), ("and", np.logical_and)):
        for table in (*TABLES, 0x3F):

            def both(
                a: Array, b: Array, q: Array, t: int = table, f: Callable[..., Array] = combine
            ) -> tuple[Array, Array]:
                rows = zip(a.tolist(), b.tolist(), strict=True)
                result = np.array([table_logic(x, y, x ^ y << 1 & ALL, t) for x, y in rows], dtype=np.uint32)
                return result, f(result != 0, q == 0).astype(np.uint32)

            forms.append(
                Form(
                    f"lop3.{name}.b32",
                    ("u32", "pred"),
                    ("u32", "u32", "pred"),
                    both,
                    mixtures("u32", "u32", "pred"),
                    operands=f"{{d}}|{{e}}, {{a}}, {{b}}, %x0, {table}, !{{c}}",
                    before="shl.b32 %x0, {b}, 1;\n xor.b32 %x0, %x0, {a};",
                    label=f"0x{table:02x}",
                )
            )
    sink = forms[1]
    forms.append(
        Form(
            sink.name,
            ("pred",),
            sink.sources,
            lambda a, b, q, f=sink.expected: f(a, b, q)[1],
            sink.inputs,
            operands=f"_|{{d}}, {{a}}, {{b}}, %x0, {TABLES[1]}, !{{c}}",
            before=sink.before,
            label="no result",
        )
    )
    return forms


FORMS = [*_modes(), _fns(), *_logic_into_predicates()]
