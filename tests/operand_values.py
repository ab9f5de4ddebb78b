"""Operands for instruction tests: the values at which instructions go wrong, and seeded random bits."""

from __future__ import annotations

import numpy as np
from ptx_runner import BLOCK, KINDS, Array

_INTEGERS = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535]
_INTEGERS += [0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x5555555555555555, 0x123456789ABCDEF]
_INTEGERS += [-1, -2, -3, -7, -31, -32, -128, -129, -32768, -0x80000000, -0x7FFFFFFF, 1 << 63, (1 << 63) - 1]

# Sign, exponent and fraction of every sort; exponents relative to the format's bias.
_F16 = [0x0000, 0x0001, 0x0002, 0x03FF, 0x0400, 0x0401, 0x1400, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x3E00]
_F16 += [
    0x4000,
    0x4200,
    0x4248,
    0x5800,
    0x63FF,
    0x6400,
    0x6800,
    0x77FF,
    0x7800,
    0x7BFF,
    0x7C00,
    0x7E00,
    0x7C01,
]
_BF16 = [0x0000, 0x0001, 0x007F, 0x0080, 0x0081, 0x1F80, 0x2000, 0x3F00, 0x3F7F, 0x3F80, 0x3F81, 0x3FC0]
_BF16 += [
    0x4000,
    0x4040,
    0x4049,
    0x4B00,
    0x4B80,
    0x4F00,
    0x5F00,
    0x5F80,
    0x7F00,
    0x7F7F,
    0x7F80,
    0x7FC0,
    0x7F81,
]
_F32 = [0x00000000, 0x00000001, 0x00000002, 0x007FFFFF, 0x00800000, 0x00800001, 0x01000000, 0x1FFFFFFF]
_F32 += [0x33800000, 0x38800000, 0x38FFE000, 0x38FFF000, 0x3EFFFFFF, 0x3F000000, 0x3F000001, 0x3F7FFFFF]
_F32 += [0x3F800000, 0x3F800001, 0x3FC00000, 0x40000000, 0x40200000, 0x40490FDB, 0x42FF0000, 0x43000000]
_F32 += [0x477FEFFF, 0x477FF000, 0x4B000000, 0x4B000001, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000]
_F32 += [0x5F000000, 0x5F800000, 0x7E800001, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001]
_F64 = [0x0, 0x1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3690000000000000, 0x36A0000000000001]
_F64 += [0x380FFFFFF0000000, 0x3810000000000000, 0x3E70000000000000, 0x3FDFFFFFFFFFFFFF, 0x3FE0000000000000]
_F64 += [0x3FEFFFFFFFFFFFFF, 0x3FF0000000000000, 0x3FF0000000000001, 0x3FF0000010000000, 0x3FF0000030000001]
_F64 += [0x3FF8000000000000, 0x4000000000000000, 0x400921FB54442D18, 0x40DFFFC000000000, 0x41DFFFFFFFC00000]
_F64 += [0x41DFFFFFFFE00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41F0000000000000, 0x4330000000000001]
_F64 += [0x43DFFFFFFFFFFFFF, 0x43E0000000000000, 0x43F0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000]
_F64 += [0x7FE0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001]
# Operands that must meet: factors whose product is a trifle below the smallest normal number, and
# products halfway between two numbers to which a trifle is added, which rounding twice would lose.
_MEETINGS = {
    "f16": [(0x2008, 0x1FF0, 0), (0x4200, 0x6156, 0x0001), (0x4200, 0x6156, 0x8001)],
    "bf16": [(0x40E0, 0x4214, 0x2180), (0x40E0, 0x4214, 0xA180)],
    "f32": [(0x20000400, 0x1FFFF800, 0), (0x3F800001, 0x3F800003, 0x00000001)],
}
_FLOATS = {"f16": _F16, "bf16": _BF16, "f32": _F32, "f64": _F64}


def edges(kind: str) -> Array:
    """Return the notable values of a kind, both signs of floats."""
    bits = KINDS[kind].bits
    if kind == "pred":
        return np.array([0, 1], dtype=np.uint32)
    if kind in ("f16x2", "bf16x2"):
        half = edges(kind[:-2]).astype(np.uint32)
        return half | np.roll(half, 7) << 16
    if kind in _FLOATS:
        positive = np.array(_FLOATS[kind], dtype=np.uint64)
        both = np.concatenate([positive, positive | np.uint64(1 << (bits - 1))])
        return both.astype(KINDS[kind].unsigned).view(KINDS[kind].dtype)
    wrapped = sorted({value & ((1 << bits) - 1) for value in _INTEGERS})
    return np.array(wrapped, dtype=KINDS[kind].unsigned).view(KINDS[kind].dtype)


def random_values(kind: str, count: int, rng: np.random.Generator) -> Array:
    """Return random bit patterns; floats half of the time of moderate size."""
    unsigned = KINDS[kind].unsigned
    if kind == "pred":
        return rng.integers(0, 2, count, dtype=np.uint32)
    raw = rng.integers(0, 1 << KINDS[kind].bits, count, dtype=unsigned, endpoint=False)
    if kind in ("f32", "f64"):
        raw[::2] = rng.normal(scale=100.0, size=count).astype(KINDS[kind].dtype).view(unsigned)[::2]
    return raw.view(KINDS[kind].dtype)


def padded(columns: list[Array]) -> tuple[Array, ...]:
    """Return the columns, repeated from the start until they fill whole blocks."""
    count = -(-len(columns[0]) // BLOCK) * BLOCK
    return tuple(np.resize(column, count) for column in columns)


def all_of(kind: str, seed: int = 1) -> tuple[Array, ...]:
    """Return every notable value and some random ones."""
    values = np.concatenate([edges(kind), random_values(kind, 200, np.random.default_rng(seed))])
    return padded([values])


def mixtures(*kinds: str, count: int = 1024, seed: int = 2) -> tuple[Array, ...]:
    """Return tuples of operands: notable values with one another, then random ones.

    Two operands meet in every combination if `count` allows; else combinations are drawn.
    """
    rng = np.random.default_rng(seed)
    notable = [edges(kind) for kind in kinds]
    if np.prod([len(values) for values in notable]) <= 1600:
        positions = np.indices([len(values) for values in notable]).reshape(len(kinds), -1)
        columns = [values[at] for values, at in zip(notable, positions, strict=True)]
    else:
        columns = [rng.choice(values, count) for values in notable]
    for position, meeting in enumerate(_MEETINGS.get(kinds[0], [])):
        for column, bits in zip(columns, meeting, strict=False):
            column.view(f"u{column.itemsize}")[position] = bits
    drawn = [random_values(kind, count // 4, rng) for kind in kinds]
    return padded([np.concatenate(pair) for pair in zip(columns, drawn, strict=True)])
