"""`wmma.load`, `wmma.mma` and `wmma.store`: every type, shape, layout and stride against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from harness_client import Served
from kernel_runner import answer_of, run_kernel
from matrix_forms import BITS, FLOATS, Array, MatrixForm, bound, codes, expected, operands
from ptx_runner import HEADER

DTYPES = FLOATS | {
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
    "s4": np.uint8,
    "u4": np.uint8,
    "b1": np.uint8,
}


@dataclass(frozen=True)
class WmmaForm:
    """`registers` of A and B as the C++ header has them; layouts of A, B, C and D, `r` or `c`."""

    matrix: MatrixForm
    registers: tuple[int, int]
    layouts: str = "rcrr"
    space: str = ".global"
    padding: int = 0
    operation: str = ""

    @property
    def id(self) -> str:
        form = self.matrix
        shape = f"m{form.m}n{form.n}k{form.k}"
        return f"{shape}.{form.d}.{form.a}.{form.c}-{self.layouts}{self.space}+{self.padding}{form.before}"

    def layout(self, operand: str) -> str:
        return {"r": "row", "c": "col"}[self.layouts["abcd".index(operand)]]

    def shape(self, operand: str) -> tuple[int, int]:
        form = self.matrix
        return {"a": (form.m, form.k), "b": (form.k, form.n)}.get(operand, (form.m, form.n))

    def stride(self, operand: str) -> int:
        rows, columns = self.shape(operand)
        return (columns if self.layout(operand) == "row" else rows) + self.padding

    def count(self, operand: str) -> int:
        if operand in "ab":
            return self.registers["ab".index(operand)]
        return self.matrix.registers(operand)


def _f16(m: int, n: int, d: str, c: str) -> WmmaForm:
    return WmmaForm(MatrixForm(m, n, 16, d, "f16", "f16", c), (8, 8))


def _bytes(m: int, n: int, kind: str, registers: tuple[int, int], before: str = "") -> WmmaForm:
    return WmmaForm(MatrixForm(m, n, 16, "s32", kind, kind, "s32", before=before), registers)


TYPES = [
    *(_f16(m, n, d, c) for m, n in ((16, 16), (32, 8), (8, 32)) for d, c in (("f32", "f32"), ("f16", "f16"))),
    _f16(16, 16, "f32", "f16"),
    _f16(16, 16, "f16", "f32"),
    WmmaForm(MatrixForm(16, 16, 16, "f32", "bf16", "bf16", "f32"), (4, 4)),
    WmmaForm(MatrixForm(32, 8, 16, "f32", "bf16", "bf16", "f32"), (8, 2)),
    WmmaForm(MatrixForm(8, 32, 16, "f32", "bf16", "bf16", "f32"), (2, 8)),
    WmmaForm(MatrixForm(16, 16, 8, "f32", "tf32", "tf32", "f32"), (4, 4)),
    WmmaForm(MatrixForm(8, 8, 4, "f64", "f64", "f64", "f64"), (1, 1)),
    _bytes(16, 16, "s8", (2, 2)),
    _bytes(16, 16, "u8", (2, 2)),
    _bytes(32, 8, "s8", (4, 1)),
    _bytes(8, 32, "u8", (1, 4)),
    _bytes(16, 16, "s8", (2, 2), ".satfinite"),
    WmmaForm(MatrixForm(8, 8, 32, "s32", "s4", "s4", "s32"), (1, 1)),
    WmmaForm(MatrixForm(8, 8, 32, "s32", "u4", "u4", "s32"), (1, 1)),
    WmmaForm(
        MatrixForm(8, 8, 128, "s32", "b1", "b1", "s32", suffix=".xor.popc"), (1, 1), operation=".xor.popc"
    ),
    WmmaForm(
        MatrixForm(8, 8, 128, "s32", "b1", "b1", "s32", suffix=".and.popc"), (1, 1), operation=".and.popc"
    ),
]
PLAIN = TYPES[0]
LAYOUTS = [replace(TYPES[0], layouts=a + b + c + d) for a in "rc" for b in "rc" for c in "rc" for d in "rc"]
LAYOUTS += [replace(form, layouts="crcc") for form in TYPES if BITS[form.matrix.a] >= 8]
PLACES = [replace(form, space=space) for form in (TYPES[0], TYPES[11]) for space in (".shared", "")]
STRIDES = [replace(form, padding=16) for form in TYPES if BITS[form.matrix.a] >= 8]
FORMS = list(dict.fromkeys(TYPES + LAYOUTS + PLACES + STRIDES))


def _named(operand: str, count: int) -> str:
    return "{" + ", ".join(f"%{operand}{r}" for r in range(count)) + "}"


def kernel_text(form: WmmaForm) -> str:
    """Return an entry that loads A, B and C, multiplies, and stores D; shared memory holds copies of all."""
    matrix, text = form.matrix, ""
    shape = f"m{matrix.m}n{matrix.n}k{matrix.k}"
    for index, operand in enumerate("dabc"):
        text += f" .reg .b{max(BITS[getattr(matrix, operand)], 32)} %{operand}<{form.count(operand)}>;\n"
        text += f" ld.param.u64 %p{index}, [p{index}];\n"
        if form.space == ".shared":
            text += f" mov.u32 %s{index}, tile;\n add.u32 %s{index}, %s{index}, {index * 8192};\n"
            text += f" mov.u32 %i, %t;\nCOPY{index}:\n mad.wide.u32 %q, %i, 4, %p{index};\n"
            text += f" ld.global.b32 %w, [%q];\n mad.lo.u32 %j, %i, 4, %s{index};\n st.shared.b32 [%j], %w;\n"
            text += f" add.u32 %i, %i, 32;\n setp.lt.u32 %more, %i, {stored_bytes(form, operand) // 4};\n"
            text += f" @%more bra COPY{index};\n"
    text += " bar.sync 0;\n"
    base = "%s" if form.space == ".shared" else "%p"
    for index, operand in enumerate("dabc"):
        if operand == "d":
            continue
        text += (
            f" wmma.load.{operand}.sync.aligned.{form.layout(operand)}.{shape}{form.space}"
            f".{getattr(matrix, operand)} {_named(operand, form.count(operand))}, [{base}{index}], "
            f"{form.stride(operand)};\n"
        )
    types = f"{matrix.d}.{matrix.c}" if matrix.a == "f16" else f"{matrix.d}.{matrix.a}.{matrix.b}.{matrix.c}"
    listed = ", ".join(_named(operand, form.count(operand)) for operand in "dabc")
    text += (
        f" wmma.mma{form.operation}.sync.aligned.{form.layout('a')}.{form.layout('b')}.{shape}.{types}"
        f"{matrix.before} {listed};\n"
    )
    text += (
        f" wmma.store.d.sync.aligned.{form.layout('d')}.{shape}{'.global' if form.space else ''}.{matrix.d} "
        f"[%p0], {_named('d', form.count('d'))}, {form.stride('d')};\n"
    )
    return (
        f"{HEADER}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{{\n"
        " .shared .align 16 .b8 tile[32768];\n .reg .b32 %t, %i, %j, %w, %s<4>;\n .reg .b64 %p<4>, %q;\n"
        f" .reg .pred %more;\n mov.u32 %t, %tid.x;\n{text} ret;\n}}\n"
    )


def stored_bytes(form: WmmaForm, operand: str) -> int:
    rows, columns = form.shape(operand)
    lines = rows if form.layout(operand) == "row" else columns
    return lines * form.stride(operand) * BITS[getattr(form.matrix, operand)] // 8


def in_memory(form: WmmaForm, operand: str, matrix: Array) -> Array:
    """Return the bytes of the matrix, its lines `stride` elements apart."""
    kind = getattr(form.matrix, operand)
    lines = codes(kind, matrix if form.layout(operand) == "row" else matrix.T)
    if BITS[kind] < 8:
        places = np.arange(BITS[kind], dtype=np.uint64)
        bits = (lines[..., None] >> places & np.uint64(1)).astype(np.uint8)
        return np.packbits(bits.reshape(-1), bitorder="little")
    whole = np.full((lines.shape[0], form.stride(operand)), 0x7F, np.uint64)
    whole[:, : lines.shape[1]] = lines
    return whole.astype(f"u{BITS[kind] // 8}").reshape(-1).view(np.uint8)


def from_memory(form: WmmaForm, stored: Array) -> Array:
    kind = form.matrix.d
    rows, columns = form.shape("d")
    lines = stored.view(DTYPES[kind]).reshape(-1, form.stride("d"))
    matrix = lines[:, :columns] if form.layout("d") == "row" else lines[:, :rows].T
    return np.asarray(matrix.astype(np.float64 if form.matrix.is_float else np.int64))


def arrays_of(form: WmmaForm) -> dict[str, Array]:
    matrices = operands(form.matrix)
    empty = np.zeros(stored_bytes(form, "d"), np.uint8)
    return {"d": empty} | {operand: in_memory(form, operand, matrices[operand]) for operand in "abc"}


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.id)
def test_a_product_of_fragments_is_that_of_numpy(harness: Served, tmp_path: Path, form: WmmaForm) -> None:
    stored = run_kernel(harness, tmp_path, kernel_text(form), "k", arrays_of(form), outputs=["d"])["d"]
    got, matrices = from_memory(form, stored), operands(form.matrix)
    if form.matrix.is_float:
        assert (np.abs(got - expected(form.matrix, **matrices)) <= bound(form.matrix, **matrices)).all()
    else:
        np.testing.assert_array_equal(got, expected(form.matrix, **matrices))


def test_both_instruction_sets_give_the_same_bits(harness: Served, tmp_path: Path) -> None:
    texts, arrays = kernel_text(PLAIN), arrays_of(PLAIN)
    baseline, newer = (
        run_kernel(harness, tmp_path, texts, "k", arrays, outputs=["d"], isa=isa)["d"]
        for isa in ("x86-64", "x86-64-v3")
    )
    np.testing.assert_array_equal(baseline, newer)


def test_a_tile_that_ends_outside_the_array_is_a_fault(harness: Served, tmp_path: Path) -> None:
    arrays = arrays_of(PLAIN)
    arrays["b"] = arrays["b"][:-2].copy()
    answer = answer_of(harness, tmp_path, kernel_text(PLAIN), "k", arrays, outputs=["d"])
    assert (answer["fault"]["kind"], answer["fault"]["buffer"]) == ("illegal_address", "b")


def test_a_stride_that_is_no_multiple_of_16_bytes_is_a_fault(harness: Served, tmp_path: Path) -> None:
    form = replace(PLAIN, padding=3)
    answer = answer_of(harness, tmp_path, kernel_text(form), "k", arrays_of(form), outputs=["d"])
    assert answer["fault"]["kind"] == "misaligned"


def test_storing_to_an_input_is_a_fault(harness: Served, tmp_path: Path) -> None:
    answer = answer_of(harness, tmp_path, kernel_text(PLAIN), "k", arrays_of(PLAIN))
    assert answer["fault"]["kind"] == "write_to_input"
