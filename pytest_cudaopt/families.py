"""Families of values: what the arrays of a case hold instead of an ordinary draw.

Ordinary draws look alike: no ties, no zeros, all of one magnitude. Kernels that sniff their inputs, or are
right for bell curves only, pass on them. Data alone; `value_families` makes the arrays.
"""

from __future__ import annotations

from enum import StrEnum

from pytest_cudaopt.properties import Property


class Family(StrEnum):
    """How the values of a draw are chosen; each tests one property."""

    # In the bounds of what the generator gives.
    CONSTANT = "constant"
    ENDS = "ends"
    SORTED = "sorted"
    DESCENDING = "descending"
    DUPLICATES = "duplicates"
    CLUSTERED = "clustered"
    SPARSE = "sparse"
    CANCELLING = "cancelling"
    # Of other sizes than numbers usually have.
    TINY = "tiny"
    # Evenly from -16 to 16, where functions bend: approximations are worst between usual numbers and large.
    SWEEP = "sweep"
    # Each row of a scale of its own, up to a thousand.
    MODERATE = "moderate"
    HUGE = "huge"
    LEAST = "least"
    MIXED = "mixed"
    # One array of large numbers, the others of small ones.
    CONTRAST = "contrast"
    # Around a number far from zero, beside which their differences are small.
    OFFSET = "offset"
    # A usual beginning, an extreme end.
    SUFFIX = "suffix"
    SMALL_INTEGERS = "small_integers"
    NAN = "nan"
    INFINITE = "infinite"
    NEGATIVE_INFINITE = "negative_infinite"
    # The ends of rows, as in a causal mask.
    MASKED = "masked"
    INFINITE_BESIDE_ZEROS = "infinite_beside_zeros"
    SIGNED_ZEROS = "signed_zeros"
    SUBNORMAL = "subnormal"
    # Numbers outside the bounds of `uniform`, and others than a callable gives.
    BELOW = "below"
    BEYOND = "beyond"
    VARIED = "varied"
    # Segments without elements where the generator gives none.
    EMPTY_SEGMENTS = "empty_segments"
    # Integers that no declared draw gives, and places counted from the end.
    WIDE = "wide"
    UPPER = "upper"
    LIMITS = "limits"
    NEGATIVE = "negative"

    @property
    def property(self) -> Property:
        """What a kernel that is right on it has."""
        return _PROPERTY.get(self, Property.STRUCTURED_VALUES)


_PROPERTY = {
    Family.TINY: Property.MAGNITUDES,
    Family.SWEEP: Property.MAGNITUDES,
    Family.MODERATE: Property.MAGNITUDES,
    Family.HUGE: Property.MAGNITUDES,
    Family.LEAST: Property.MAGNITUDES,
    Family.MIXED: Property.MAGNITUDES,
    Family.CONTRAST: Property.MAGNITUDES,
    Family.OFFSET: Property.MAGNITUDES,
    Family.SUFFIX: Property.MAGNITUDES,
    Family.SMALL_INTEGERS: Property.EXACT_INTEGERS,
    Family.NAN: Property.NON_FINITE,
    Family.INFINITE: Property.NON_FINITE,
    Family.NEGATIVE_INFINITE: Property.NON_FINITE,
    Family.MASKED: Property.NON_FINITE,
    Family.INFINITE_BESIDE_ZEROS: Property.NON_FINITE,
    Family.BELOW: Property.OTHER_VALUES,
    Family.BEYOND: Property.OTHER_VALUES,
    Family.EMPTY_SEGMENTS: Property.OTHER_VALUES,
    Family.VARIED: Property.OTHER_VALUES,
    Family.SIGNED_ZEROS: Property.SIGNED_ZEROS,
    Family.SUBNORMAL: Property.SUBNORMALS,
    Family.WIDE: Property.INTEGER_RANGE,
    Family.UPPER: Property.INTEGER_RANGE,
    Family.LIMITS: Property.INTEGER_RANGE,
    Family.NEGATIVE: Property.INTEGER_RANGE,
}

# What the other arrays are where one is of that family: what it is multiplied with.
BESIDE = {Family.INFINITE_BESIDE_ZEROS: Family.SPARSE, Family.CONTRAST: Family.TINY}
