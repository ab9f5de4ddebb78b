"""Logic, shifts, fields and permutations."""

from __future__ import annotations

from forms_integer import form, is_signed, width
from ptx_runner import Form

BITS = ("u16", "u32", "u64")
PERMUTE_MODES = {
    "f4e": lambda n, i: n + i,
    "b4e": lambda n, i: (n - i) % 8,
    "rc8": lambda n, i: n,
    "ecl": lambda n, i: max(n, i),
    "ecr": lambda n, i: min(n, i),
    "rc16": lambda n, i: (n & 1) * 2 + i % 2,
}
TABLES = (0x00, 0x01, 0x80, 0x96, 0xE8, 0xCA, 0x3C, 0xFF)


def _logic(kind: str) -> list[Form]:
    n = width(kind)
    two = (kind, kind)
    return [
        form(f"and.b{n}", kind, two, lambda a, b: a & b),
        form(f"or.b{n}", kind, two, lambda a, b: a | b),
        form(f"xor.b{n}", kind, two, lambda a, b: a ^ b),
        form(f"not.b{n}", kind, (kind,), lambda a: ~a),
        form(f"cnot.b{n}", kind, (kind,), lambda a: int(a == 0)),
        form(f"shl.b{n}", kind, (kind, "u32"), lambda a, b: a << b if b < n else 0),
        form(f"shr.b{n}", kind, (kind, "u32"), lambda a, b: a >> min(b, n)),
    ]


def _right_shift(kind: str) -> Form:
    return form(f"shr.{kind}", kind, (kind, "u32"), lambda a, b: a >> min(b, width(kind)))


def _funnels() -> list[Form]:
    three = ("u32", "u32", "u32")
    forms = []
    for mode, amount in (("wrap", lambda c: c & 31), ("clamp", lambda c: min(c, 32))):
        forms += [
            form(f"shf.l.{mode}.b32", "u32", three, lambda a, b, c, n=amount: (b << 32 | a) << n(c) >> 32),
            form(f"shf.r.{mode}.b32", "u32", three, lambda a, b, c, n=amount: (b << 32 | a) >> n(c)),
        ]
    return forms


def bound(written: int, kind: str) -> int:
    """Return a position or length; beyond 255, which the manual leaves open, as an H200 takes it."""
    return written & 0xFF if width(kind) == 32 else min(written, 0xFF)


def extracted(a: int, position: int, length: int, kind: str) -> int:
    """Return the field as the manual's pseudocode builds it, bit by bit."""
    top = width(kind) - 1
    position, length = bound(position, kind), bound(length, kind)
    sign = a >> min(position + length - 1, top) & 1 if is_signed(kind) and length else 0
    bits = [a >> (position + i) & 1 if i < length and position + i <= top else sign for i in range(top + 1)]
    return sum(bit << i for i, bit in enumerate(bits))


def inserted(a: int, b: int, position: int, length: int, kind: str) -> int:
    position, length = bound(position, kind), bound(length, kind)
    for i in range(length):
        if position + i < width(kind):
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def _fields() -> list[Form]:
    forms = [
        form(f"bfe.{kind}", kind, (kind, "u32", "u32"), lambda a, p, n, k=kind: extracted(a, p, n, k))
        for kind in ("u32", "s32", "u64", "s64")
    ]
    for kind in ("u32", "u64"):
        for length in (0, 1, 5, 32, 64):
            forms.append(
                form(
                    f"bfi.b{width(kind)}",
                    kind,
                    (kind, kind, "u32"),
                    lambda a, b, p, k=kind, n=length: inserted(a, b, p, n, k),
                    operands=f"{{d}}, {{a}}, {{b}}, {{c}}, {length}",
                    label=f"length {length}",
                )
            )
    return forms


def permuted(a: int, b: int, picks: list[int]) -> int:
    joined = b << 32 | a
    result = 0
    for i, pick in enumerate(picks):
        byte = joined >> 8 * (pick & 7) & 0xFF
        if pick & 8:
            byte = 0xFF * (byte >> 7)
        result |= byte << 8 * i
    return result


def _permutations() -> list[Form]:
    three = ("u32", "u32", "u32")
    forms = [
        form("prmt.b32", "u32", three, lambda a, b, c: permuted(a, b, [c >> 4 * i & 15 for i in range(4)]))
    ]
    for mode, pick in PERMUTE_MODES.items():
        forms.append(
            form(
                f"prmt.b32.{mode}",
                "u32",
                three,
                lambda a, b, c, p=pick: permuted(a, b, [p(c & 3, i) for i in range(4)]),
            )
        )
    return forms


def table_logic(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))


def _lop3() -> list[Form]:
    return [
        form(
            "lop3.b32",
            "u32",
            ("u32", "u32", "u32"),
            lambda a, b, c, t=table: table_logic(a, b, c, t),
            operands=f"{{d}}, {{a}}, {{b}}, {{c}}, {table}",
            label=f"0x{table:02x}",
        )
        for table in TABLES
    ]


FORMS = [
    *(each for kind in BITS for each in _logic(kind)),
    *(_right_shift(kind) for kind in ("u16", "s16", "u32", "s32", "u64", "s64")),
    *_funnels(),
    *_fields(),
    *_permutations(),
    *_lop3(),
]
