"""Digests of what an H200 gave for `mma.sync`, kept in `golden/tensor_cores.json`.

{"device", "digests": {case: {"inputs": sha256, "output": sha256}}}: the registers of A, B and C, and of D.
The device loaded the PTX of `matrix_forms.kernel_text` through the driver API.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matrix_forms import (
    FORMS,
    STYLES,
    Array,
    MatrixForm,
    extreme_operands,
    kernel_text,
    operands,
    to_registers,
)

__all__ = ["arrays_of", "case_name", "golden", "golden_cases", "kernel_text", "matrices_of"]

FILE = Path(__file__).parent / "golden" / "tensor_cores.json"


def golden_cases() -> Iterator[tuple[MatrixForm, str]]:
    """Yield every form with every way its operands are drawn."""
    for form in FORMS:
        yield from ((form, style) for style in ("normal", *(("special", *STYLES) if form.is_float else ())))


def case_name(form: MatrixForm, style: str) -> str:
    return f"{form.name} {style}"


def matrices_of(form: MatrixForm, style: str) -> dict[str, Array]:
    return extreme_operands(form, style) if style in STYLES else operands(form, style == "special")


def arrays_of(form: MatrixForm, matrices: dict[str, Array]) -> dict[str, Array]:
    """Return the registers of A, B and C, and room for those of D, which comes first."""
    registers = {operand: to_registers(form, operand, matrices[operand]) for operand in "abc"}
    empty = np.zeros((form.registers("d"), 32), np.uint64 if form.d == "f64" else np.uint32)
    return {"d": empty} | registers


def inputs_sha256(arrays: dict[str, Array]) -> str:
    return hashlib.sha256(b"".join(arrays[operand].tobytes() for operand in "abc")).hexdigest()


def sha256(array: Array) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def golden() -> dict[str, dict[str, str]]:
    """Return the digests by case."""
    digests: dict[str, dict[str, str]] = json.loads(FILE.read_text())["digests"]
    return digests
