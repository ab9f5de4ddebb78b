"""cvt to and from pairs of 8-bit floats: every code, and the numbers around and between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from operand_values import edges, padded, random_values
from ptx_runner import Array, Form

CODES = np.arange(256, dtype=np.uint8)
NAN_F16, NAN_FP8 = 0x7FFF, 0x7F


@dataclass(frozen=True)
class Eight:
    """An 8-bit float: its name in PTX, its NumPy dtype, and the largest number it holds."""

    name: str
    dtype: type
    largest: float

    @property
    def numbers(self) -> Array:
        """The values of all codes, as float32."""
        return CODES.view(self.dtype).astype(np.float32)

    def encode(self, floats: Array) -> Array:
        """Return the codes: rounded to nearest, cut off at the largest number, NaN always the same."""
        numbers = np.where(np.isnan(floats), floats.dtype.type(0), floats).astype(np.float32)
        codes = np.clip(numbers, -self.largest, self.largest).astype(self.dtype).view(np.uint8)
        return np.where(np.isnan(floats), np.uint8(NAN_FP8), codes)

    def to_f16(self, codes: Array) -> Array:
        numbers = codes.astype(np.uint8).view(self.dtype).astype(np.float16)
        return np.where(np.isnan(numbers), np.uint16(NAN_F16), numbers.view(np.uint16))


EIGHTS = (Eight("e4m3x2", ml_dtypes.float8_e4m3fn, 448.0), Eight("e5m2x2", ml_dtypes.float8_e5m2, 57344.0))


def pairs(of_each: Callable[[Array], Array], bits: int, relu: bool) -> Callable[..., Array]:
    """Return the pairs, each half `bits` wide, of the upper and the lower operands."""

    def positive(codes: Array) -> Array:
        return np.where(codes >> (bits - 1) == 1, codes.dtype.type(0), codes) if relu else codes

    def paired(upper: Array, lower: Array) -> Array:
        wide = np.uint16 if bits == 8 else np.uint32
        return positive(of_each(upper)).astype(wide) << bits | positive(of_each(lower))

    return paired


def near(eight: Eight) -> Array:
    """Return float32 values: those of all codes, the middles between them, and the next ones to both."""
    # Which of both zeros is left depends on how the processor sorts.
    numbers = np.unique(eight.numbers[np.isfinite(eight.numbers)])
    numbers[numbers == 0] = -0.0
    # The largest number's neighbour, were there one, and the middle between them.
    beyond = (2 * numbers[-1] - numbers[-2], 1.5 * numbers[-1] - 0.5 * numbers[-2])
    middles = (numbers[1:] + numbers[:-1]) / 2
    places = np.concatenate([-numbers, numbers, middles, beyond, np.negative(beyond)])
    infinity = np.float32(np.inf)
    around = [places, np.nextafter(places, infinity), np.nextafter(places, -infinity)]
    return np.concatenate([each.astype(np.float32) for each in around])


def _of_floats(eight: Eight, relu: str) -> Form:
    random = random_values("f32", 400, np.random.default_rng(3))
    lower = np.concatenate([near(eight), edges("f32"), random])
    expected = pairs(eight.encode, 8, bool(relu))
    return Form(
        f"cvt.rn.satfinite{relu}.{eight.name}.f32",
        ("u16",),
        ("f32", "f32"),
        expected,
        padded([np.roll(lower, 11), lower]),
    )


def halves(words: Array) -> tuple[Array, Array]:
    """Return the f16 values of both halves, the upper ones first."""
    upper, lower = ((words >> shift & 0xFFFF).astype(np.uint16).view(np.float16) for shift in (16, 0))
    return upper, lower


def _of_halves(eight: Eight, relu: str) -> Form:
    every = np.arange(1 << 16, dtype=np.uint32)
    words = every | np.roll(every, 12345) << 16

    def expected(both: Array) -> Array:
        return pairs(eight.encode, 8, bool(relu))(*halves(both))

    name = f"cvt.rn.satfinite{relu}.{eight.name}.f16x2"
    return Form(name, ("u16",), ("f16x2",), expected, (words,))


def _to_halves(eight: Eight, relu: str) -> Form:
    every = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)

    def expected(both: Array) -> Array:
        return pairs(eight.to_f16, 16, bool(relu))(both >> 8, both & 0xFF)

    return Form(f"cvt.rn{relu}.f16x2.{eight.name}", ("f16x2",), ("u16",), expected, (every,))


FORMS = [
    make(eight, relu)
    for make in (_of_floats, _of_halves, _to_halves)
    for eight in EIGHTS
    for relu in ("", ".relu")
]
