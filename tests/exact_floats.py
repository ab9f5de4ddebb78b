"""IEEE arithmetic on Python integers: one correct rounding of the exact result, in any direction.

An oracle for instructions: it shares nothing with the float hardware the simulator runs on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Mode = Literal["rn", "rz", "rm", "rp", "rna"]


@dataclass(frozen=True)
class Number:
    """`(-1)**negative * significand * 2**exponent`, or infinity or NaN.

    The NaN of an operand has its fraction in `significand` and the fraction's width in `exponent`.
    """

    negative: bool
    significand: int = 0
    exponent: int = 0
    special: Literal["", "inf", "nan"] = ""

    @property
    def is_zero(self) -> bool:
        return not self.special and self.significand == 0


NAN = Number(False, special="nan")


def infinity(negative: bool) -> Number:
    return Number(negative, special="inf")


def integer(value: int) -> Number:
    return Number(value < 0, abs(value))


@dataclass(frozen=True)
class Format:
    """A binary interchange format (or one cut short, as tf32) and the NaN its results have."""

    bits: int
    precision: int
    max_exponent: int
    nan: int

    @property
    def min_exponent(self) -> int:
        return 1 - self.max_exponent

    @property
    def fraction_bits(self) -> int:
        return self.precision - 1

    def decode(self, bits: int) -> Number:
        negative = bool(bits >> (self.bits - 1))
        field = (bits >> self.fraction_bits) & (2 * self.max_exponent + 1)
        fraction = bits & ((1 << self.fraction_bits) - 1)
        if field == 2 * self.max_exponent + 1:
            return Number(negative, fraction, self.fraction_bits, "nan") if fraction else infinity(negative)
        significand = fraction | (1 << self.fraction_bits if field else 0)
        return Number(negative, significand, max(field, 1) - self.max_exponent - self.fraction_bits)

    def encode(self, number: Number, mode: Mode = "rn", keep_nan: bool = False) -> int:
        """Return the rounded bits; `keep_nan` gives an operand's NaN, quiet, instead of the usual one."""
        if number.special == "nan":
            return self._keep(number) if keep_nan and number.exponent else self.nan
        sign = int(number.negative) << (self.bits - 1)
        infinite = (2 * self.max_exponent + 1) << self.fraction_bits
        if number.special == "inf":
            return sign | infinite
        units, ulp_exponent = self._round(number, mode)
        if units == 0:
            return sign
        if units.bit_length() > self.precision:
            units, ulp_exponent = units >> 1, ulp_exponent + 1
        exponent = ulp_exponent + self.fraction_bits
        if exponent > self.max_exponent:
            finite = (
                mode == "rz" or (mode == "rm" and not number.negative) or (mode == "rp" and number.negative)
            )
            return sign | (infinite - 1 if finite else infinite)
        field = exponent + self.max_exponent if units >> self.fraction_bits else 0
        return sign | field << self.fraction_bits | units & ((1 << self.fraction_bits) - 1)

    def is_tiny(self, number: Number, mode: Mode) -> bool:
        """Return whether it is below the normal numbers even if rounded to full precision there."""
        if number.special or number.is_zero:
            return False
        units, ulp_exponent = self._round(number, mode, subnormals=False)
        return units.bit_length() - 1 + ulp_exponent < self.min_exponent

    def _keep(self, nan: Number) -> int:
        shift = self.fraction_bits - nan.exponent
        fraction = nan.significand << shift if shift >= 0 else nan.significand >> -shift
        exponent = (2 * self.max_exponent + 1) << self.fraction_bits
        return int(nan.negative) << (self.bits - 1) | exponent | fraction | 1 << (self.fraction_bits - 1)

    def _round(self, number: Number, mode: Mode, subnormals: bool = True) -> tuple[int, int]:
        """Return the magnitude in units of the last place, and that place."""
        if number.significand == 0:
            return 0, 0
        exponent = number.exponent + number.significand.bit_length() - 1
        ulp_exponent = (max(exponent, self.min_exponent) if subnormals else exponent) - self.fraction_bits
        shift = ulp_exponent - number.exponent
        if shift <= 0:
            return number.significand << -shift, ulp_exponent
        units, rest = divmod(number.significand, 1 << shift)
        half = 1 << (shift - 1)
        up = {
            "rn": rest > half or (rest == half and units & 1 == 1),
            "rna": rest >= half,
            "rz": False,
            "rm": rest > 0 and number.negative,
            "rp": rest > 0 and not number.negative,
        }[mode]
        return units + up, ulp_exponent


F16 = Format(16, 11, 15, 0x7FFF)
BF16 = Format(16, 8, 127, 0x7FFF)
TF32 = Format(19, 11, 127, 0x3FFFF)
F32 = Format(32, 24, 127, 0x7FFFFFFF)
F64 = Format(64, 53, 1023, 0xFFF8000000000000)


def first_nan(*operands: Number) -> Number | None:
    return next((x for x in operands if x.special == "nan"), None)


def negate(x: Number) -> Number:
    return x if x.special == "nan" else Number(not x.negative, x.significand, x.exponent, x.special)


def absolute(x: Number) -> Number:
    return x if x.special == "nan" else Number(False, x.significand, x.exponent, x.special)


def add(x: Number, y: Number, mode: Mode = "rn") -> Number:
    """Return the exact sum; `mode` decides only the sign of an exact zero."""
    if nan := first_nan(y, x):
        return nan
    if x.special and y.special:
        return x if x.negative == y.negative else NAN
    if x.special or y.special:
        return x if x.special else y
    exponent = min(x.exponent, y.exponent)
    total = sum(
        (-1 if each.negative else 1) * (each.significand << (each.exponent - exponent)) for each in (x, y)
    )
    if total == 0:
        return Number(x.negative if x.negative == y.negative else mode == "rm")
    return Number(total < 0, abs(total), exponent)


def multiply(x: Number, y: Number) -> Number:
    negative = x.negative != y.negative
    if nan := first_nan(y, x):
        return nan
    if x.special or y.special:
        return NAN if x.is_zero or y.is_zero else infinity(negative)
    return Number(negative, x.significand * y.significand, x.exponent + y.exponent)


def fused(x: Number, y: Number, z: Number, mode: Mode = "rn") -> Number:
    return first_nan(y, z, x) or add(multiply(x, y), z, mode)


def divide(x: Number, y: Number) -> Number:
    """Return the quotient to 200 bits with a sticky last one."""
    negative = x.negative != y.negative
    if nan := first_nan(x, y):
        return nan
    if (x.special and y.special) or (x.is_zero and y.is_zero):
        return NAN
    if x.special or y.is_zero:
        return infinity(negative)
    if y.special or x.is_zero:
        return Number(negative)
    quotient, rest = divmod(x.significand << 200, y.significand)
    return Number(negative, quotient << 1 | (rest != 0), x.exponent - y.exponent - 201)


def square_root(x: Number) -> Number:
    """Return the root to 200 bits with a sticky last one."""
    if x.special == "nan" or x.is_zero:
        return x
    if x.negative:
        return NAN
    if x.special:
        return x
    shift = 400 + (x.exponent & 1)
    scaled = x.significand << shift
    root = math.isqrt(scaled)
    return Number(False, root << 1 | (root * root != scaled), (x.exponent - shift) // 2 - 1)


def to_integer(x: Number, mode: Mode) -> int:
    """Return the finite number rounded to an integer."""
    sign = -1 if x.negative else 1
    if x.exponent >= 0:
        return sign * x.significand << x.exponent
    whole, rest = divmod(x.significand, 1 << -x.exponent)
    half = 1 << (-x.exponent - 1)
    up = {
        "rn": rest > half or (rest == half and whole & 1 == 1),
        "rna": rest >= half,
        "rz": False,
        "rm": rest > 0 and x.negative,
        "rp": rest > 0 and not x.negative,
    }[mode]
    return sign * (whole + up)


def less(x: Number, y: Number) -> bool:
    """Return x < y for numbers that are not NaN; -0 equals +0."""

    def key(each: Number) -> tuple[float, int]:
        if each.special:
            return (-math.inf if each.negative else math.inf, 0)
        scaled = each.significand << (each.exponent + 2000)
        return (0.0, -scaled if each.negative else scaled)

    return key(x) < key(y)
