"""What GPUs from compute capability 10.0 on add to f32: pairs, operands of 16 bits, extremes of three."""

from __future__ import annotations

from collections.abc import Callable

import exact_floats as exact
import numpy as np
from exact_floats import Mode, Number
from forms_float import FORMATS, MODES, extreme, finish, inputs_for, rounded, sums
from forms_warp import LANES, per_warp
from operand_values import mixtures, random_values
from ptx_runner import KINDS, Array, Form

BLACKWELL = 100


def in_pairs(of_each: Callable[..., Array]) -> Callable[..., Array]:
    """Apply a function of f32 arrays to both halves of u64 arrays."""

    def apply(*pairs: Array) -> Array:
        low, high = (
            of_each(*((pair >> np.uint64(shift)).astype(np.uint32).view(np.float32) for pair in pairs))
            for shift in (0, 32)
        )
        return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)

    return apply


def paired(operands: tuple[Array, ...]) -> tuple[Array, ...]:
    """Join each operand with another of its column."""
    words = [operand.view(np.uint32).astype(np.uint64) for operand in operands]
    return tuple(word | np.roll(word, 5 + 2 * i) << np.uint64(32) for i, word in enumerate(words))


def _pairs() -> list[Form]:
    forms = []
    for mode in MODES:
        for name, (count, operation) in sums(mode).items():
            for suffix in ("", ".ftz"):
                expected = in_pairs(rounded("f32", operation, mode, suffix))
                inputs = paired(inputs_for("f32", count))
                full = f"{name}.{mode}{suffix}.f32x2"
                forms.append(Form(full, ("u64",), ("u64",) * count, expected, inputs, target=BLACKWELL))
    return forms


def widened(
    half: str, operation: Callable[..., Number], mode: Mode, suffix: str, halves: int
) -> Callable[..., Array]:
    """Decode the first `halves` operands as 16-bit floats and the last as f32; round once to f32."""

    def one(*bits: int) -> int:
        formats = [FORMATS[half]] * halves + [exact.F32]
        numbers = [form.decode(b) for form, b in zip(formats, bits, strict=True)]
        return finish(exact.F32.encode(operation(*numbers), mode), exact.F32, suffix)

    def apply(*arrays: Array) -> Array:
        columns = [array.view(f"u{array.itemsize}").tolist() for array in arrays]
        return np.array([one(*row) for row in zip(*columns, strict=True)], dtype=np.uint32)

    return apply


def _mixed() -> list[Form]:
    forms = []
    for half in ("f16", "bf16"):
        for mode in (*MODES, ""):
            for name, (count, operation) in sums(mode or "rn").items():
                if name == "mul":
                    continue
                for suffix in ("", ".sat"):
                    expected = widened(half, operation, mode or "rn", suffix, count - 1)
                    sources = (*(half,) * (count - 1), "f32")
                    full = f"{name}{f'.{mode}' if mode else ''}{suffix}.f32.{half}"
                    forms.append(
                        Form(full, ("f32",), sources, expected, mixtures(*sources), target=BLACKWELL)
                    )
    # A fused product names its rounding.
    return [form for form in forms if not form.name.startswith(("fma.f32", "fma.sat"))]


def _of_three() -> list[Form]:
    forms = []
    for name in ("min", "max"):
        for suffix in ("", ".ftz", ".NaN", ".abs", ".ftz.NaN.abs"):
            of_two = extreme(name == "max", suffix)

            def of_three(
                x: Number, y: Number, z: Number, f: Callable[..., Number] = of_two, s: str = suffix
            ) -> Number:
                read = [exact.absolute(each) if ".abs" in s else each for each in (x, y, z)]
                return f(f(read[0], read[1]), read[2])

            expected = rounded("f32", of_three, "rn", suffix)
            forms.append(
                Form(
                    f"{name}{suffix}.f32",
                    ("f32",),
                    ("f32",) * 3,
                    expected,
                    mixtures("f32", "f32", "f32"),
                    label="of three",
                    target=BLACKWELL,
                )
            )
    return forms


def _reductions() -> list[Form]:
    """redux.sync of f32: numbers win over NaN, unless .NaN."""
    values = random_values("f32", 32 * LANES, np.random.default_rng(9))
    values[:: LANES + 1] = np.float32("nan")
    values[:LANES] = np.float32("nan")
    values[LANES : 2 * LANES : 2] = np.float32(-0.0)
    values[LANES + 1 : 2 * LANES : 2] = np.float32(0.0)
    forms = []
    for name in ("min", "max"):
        for suffix in ("", ".abs", ".NaN", ".abs.NaN"):
            of_two = extreme(name == "max", suffix.replace(".abs", ""))

            def total(lanes: Array, f: Callable[..., Number] = of_two, s: str = suffix) -> Array:
                numbers = [exact.F32.decode(int(bits)) for bits in lanes.view(np.uint32)]
                read = [exact.absolute(number) if ".abs" in s else number for number in numbers]
                result = read[0]
                for number in read[1:]:
                    result = f(result, number)
                return np.full(LANES, exact.F32.encode(result), dtype=KINDS["f32"].unsigned)

            forms.append(
                Form(
                    f"redux.sync.{name}{suffix}.f32",
                    ("f32",),
                    ("f32",),
                    per_warp(total),
                    (values,),
                    "{d}, {a}, 0xffffffff",
                    guarded=False,
                    target=BLACKWELL,
                )
            )
    return forms


FORMS = [*_pairs(), *_mixed(), *_of_three(), *_reductions()]
