"""Forms of `mma.sync`: the PTX of one, matrices to give it, where they lie in a warp, what comes out.

The fragment layouts are those of the PTX manual ("Matrix Fragments for mma.m16n8k16 ..."), written for NumPy.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from ptx_runner import HEADER

Array = np.ndarray[Any, np.dtype[Any]]

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64, "e4m3": 8, "e5m2": 8}
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
FLOATS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
}
INTEGERS = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}
LANES = np.arange(32)


@dataclass(frozen=True)
class MatrixForm:
    """One `mma.sync.aligned`; `suffix` follows the types, `before` stands before them."""

    m: int
    n: int
    k: int
    d: str
    a: str
    b: str
    c: str
    before: str = ""
    suffix: str = ""

    @property
    def name(self) -> str:
        types = f"{self.d}.{self.a}.{self.b}.{self.c}"
        return f"mma.sync.aligned.m{self.m}n{self.n}k{self.k}.row.col{self.before}.{types}{self.suffix}"

    @property
    def is_float(self) -> bool:
        return self.d != "s32"

    def registers(self, operand: str) -> int:
        """Return how many registers of a lane hold the operand `a`, `b`, `c` or `d`."""
        elements = {"a": self.m * self.k, "b": self.n * self.k}.get(operand, self.m * self.n)
        bits = BITS[getattr(self, operand)]
        return elements * bits // (32 * max(bits, 32))


F = MatrixForm
FORMS = [
    F(16, 8, 8, "f32", "f16", "f16", "f32"),
    F(16, 8, 8, "f16", "f16", "f16", "f16"),
    F(16, 8, 16, "f32", "f16", "f16", "f32"),
    F(16, 8, 16, "f16", "f16", "f16", "f16"),
    F(16, 8, 8, "f32", "bf16", "bf16", "f32"),
    F(16, 8, 16, "f32", "bf16", "bf16", "f32"),
    F(16, 8, 4, "f32", "tf32", "tf32", "f32"),
    F(16, 8, 8, "f32", "tf32", "tf32", "f32"),
    F(8, 8, 4, "f64", "f64", "f64", "f64"),
    F(16, 8, 4, "f64", "f64", "f64", "f64"),
    F(16, 8, 8, "f64", "f64", "f64", "f64"),
    F(16, 8, 16, "f64", "f64", "f64", "f64"),
    F(16, 8, 32, "f32", "e4m3", "e4m3", "f32"),
    F(16, 8, 32, "f32", "e4m3", "e5m2", "f32"),
    F(16, 8, 32, "f32", "e5m2", "e5m2", "f32"),
    *(F(8, 8, 16, "s32", a, b, "s32") for a in ("s8", "u8") for b in ("s8", "u8")),
    F(8, 8, 16, "s32", "s8", "s8", "s32", before=".satfinite"),
    F(16, 8, 16, "s32", "s8", "u8", "s32"),
    *(F(16, 8, 32, "s32", a, b, "s32") for a in ("s8", "u8") for b in ("s8", "u8")),
    F(16, 8, 32, "s32", "s8", "s8", "s32", before=".satfinite"),
    F(8, 8, 32, "s32", "s4", "s4", "s32"),
    F(16, 8, 32, "s32", "u4", "s4", "s32"),
    F(16, 8, 64, "s32", "s4", "s4", "s32"),
    F(16, 8, 64, "s32", "u4", "u4", "s32", before=".satfinite"),
    F(8, 8, 128, "s32", "b1", "b1", "s32", suffix=".xor.popc"),
    F(16, 8, 128, "s32", "b1", "b1", "s32", suffix=".and.popc"),
    F(16, 8, 256, "s32", "b1", "b1", "s32", suffix=".xor.popc"),
    F(16, 8, 256, "s32", "b1", "b1", "s32", suffix=".and.popc"),
]


def kernel_text(form: MatrixForm, entry: str = "k") -> str:
    """Return an entry that executes the instruction once, in one warp, on registers from memory."""
    operands, loads, stores = [], "", ""
    for index, operand in enumerate("dabc"):
        bits = max(BITS[getattr(form, operand)], 32)
        names = [f"%{operand}{r}" for r in range(form.registers(operand))]
        operands.append("{" + ", ".join(names) + "}")
        loads += f".reg .b{bits} {', '.join(names)};\n ld.param.u64 %p{index}, [p{index}];\n"
        loads += f" mad.wide.u32 %p{index}, %t, {bits // 8}, %p{index};\n"
        for r, name in enumerate(names):
            place = f"[%p{index}+{r * 4 * bits}]"
            if operand == "d":
                stores += f" st.global.b{bits} {place}, {name};\n"
            else:
                loads += f" ld.global.b{bits} {name}, {place};\n"
    parameters = ", ".join(f".param .u64 p{index}" for index in range(4))
    return (
        f"{HEADER}.visible .entry {entry}({parameters})\n{{\n .reg .b32 %t;\n .reg .b64 %p<4>;\n"
        f" mov.u32 %t, %tid.x;\n {loads} {form.name} {', '.join(operands)};\n{stores} ret;\n}}\n"
    )


# Exponents of A, B and C, from the smallest of their types (0) or the largest (1), or as they stand.
STYLES: dict[str, tuple[float, ...]] = {
    "any": (0, 1, 0, 1),
    "smallest": (0, 0.1, 0, 0.1),
    "largest": (0.95, 1, 0.95, 1),
    "addend": (0.45, 0.55, 0.6, 0.8),
    "product": (0.5, 0.7, 0.2, 0.4),
}
EXPONENTS = {"f16": (-24, 15), "bf16": (-133, 127), "tf32": (-136, 127), "f32": (-149, 127)}
EXPONENTS |= {"e4m3": (-9, 8), "e5m2": (-16, 15), "f64": (-1074, 1023)}


def _seed(text: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(text.encode()))


def operands(form: MatrixForm, special: bool = False) -> dict[str, Array]:
    """Return matrices for the form, the same at every call; `special` puts infinities and NaN in them."""
    random = _seed(form.name)
    shapes = {"a": (form.m, form.k), "b": (form.k, form.n), "c": (form.m, form.n)}
    if not form.is_float:
        drawn = {op: random.integers(*INTEGERS[getattr(form, op)], shapes[op], np.int64) for op in "ab"}
        return drawn | {"c": random.integers(-(2**31), 2**31, shapes["c"], np.int64)}
    matrices = {op: random.standard_normal(shape) for op, shape in shapes.items()}
    if special:
        matrices["a"][0, 0], matrices["b"][1, 1] = np.inf, np.nan
        matrices["c"][2, 2], matrices["c"][0, 3], matrices["c"][3, 3] = np.inf, -np.inf, np.nan
    return {op: stored(getattr(form, op), matrix) for op, matrix in matrices.items()}


def extreme_operands(form: MatrixForm, style: str) -> dict[str, Array]:
    """Return float matrices whose exponents lie where STYLES says, some elements zero, all finite."""
    random, matrices = _seed(form.name + style), {}
    low, high, low_c, high_c = STYLES[style]
    for op, shape in (("a", (form.m, form.k)), ("b", (form.k, form.n)), ("c", (form.m, form.n))):
        first, last = EXPONENTS[getattr(form, op)]
        ends = (low_c, high_c) if op == "c" else (low, high)
        lowest, highest = (round(first + (last - first) * end) for end in ends)
        sizes = (1 + random.random(shape)) * 2.0 ** random.integers(lowest, highest + 1, shape)
        signed = random.choice([-1.0, 1.0], shape) * sizes * (random.random(shape) > 0.05)
        rounded = stored(getattr(form, op), signed)
        matrices[op] = np.where(np.isfinite(rounded), rounded, 0.0)
    return matrices


def stored(kind: str, values: Array) -> Array:
    """Return floats rounded to what the type can hold, as float64."""
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = values.astype(FLOATS[kind])
    if kind == "tf32":
        rounded = (rounded.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.asarray(rounded.astype(np.float64))


def codes(kind: str, values: Array) -> Array:
    """Return the elements as bit patterns."""
    if kind in FLOATS:
        patterns = values.astype(FLOATS[kind]).view(f"u{BITS[kind] // 8}")
    else:
        patterns = values & ((1 << BITS[kind]) - 1)
    return np.asarray(patterns.astype(np.uint64))


def operand_places(kind: str, outer: int, register: int, element: int) -> tuple[Array, Array]:
    """Return (row of A or column of B, place along K) of one element of a register, by lane."""
    count = max(32 // BITS[kind], 1)
    group, thread = LANES >> 2, LANES % 4
    blocks = outer // 8
    along = thread * count + element + 4 * count * (register // blocks)
    return group + 8 * (register % blocks), along


def accumulator_places(kind: str, register: int, element: int) -> tuple[Array, Array]:
    """Return (row, column) of one element of a register of C or D, by lane."""
    index = 2 * register + element if kind == "f16" else register
    return (LANES >> 2) + 8 * (index // 2), LANES % 4 * 2 + index % 2


def to_registers(form: MatrixForm, operand: str, matrix: Array) -> Array:
    """Return the registers of the 32 lanes, `(registers, 32)`."""
    kind, patterns = getattr(form, operand), codes(getattr(form, operand), matrix)
    bits = BITS[kind]
    lanes = np.zeros((form.registers(operand), 32), np.uint64)
    for register in range(len(lanes)):
        for element in range(max(32 // bits, 1)):
            if operand == "c":
                rows, columns = accumulator_places(kind, register, element)
            elif operand == "a":
                rows, columns = operand_places(kind, form.m, register, element)
            else:
                columns, rows = operand_places(kind, form.n, register, element)
            lanes[register] |= patterns[rows, columns] << np.uint64(bits * element)
    return lanes.astype(np.uint64 if bits == 64 else np.uint32)


def from_registers(form: MatrixForm, lanes: Array) -> Array:
    """Return D: float64, or int64 of the integers."""
    matrix = np.zeros((form.m, form.n), np.float64 if form.is_float else np.int64)
    for register, words in enumerate(lanes):
        if form.d == "f16":
            halves = np.ascontiguousarray(words).view(np.float16).reshape(32, 2)
            for element in range(2):
                matrix[accumulator_places("f16", register, element)] = halves[:, element]
        else:
            values = words.view({"f32": np.float32, "f64": np.float64, "s32": np.int32}[form.d])
            matrix[accumulator_places(form.d, register, 0)] = values
    return matrix


def expected(form: MatrixForm, a: Array, b: Array, c: Array) -> Array:
    """Return D: in float64, or exactly for integers."""
    if form.is_float:
        with np.errstate(invalid="ignore"):
            return np.asarray((a[:, :, None] * b[None]).sum(1) + c)
    combine = np.bitwise_xor if ".xor" in form.suffix else np.multiply
    total = combine(a[:, :, None], b[None]).sum(1) + c
    if "satfinite" in form.before:
        return np.asarray(total.clip(-(2**31), 2**31 - 1))
    return np.asarray(total.astype(np.int32).astype(np.int64))


def bound(form: MatrixForm, a: Array, b: Array, c: Array) -> Array:
    """Return how far sums of floats may be off: rounding at every step, towards zero at worst, and of D."""
    sizes = (np.abs(a)[:, :, None] * np.abs(b)[None]).sum(1) + np.abs(c)
    step = 2.0**-52 if form.d == "f64" else 2.0**-22
    whole = sizes * step * (form.k + 1)
    return np.asarray(whole + (np.abs(expected(form, a, b, c)) * 2.0**-11 if form.d == "f16" else 0))
